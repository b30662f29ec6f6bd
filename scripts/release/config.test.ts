import { expect, test } from 'bun:test'
import { parseReleaseConfig } from './config.ts'
import { CONFIG, OTHER_NAMES } from './testing/sample-release.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')

test('what is in the project, other names and a key are read', () => {
  for (const config of [CONFIG, OTHER_NAMES, { ...OTHER_NAMES, publicKey: KEY }])
    expect(parseReleaseConfig(structuredClone(config))).toEqual(config)
})

test.each<[change: Record<string, unknown>, reason: string]>([
  [{ npm: null }, 'npm must be an object with package, scope'],
  [{ npm: { package: 'Svc', scope: '@svc' } }, 'npm.package must be'],
  [{ npm: { package: 'svc', scope: 'svc' } }, 'npm.scope must be'],
  [{ npm: { package: 'svc', scope: '@svc', tag: 'next' } }, 'so not "tag"'],
  [{ actions: { upload: 'svc/upload' } }, 'actions.rules must be'],
  [{ actions: { upload: '../upload', rules: 'a/b' } }, 'actions.upload must be'],
  [{ image: 'svc:1' }, 'image must be'],
  [{ image: 'svc latest' }, 'image must be'],
  [{ deb: 's' }, 'deb must be'],
  [{ deb: '../svc' }, 'deb must be'],
  [{ index: 'http://svc.example/index.json' }, 'index must be an address that begins with https://'],
  [{ index: 1 }, 'index must be'],
  [{ publicKey: '' }, 'publicKey must be'],
  [{ publicKey: KEY.slice(4) }, 'publicKey must be'],
  [{ publicKey: KEY.replace('=', '') }, 'publicKey must be'],
  [{ publicKeys: [] }, 'so not "publicKeys"'],
])('%j is refused, naming the entry', (change, reason) => {
  expect(() => parseReleaseConfig({ ...CONFIG, ...change })).toThrow(reason)
})

test.each([[null], [[]], ['svc']])('%j as the whole is refused', (read) => {
  expect(() => parseReleaseConfig(read)).toThrow('release.config.json: it must be an object')
})
