import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, makeManifest } from './manifest.ts'
import { executableName, type Release } from './release.ts'
import { makeSums } from './sums.ts'
import { sampleRelease } from './testing/sample-release.ts'
import { filesBelow } from './tree.ts'

let release: Release & { remove(): void }
beforeAll(async () => {
  release = sampleRelease({ commit: 'a'.repeat(40), notes: 'News' })
  mkdirSync(join(release.out, 'npm/deeper'), { recursive: true })
  // In the order of their bytes a capital, then a dash, comes before a small letter, and ä behind all.
  for (const name of ['npm/b', 'npm/B', 'npm/deeper/a', 'npm-x', 'ä'])
    writeFileSync(join(release.out, name), name)
  await makeManifest(release)
  await makeSums(release)
})
afterAll(() => release.remove())

const run = (...argv: string[]) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(argv, { cwd: release.out })
  return { exitCode, output: `${stdout}${stderr}` }
}
const read = (name: string) => readFileSync(join(release.out, name), 'utf8')

test('SHA256SUMS has every file but the signature and the key, sorted, and sha256sum agrees', () => {
  const paths = read('SHA256SUMS')
    .split('\n')
    .slice(0, -1)
    .map((line) => /^[0-9a-f]{64} {2}(.+)$/.exec(line)?.[1])
  const except = ['SHA256SUMS', 'SHA256SUMS.sig', 'release-key.pem']
  expect(paths).toEqual(filesBelow(release.out).filter((path) => !except.includes(path)))
  expect(paths).toContain('release.json')
  expect(paths.slice(0, 4)).toEqual(['npm-x', 'npm/B', 'npm/b', 'npm/deeper/a'])
  expect(paths.at(-1)).toBe('ä')
  expect(run('sha256sum', '--check', '--strict', 'SHA256SUMS').exitCode).toBe(0)
})

/** As install.sh and anybody else may check it. */
function verifies(): boolean {
  writeFileSync(join(release.out, 'raw.sig'), Buffer.from(read('SHA256SUMS.sig'), 'base64'))
  const flags = ['-verify', '-rawin', '-pubin', '-inkey', 'release-key.pem', '-sigfile', 'raw.sig']
  return run('openssl', 'pkeyutl', ...flags, '-in', 'SHA256SUMS').exitCode === 0
}

test('the signature is base64 of 64 bytes and a line end, and openssl agrees; one byte off, and it does not', () => {
  expect(read('SHA256SUMS.sig')).toMatch(/^[A-Za-z0-9+/]{86}==\n$/)
  expect(verifies()).toBe(true)
  const sums = read('SHA256SUMS')
  for (const changed of [
    sums.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    sums.slice(0, -1),
    `${sums}\n`,
    '',
  ]) {
    writeFileSync(join(release.out, 'SHA256SUMS'), changed)
    expect(verifies()).toBe(false)
  }
  writeFileSync(join(release.out, 'SHA256SUMS'), sums)
})

test('release.json lists the files with the platform of each executable, and the key', () => {
  const { files, ...rest }: Manifest = JSON.parse(read('release.json'))
  expect(rest).toEqual({
    version: '1.2.3',
    publishedAt: release.publishedAt,
    commit: 'a'.repeat(40),
    notes: 'News',
    publicKey: release.publicKey,
  })
  const spki = Buffer.from(read('release-key.pem').split('\n')[1] ?? '', 'base64')
  expect(spki.subarray(-32).toString('base64')).toBe(release.publicKey)
  const sums = new Map(
    read('SHA256SUMS')
      .split('\n')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  )
  expect(files.map(({ name }) => name)).toEqual(
    [...sums.keys()].filter((name) => name !== '' && name !== 'release.json'),
  )
  for (const { name, size, sha256, platform } of files) {
    const expected = release.platforms.find((one) => executableName(one) === name) ?? null
    expect([name, sha256, platform]).toEqual([name, sums.get(name) ?? '', expected])
    expect(size).toBe(Buffer.byteLength(read(name)))
  }
})

test('each file that is changed by a byte, cut, empty or that of another platform is found', () => {
  const damages: ((path: string) => void)[] = [
    (path) => writeFileSync(path, `${readFileSync(path, 'utf8')} `),
    (path) => truncateSync(path, 1),
    (path) => truncateSync(path, 0),
    (path) => writeFileSync(path, 'of another platform'),
  ]
  for (const name of filesBelow(release.out)) {
    if (name.startsWith('SHA256SUMS') || name.endsWith('.pem') || name === 'raw.sig') continue
    const path = join(release.out, name)
    const before = readFileSync(path)
    for (const damage of damages) {
      damage(path)
      const { exitCode, output } = run('sha256sum', '--check', '--quiet', 'SHA256SUMS')
      expect([name, exitCode, output.includes(`${name}: FAILED`)]).toEqual([name, 1, true])
    }
    writeFileSync(path, before)
  }
})
