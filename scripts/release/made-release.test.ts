import { beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Manifest } from './manifest.ts'
import { formatOf } from './testing/executable-format.ts'
import { MADE_VERSION, madeRelease } from './testing/made-release.ts'

/** What `npm run release` makes, looked at from outside. contract 19.1 */
const root = join(import.meta.dir, '../..')
let out = ''
let manifest: Manifest
beforeAll(() => {
  out = madeRelease()
  manifest = JSON.parse(readFileSync(join(out, 'release.json'), 'utf8'))
})

const run = (argv: string[], cwd = out) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(argv, { cwd, stdin: 'ignore' })
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
}

test('the executable is one of this platform, may be run by all and says its version', () => {
  const file = join(out, 'svc-linux-x64')
  expect(formatOf(file)).toEqual({ format: 'ELF', cpu: 'x64', isSigned: false })
  expect(statSync(file).mode & 0o777).toBe(0o755)
  expect(run([file, 'version'])).toMatchObject({ exitCode: 0, stdout: `svc ${MADE_VERSION}\n` })
})

test('it holds exactly the key that signs', () => {
  const { stdout } = run([join(out, 'svc-linux-x64'), 'version', '--json'])
  expect(JSON.parse(stdout)).toEqual({ version: MADE_VERSION, publicKey: manifest.publicKey })
  const pem = readFileSync(join(out, 'release-key.pem'), 'utf8').split('\n')[1] ?? ''
  expect(Buffer.from(pem, 'base64').subarray(-32).toString('base64')).toBe(manifest.publicKey)
})

test('other platforms, and what is made of them alone, are left out', () => {
  const names = readdirSync(out)
  expect(names.filter((name) => /darwin|windows|arm64/.test(name))).toEqual([])
  expect(names).toContain('svc-linux-x64')
  expect(readdirSync(join(out, 'npm'))).toHaveLength(2)
})

test('sums, signature and list agree', () => {
  expect(run(['sha256sum', '--check', '--quiet', '--strict', 'SHA256SUMS'])).toMatchObject({ exitCode: 0 })
  const folder = mkdtempSync(join(tmpdir(), 'svc-signature-'))
  const signature = join(folder, 'raw')
  writeFileSync(signature, Buffer.from(readFileSync(join(out, 'SHA256SUMS.sig'), 'utf8'), 'base64'))
  const flags = ['-verify', '-rawin', '-pubin', '-inkey', 'release-key.pem', '-sigfile', signature]
  expect(run(['openssl', 'pkeyutl', ...flags, '-in', 'SHA256SUMS']).exitCode).toBe(0)
  rmSync(folder, { recursive: true })
  expect(manifest).toMatchObject({ version: MADE_VERSION, notes: '' })
  expect(manifest.commit === null || /^[0-9a-f]{40}$/.test(manifest.commit)).toBe(true)
  expect(manifest.files.filter(({ platform }) => platform !== null).map(({ name }) => name)).toEqual([
    'svc-linux-x64',
  ])
})

describe('scripts/smoke.mjs, with Node alone', () => {
  const smoke = (...args: string[]) =>
    run([Bun.which('node') ?? '', join(root, 'scripts/smoke.mjs'), ...args])

  test('finds the executable well', () => {
    const { exitCode, stdout, stderr } = smoke(join(out, 'svc-linux-x64'))
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const steps = ['version', 'serve', 'set-up', 'key', 'publish', 'fetch', 'check', 'stop']
    expect(stdout).toBe(steps.map((step) => `ok: ${step}\n`).join(''))
  })

  test.each<[what: string, program: string, step: string, reason: string]>([
    ['no executable', '', 'version', 'EACCES'],
    ['another program', 'echo hello', 'version', 'it says \\"hello'],
    [
      'one that does not serve',
      '[ "$1" = version ] && echo svc 1 || { echo "no port" >&2; exit 3; }',
      'serve',
      'it ended with 3',
    ],
  ])('%s: names the step', (what, program, step, reason) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-smoke-test-'))
    const file = join(folder, 'svc')
    writeFileSync(file, program === '' ? '' : `#!/bin/sh\n${program}\n`, {
      mode: what === 'no executable' ? 0o644 : 0o755,
    })
    const { exitCode, stderr } = smoke(file)
    rmSync(folder, { recursive: true })
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`the step "${step}" failed`)
    expect(stderr).toContain(reason.replaceAll('\\"', '"'))
  })

  test('no argument', () => {
    expect(smoke()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('the step "version" failed'),
    })
  })
})

/** The command as it is typed; what it refuses is in prepare.test.ts and out-folder.test.ts. */
describe('npm run release refuses before it builds', () => {
  const release = (args: string[], env: Record<string, string> = {}) => {
    const argv = [process.execPath, join(root, 'scripts/release.ts'), ...args]
    const { exitCode, stderr } = Bun.spawnSync(argv, {
      cwd: root,
      env: { ...process.env, ...env },
      stderr: 'pipe',
    })
    return { exitCode, stderr: stderr.toString() }
  }

  test.each<[args: string[], env: Record<string, string>, exitCode: number, reason: string]>([
    [['--version', '1.2'], {}, 2, '"1.2" is no version'],
    [['--only', 'plan9-x64'], {}, 2, 'there is no platform "plan9-x64"'],
    [['--fast'], {}, 2, 'there is no flag --fast'],
    [['now'], {}, 2, 'it takes flags only'],
    [['--key', '/nowhere/key.pem'], {}, 1, '/nowhere/key.pem'],
    [[], { SVC_RELEASE_KEY: 'sesame' }, 1, 'SVC_RELEASE_KEY must be an Ed25519 private key'],
    [['--out', 'scripts'], {}, 1, 'is neither empty nor a release'],
    [['--out', 'package.json'], {}, 1, 'is no folder'],
    [['--out', 'package.json/release'], {}, 1, 'ENOTDIR'],
    [['--out', ''], {}, 1, 'is neither empty nor a release'],
  ])('%j', (args, env, exitCode, reason) => {
    const refused = release(args, env)
    expect(refused).toEqual({ exitCode, stderr: expect.stringContaining(reason) })
    expect(refused.stderr).not.toMatch(/built|sesame/)
  })

  test('release:index is wrong usage without a folder, and names one that is not there', () => {
    for (const [args, exitCode, reason] of [
      [[], 2, 'usage: npm run release:index'],
      [['/nowhere'], 1, '/nowhere cannot be read'],
    ] as const) {
      const argv = [process.execPath, join(root, 'scripts/release-index.ts'), ...args]
      const ended = Bun.spawnSync(argv, { cwd: root, stderr: 'pipe' })
      expect([ended.exitCode, ended.stderr.toString()]).toEqual([exitCode, expect.stringContaining(reason)])
    }
  })
})
