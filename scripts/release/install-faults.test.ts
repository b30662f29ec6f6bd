import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeInstallScript } from './install-script.ts'
import { makeManifest } from './manifest.ts'
import { makeSums } from './sums.ts'
import { type InstallHome, installHome, TOOLS } from './testing/install-run.ts'
import {
  type Answer,
  endsInTheMiddle,
  endsUnseen,
  redirectsTo,
  startReleaseServer,
} from './testing/release-server.ts'
import { type SampleRelease, sampleRelease } from './testing/sample-release.ts'

/** Bad releases, bad servers and machines that lack something: exit 1, and nothing is left. contract 19.2 */
const NAME = `svc-linux-${process.arch}`

let release: SampleRelease
let other: SampleRelease
let script = ''
beforeAll(async () => {
  release = sampleRelease({}, '#!/bin/sh\necho svc 1.2.3\n')
  other = sampleRelease({ version: '1.2.4', key: release.key }, '#!/bin/sh\necho svc 1.2.4\n')
  // Each platform has bytes of its own.
  for (const { out } of [release, other]) writeFileSync(join(out, 'svc-darwin-x64'), `of ${out}`)
  for (const made of [release, other])
    for (const make of [makeInstallScript, makeManifest, makeSums]) await make(made)
  script = join(release.out, 'install.sh')
})
afterAll(() => {
  release.remove()
  other.remove()
})

let machine: InstallHome
let dir = ''
let bad = ''
beforeEach(() => {
  machine = installHome(script)
  dir = join(machine.home, 'bin')
  bad = join(machine.home, 'release')
  cpSync(release.out, bad, { recursive: true })
})
afterEach(() => machine.remove())

async function expectRefused(from: string, reason: RegExp, more: { args?: string[]; path?: string } = {}) {
  const ended = await machine.run('dash', ['--dir', dir, '--from', from, ...(more.args ?? [])], {
    ...(more.path === undefined ? {} : { PATH: more.path }),
  })
  expect(ended).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(reason) })
  expect(existsSync(dir)).toBe(false)
  expect(machine.left()).toEqual([])
}

const changeByte = (bytes: Buffer) => {
  const changed = Buffer.from(bytes)
  changed.writeUInt8(changed.readUInt8(10) ^ 1, 10)
  return changed
}
const CHANGES: Readonly<Record<string, (bytes: Buffer, file: string) => Buffer>> = {
  'changed by a byte': changeByte,
  cut: (bytes) => bytes.subarray(0, -3),
  empty: () => Buffer.alloc(0),
  'that of another version': (_bytes, file) => readFileSync(join(other.out, file)),
}

describe.each(['SHA256SUMS', 'SHA256SUMS.sig', 'release.json', NAME])('%s', (file) => {
  test.each(Object.keys(CHANGES))('%s', async (change) => {
    const at = join(bad, file)
    writeFileSync(at, CHANGES[change]?.(readFileSync(at), file) ?? '')
    await expectRefused(bad, new RegExp(file.replace('.sig', '')))
  })

  test('missing', async () => {
    rmSync(join(bad, file))
    await expectRefused(bad, new RegExp(`${file} could not be read`))
  })
})

test('the executable of another platform is refused', async () => {
  cpSync(join(bad, 'svc-darwin-x64'), join(bad, NAME))
  await expectRefused(bad, /it was changed or cut/)
})

test('a release that is signed with another key is refused', async () => {
  const { remove, ...foreign } = sampleRelease()
  for (const make of [makeManifest, makeSums]) await make(foreign)
  await expectRefused(foreign.out, /the signature of .* is wrong/)
  remove()
})

describe('--insecure-skip-signature', () => {
  const args = ['--insecure-skip-signature']

  test('needs no openssl, says what it skips, and still compares the sums', async () => {
    const path = machine.path([...TOOLS, 'sha256sum'])
    writeFileSync(join(bad, 'SHA256SUMS.sig'), '')
    const ended = await machine.run('dash', ['--dir', dir, '--from', bad, ...args], { PATH: path })
    expect(ended).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('the signature was not looked at'),
    })
    expect(existsSync(join(dir, 'svc'))).toBe(true)
    rmSync(dir, { recursive: true })
    writeFileSync(join(bad, NAME), 'something else')
    await expectRefused(bad, /it was changed or cut/, { args })
  })

  test('an empty list is still refused', async () => {
    writeFileSync(join(bad, 'SHA256SUMS'), '')
    await expectRefused(bad, /SHA256SUMS is empty/, { args })
  })
})

