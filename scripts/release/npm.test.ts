import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeNpm } from './npm.ts'
import { PLATFORMS, type Release } from './release.ts'
import { sampleRelease } from './testing/sample-release.ts'
import { filesBelow } from './tree.ts'

let release: Release & { remove(): void }
let unpacked = ''
beforeAll(async () => {
  release = sampleRelease()
  await makeNpm(release)
  unpacked = join(release.out, 'unpacked')
  for (const file of readdirSync(join(release.out, 'npm'))) {
    const into = join(unpacked, file)
    mkdirSync(into, { recursive: true })
    const { exitCode } = Bun.spawnSync(['tar', '-xzf', join(release.out, 'npm', file), '-C', into])
    expect(exitCode).toBe(0)
  }
})
afterAll(() => release.remove())

const packageOf = (file: string) => join(unpacked, file, 'package')
const manifestOf = (file: string) => JSON.parse(readFileSync(join(packageOf(file), 'package.json'), 'utf8'))
const modeOf = (file: string) => statSync(file).mode & 0o777

test('one archive for people and one for each platform, named as npm pack names them', () => {
  expect(readdirSync(unpacked).sort()).toEqual([
    'heron-1.2.3.tgz',
    'kingfisher-darwin-arm64-1.2.3.tgz',
    'kingfisher-darwin-x64-1.2.3.tgz',
    'kingfisher-linux-arm64-1.2.3.tgz',
    'kingfisher-linux-x64-1.2.3.tgz',
    'kingfisher-windows-x64-1.2.3.tgz',
  ])
})

test('the wrapper depends on all five at exactly this version, and on nothing else', () => {
  const manifest = manifestOf('heron-1.2.3.tgz')
  expect(manifest).toMatchObject({
    name: 'heron',
    version: '1.2.3',
    license: 'MIT',
    bin: { svc: 'bin/svc.cjs' },
    engines: { node: '>=20' },
    optionalDependencies: Object.fromEntries(
      PLATFORMS.map((platform) => [`@kingfisher/${platform}`, '1.2.3']),
    ),
  })
  for (const key of ['scripts', 'dependencies', 'devDependencies', 'private'])
    expect(manifest).not.toHaveProperty(key)
  const folder = packageOf('heron-1.2.3.tgz')
  expect(filesBelow(folder)).toEqual(['LICENSE', 'README.md', 'bin/svc.cjs', 'package.json'])
  expect(modeOf(join(folder, 'bin/svc.cjs'))).toBe(0o755)
})

test.each([
  ['linux-x64', { os: ['linux'], cpu: ['x64'], libc: ['glibc'] }, 'svc'],
  ['linux-arm64', { os: ['linux'], cpu: ['arm64'], libc: ['glibc'] }, 'svc'],
  ['darwin-x64', { os: ['darwin'], cpu: ['x64'] }, 'svc'],
  ['darwin-arm64', { os: ['darwin'], cpu: ['arm64'] }, 'svc'],
  ['windows-x64', { os: ['win32'], cpu: ['x64'] }, 'svc.exe'],
])('%s says where it runs and holds the executable', (platform, where, executable) => {
  const file = `kingfisher-${platform}-1.2.3.tgz`
  const { description, ...manifest } = manifestOf(file)
  expect(description).toBeString()
  const common = { version: '1.2.3', license: 'MIT', preferUnplugged: true }
  expect(manifest).toEqual({ name: `@kingfisher/${platform}`, ...common, ...where })
  const folder = packageOf(file)
  const files = ['LICENSE', 'README.md', 'bin/managed', `bin/${executable}`, 'package.json']
  expect(filesBelow(folder)).toEqual(files)
  expect(modeOf(join(folder, 'bin', executable))).toBe(0o755)
  expect(readFileSync(join(folder, 'bin/managed'), 'utf8').trim()).toBe('npm')
})

test('with --only the wrapper still depends on all, and the other packages are not made', async () => {
  const only = sampleRelease({ platforms: ['linux-arm64'], version: '2.0.0-rc.1' })
  await makeNpm(only)
  expect(readdirSync(join(only.out, 'npm')).sort()).toEqual([
    'heron-2.0.0-rc.1.tgz',
    'kingfisher-linux-arm64-2.0.0-rc.1.tgz',
  ])
  only.remove()
})

test('the same files give the same bytes', async () => {
  const again = sampleRelease()
  await makeNpm(again)
  for (const file of readdirSync(join(again.out, 'npm')))
    expect(
      readFileSync(join(again.out, 'npm', file)).equals(readFileSync(join(release.out, 'npm', file))),
    ).toBe(true)
  again.remove()
})
