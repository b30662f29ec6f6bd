import { expect, test } from 'bun:test'
import { loggedPath } from './logged-path.ts'

/** contract §3: no token and no code that lets somebody in gets into a log. */

test.each([
  ['/api/invitations/tok_123', '/api/invitations/[token]'],
  ['/api/invitations/tok_123/accept', '/api/invitations/[token]/accept'],
  ['//API/%69nvitations//tok_123', '/api/invitations/[token]'],
  ['/api/auth/device/BCDF-GHJK', '/api/auth/device/[code]'],
  ['/api/auth/device/BCDF-GHJK/', '/api/auth/device/[code]/'],
  ['/api/auth//Device/BCDF%2DGHJK/more', '/api/auth/device/[code]/more'],
  ['/api/auth/%64evice/code-BCDF', '/api/auth/device/[code]'],
])('%s is logged as %s', (path, logged) => expect(loggedPath(path)).toBe(logged))

test.each([
  '/api/auth/device/code',
  '/api/auth/device/token/',
  '/api/auth/device/approve',
  '/api/auth/device',
  '/a%20b',
])('%s is logged as it is', (path) => expect(loggedPath(path)).toBe(path))