describe('openssl', () => {
  const LIBRESSL = 'case $1 in version) echo "LibreSSL 3.3.6";; *) exit 1;; esac'
  test.each<[what: string, scripts: Record<string, string>]>([
    ['that is missing', {}],
    ['that is LibreSSL', { openssl: LIBRESSL }],
  ])('%s: says what to install and which flag there is', async (_what, scripts) => {
    const path = machine.path([...TOOLS, 'sha256sum'], scripts)
    await expectRefused(bad, /LibreSSL[\s\S]*apt install openssl[\s\S]*--insecure-skip-signature/, { path })
  })
})

test('neither sha256sum, shasum nor openssl', async () => {
  await expectRefused(bad, /none of sha256sum, shasum and openssl/, { path: machine.path(TOOLS) })
})

describe('addresses', () => {
  test.each([
    'http://svc.example/1.2.3',
    'http://localhost.svc.example/1.2.3',
    'http://127.0.0.1@svc.example/1.2.3',
    'http://localhost:80@svc.example/1.2.3',
    'http://127.0.0.1.svc.example',
    'ftp://127.0.0.1/1.2.3',
    'file:///tmp/1.2.3',
  ])('%s is not asked', (from) => expectRefused(from, /is not reached by https/))

  test('a folder that is not there is named', () =>
    expectRefused('/nowhere/1.2.3', /there is no folder \/nowhere\/1.2.3/))

  test('neither curl nor wget', () =>
    expectRefused('http://127.0.0.1:9', /neither curl nor wget/, {
      path: machine.path([...TOOLS, 'sha256sum', 'openssl']),
    }))

  test('a server that is not there', () =>
    expectRefused('http://127.0.0.1:9', /SHA256SUMS could not be read/))
})

const ANSWERS: [what: string, answer: Answer, reason: RegExp][] = [
  ['ends in the middle', endsInTheMiddle, /could not be read/],
  ['ends in the middle and cannot be seen to', endsUnseen, /wrong|changed or cut/],
  ['redirects to http', redirectsTo('http://127.0.0.1:9/elsewhere'), /could not be read/],
]
describe.each(['curl', 'wget'])('by %s', (program) => {
  test.each(ANSWERS)('a server that %s', async (_what, answer, reason) => {
    const path = machine.path([...TOOLS, 'sha256sum', 'openssl', program])
    for (const file of ['SHA256SUMS', NAME]) {
      const server = await startReleaseServer(bad, { [file]: answer })
      await expectRefused(server.url, reason, { path })
      server.stop()
    }
  })
})

test('what cannot be written leaves what was there', async () => {
  mkdirSync(dir)
  writeFileSync(join(dir, 'svc'), 'before')
  const path = machine.path(TOOLS.filter((tool) => tool !== 'cp').concat('sha256sum', 'openssl'), {
    cp: 'for to; do :; done; echo half > "$to"; echo "No space left on device" >&2; exit 1',
  })
  const { code, stderr } = await machine.run('dash', ['--dir', dir, '--from', bad], { PATH: path })
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`${dir}/svc cannot be written; nothing was changed`),
  ])
  expect(readFileSync(join(dir, 'svc'), 'utf8')).toBe('before')
  expect(await Array.fromAsync(new Bun.Glob('*').scan({ cwd: dir, dot: true }))).toEqual(['svc'])
  expect(machine.left()).toEqual([])
})

test.each([
  ['for nothing', 8, /its disk is full.*TMPDIR/],
  ['for no executable', 128, /svc-linux-\w+ could not be read, or not be written.*TMPDIR/],
])('a temporary folder with room %s is named, and openssl is not', async (_what, kib, reason) => {
  writeFileSync(join(bad, NAME), Buffer.alloc(200_000))
  const ended = await machine.runOnSmallDisk(kib, ['--dir', dir, '--from', bad])
  expect(ended).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(reason) })
  expect(ended.stderr).not.toMatch(/openssl|skip-signature/)
  expect(existsSync(dir)).toBe(false)
})

test('a folder in the place of svc is named', async () => {
  mkdirSync(join(dir, 'svc'), { recursive: true })
  const { code, stderr } = await machine.run('dash', ['--dir', dir, '--from', bad])
  expect([code, stderr]).toEqual([1, `install.sh: ${dir}/svc is a folder; name another place by --dir\n`])
})
