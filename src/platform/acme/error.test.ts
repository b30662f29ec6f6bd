import { expect, test } from 'bun:test'
import { AcmeError, problemError } from './error.ts'

const said = [
  ['\u001b[31mred\u001b[0m\r\nlevel=error', '[31mred [0m level=error'],
  ['a\u202eb\u0000c', 'a b c'],
  ['x'.repeat(600), `${'x'.repeat(500)}…`],
] as const

test.each(said)('a text of the authority becomes one line, wherever it came from: %p', (text, line) => {
  const about = { status: 403, retryAfterMs: null }
  expect(problemError({ type: 'urn:ietf:params:acme:error:caa', detail: text }, about).message).toBe(line)
  expect(new AcmeError(text).message).toBe(line)
})
