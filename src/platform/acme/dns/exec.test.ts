import { afterAll, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../../testing/until.ts'
import { execProvider } from './exec.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-exec-'))
afterAll(() => rmSync(folder, { recursive: true }))

function program(name: string, lines: string, mode = 0o755): string {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\n${lines}\n`)
  chmodSync(path, mode)
  return path
}
const never = new AbortController().signal
const said = (path: string, signal = never, env: Record<string, string> = {}) =>
  execProvider({ path, env: { PATH: '/usr/bin:/bin', ...env } })
    .set('_acme-challenge.sites.test', 'v; touch x $(touch y)', signal)
    .then(
      () => null,
      (error) => String(error.message),
    )

test.each([
  ['a folder', () => folder, 'cannot be started'],
  ['one that nobody may run', () => program('plain', 'exit 0', 0o644), 'cannot be started'],
  ['one that is not there', () => join(folder, 'none'), 'cannot be started'],
  ['one that fails and says nothing', () => program('mute', 'exit 7'), 'ended with 7 (present)'],
  [
    'one that says a lot',
    () => program('loud', 'head -c 300000 /dev/zero | tr "\\0" x >&2; echo >&2; echo last >&2; exit 1'),
    'ended with 1: last (present)',
  ],
])('%s is named', async (_what, path, says) => {
  expect(await said(path())).toContain(says)
})

test('what it says is cut, and has no control characters', async () => {
  const path = program('long', `printf '\\033[31m' >&2; head -c 5000 /dev/zero | tr '\\0' x >&2; exit 1`)
  const message = (await said(path)) ?? ''
  expect(message.length).toBeLessThan(400)
  expect(message).not.toContain('\u001b')
})

test('a program that prints its environment shows no value of a secret', async () => {
  const path = program('env', 'echo "$DNS_API_TOKEN $HOME" >&2; exit 1')
  const env = { DNS_API_TOKEN: 'their-token-1234', HOME: '/home/x' }
  expect(await said(path, never, env)).toContain('ended with 1: (hidden) /home/x')
})

test('one that hangs ends with its order, and no shell reads the value', async () => {
  const path = program('hang', 'echo "$3" > "$0.got"; while :; do sleep 1; done')
  const order = new AbortController()
  const ended = said(path, order.signal)
  const got = () => (existsSync(`${path}.got`) ? readFileSync(`${path}.got`, 'utf8') : '')
  await until('the program to run', () => got() !== '')
  order.abort(new Error('The order has ended'))
  expect(await ended).toBe('The order has ended')
  expect(got()).toBe('v; touch x $(touch y)\n')
})
