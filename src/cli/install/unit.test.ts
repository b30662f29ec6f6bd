import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../config/config.ts'
import { isAsWritten, unitOf } from './unit.ts'

const DOCUMENT = readFileSync(join(import.meta.dir, '../../../docs/svc.service'), 'utf8')
const HTTPS = { TLS: 'auto', BASE_DOMAIN: 'sites.example.com' }

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-unit-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const unit = async (env: Record<string, string> = {}, writable: string[] = []): Promise<string> =>
  Buffer.from(await unitOf('1.2.3', loadConfig({ env }), writable)).toString()

test('is the documented one behind a line with its hash', async () => {
  const text = await unit()
  const hash = new Bun.CryptoHasher('sha256').update(DOCUMENT).digest('hex')
  expect(text).toBe(`# Written by svc install 1.2.3 sha256:${hash}\n${DOCUMENT}`)
  expect(isAsWritten(Buffer.from(text))).toBe(true)
})

const ports: [env: Record<string, string>, hasRight: boolean][] = [
  [{}, false],
  [{ PORT: '0' }, false],
  [{ PORT: '1024' }, false],
  [{ PORT: '1023' }, true],
  [HTTPS, true],
  [{ ...HTTPS, PORT: '8443' }, true],
  [{ ...HTTPS, PORT: '8443', HTTP_PORT: '8080' }, false],
  [{ HTTP_PORT: '80' }, false],
]
test.each(ports)('with %j it may listen below 1024: %p', async (env, hasRight) => {
  const rights = [...(await unit(env)).matchAll(/^(CapabilityBoundingSet|AmbientCapabilities)=(.*)$/gm)]
  expect(rights.map(([, , right]) => right)).toEqual(Array(2).fill(hasRight ? 'CAP_NET_BIND_SERVICE' : ''))
})

/** Debian's package `systemd` has it; npm test installs that. */
async function analyze(...args: string[]): Promise<{ exitCode: number; said: string }> {
  const child = Bun.spawn(['systemd-analyze', ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, LC_ALL: 'C' },
  })
  const said = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exitCode: await child.exited, said: said.join('\n') }
}

test.each([
  ['plain', {}, []],
  ['with HTTPS and backups', HTTPS, ['/backups', '/my "backups" \\ 50%']],
])('systemd reads it without a word, and rates it 2.0 at most: %s', async (_, env, writable) => {
  const path = join(folder, 'svc.service')
  // No executable is installed here.
  writeFileSync(path, (await unit(env, writable)).replace('/usr/local/bin/svc serve', '/bin/true'))
  const { said } = await analyze('verify', '--man=no', path)
  expect(said.split('\n').filter((line) => line.includes('svc.service'))).toEqual([])
  const security = await analyze('security', '--offline=true', '--no-pager', path)
  const [, exposure] = /exposure level for svc\.service: ([\d.]+)/.exec(security.said) ?? []
  expect(Number(exposure)).toBeLessThanOrEqual(2)
})
