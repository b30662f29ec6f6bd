import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { makeDeb } from './deb.ts'
import { debVersionOf } from './debian.ts'
import { type SampleRelease, sampleRelease } from './testing/sample-release.ts'
import { filesBelow } from './tree.ts'

/** What dpkg-deb makes of the package; what dpkg does with it: deb.process.test.ts. contract 19.2 */
const NOTES = '### Added\n\n- **A thing**, which is new'

let release: SampleRelease
let folder = ''
beforeAll(async () => {
  release = sampleRelease({ version: '1.2.0-rc.1', notes: NOTES }, '#!/bin/sh\necho svc 1.2.0-rc.1\n')
  await makeDeb(release)
  folder = mkdtempSync(join(tmpdir(), 'svc-deb-'))
  for (const cpu of ['amd64', 'arm64']) {
    const { exitCode, stderr } = Bun.spawnSync(['dpkg-deb', '--raw-extract', debOf(cpu), join(folder, cpu)])
    expect([exitCode, stderr.toString()]).toEqual([0, ''])
  }
})
afterAll(() => {
  release.remove()
  rmSync(folder, { recursive: true })
})

const debOf = (cpu: string) => join(release.out, `grebe_1.2.0-rc.1_${cpu}.deb`)
const at = (path: string) => join(folder, 'amd64', path)
const read = (path: string) => readFileSync(at(path), 'utf8')
const modeOf = (path: string) => lstatSync(at(path)).mode & 0o777

test('one for each processor of Linux, and nothing is left beside them', async () => {
  expect(
    readdirSync(release.out)
      .filter((name) => /grebe|\.control|\.data/.test(name))
      .sort(),
  ).toEqual(['grebe_1.2.0-rc.1_amd64.deb', 'grebe_1.2.0-rc.1_arm64.deb'])
  const only = sampleRelease({ platforms: ['linux-arm64', 'darwin-x64'] })
  await makeDeb(only)
  expect(readdirSync(only.out).filter((name) => name.endsWith('.deb'))).toEqual(['grebe_1.2.3_arm64.deb'])
  only.remove()
})

test.each(['amd64', 'arm64'])('%s: name, version and processor', (cpu) => {
  const fields = ['Package', 'Version', 'Architecture', 'Installed-Size']
  const { stdout } = Bun.spawnSync(['dpkg-deb', '--field', debOf(cpu), ...fields])
  expect(stdout.toString().split('\n').slice(0, 3)).toEqual([
    'Package: grebe',
    'Version: 1.2.0~rc.1',
    `Architecture: ${cpu}`,
  ])
})

test('exactly these files, owned by root, of the time of the release', () => {
  expect(filesBelow(at('.')).filter((path) => !path.startsWith('DEBIAN/'))).toEqual([
    'etc/svc.env',
    'usr/lib/svc/managed',
    'usr/lib/svc/svc',
    'usr/lib/systemd/system/svc.service',
    'usr/share/doc/grebe/changelog.gz',
    'usr/share/doc/grebe/copyright',
  ])
  expect(readlinkSync(at('usr/bin/svc'))).toBe('../lib/svc/svc')
  expect(read('usr/lib/svc/managed').trim()).toBe('deb')
  expect([
    modeOf('usr/lib/svc/svc'),
    modeOf('etc/svc.env'),
    modeOf('usr/lib'),
    modeOf('usr/lib/svc/managed'),
  ]).toEqual([0o755, 0o600, 0o755, 0o644])
  expect(statSync(at('usr/lib/svc/svc')).mtime.toISOString()).toBe('2026-01-02T03:04:05.000Z')
  const listed = Bun.spawnSync(['dpkg-deb', '--contents', debOf('amd64')]).stdout.toString()
  expect(
    listed
      .trim()
      .split('\n')
      .every((line) => line.includes(' 0/0 ')),
  ).toBe(true)
})

test('scripts are those of sh and may be run; the settings are a conffile', () => {
  for (const script of ['postinst', 'prerm', 'postrm']) {
    expect(modeOf(`DEBIAN/${script}`)).toBe(0o755)
    expect(Bun.spawnSync(['dash', '-n', at(`DEBIAN/${script}`)]).exitCode).toBe(0)
  }
  expect(read('DEBIAN/conffiles')).toBe('/etc/svc.env\n')
  const names = read('etc/svc.env')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  expect(names).toEqual([])
})

test('the sums are right', () => {
  const { exitCode } = Bun.spawnSync(['md5sum', '--check', '--quiet', '--strict', 'DEBIAN/md5sums'], {
    cwd: at('.'),
  })
  expect(exitCode).toBe(0)
  expect(read('DEBIAN/md5sums').trim().split('\n')).toHaveLength(5)
})

test('the unit is that of the documents with the executable of the package', () => {
  const unit = read('usr/lib/systemd/system/svc.service')
  const documented = readFileSync(join(release.root, 'docs/svc.service'), 'utf8')
  expect(unit).toContain('\nExecStart=/usr/bin/svc serve\n')
  expect(unit.split('\n').slice(1).join('\n').replace('/usr/bin/svc', '/usr/local/bin/svc')).toBe(
    documented.split('\n').slice(1).join('\n'),
  )
})

test('copyright and changelog are in the forms of Debian', () => {
  expect(read('usr/share/doc/grebe/copyright')).toContain(
    '\nCopyright: 2026 svc contributors\nLicense: MIT\n\nLicense: MIT\n Permission is hereby granted',
  )
  const changelog = gunzipSync(readFileSync(at('usr/share/doc/grebe/changelog.gz'))).toString()
  expect(changelog).toBe(`grebe (1.2.0~rc.1) unstable; urgency=medium

  * Version 1.2.0-rc.1.
    ### Added
    - **A thing**, which is new

 -- svc maintainers <svc@bittern.example>  Fri, 02 Jan 2026 03:04:05 +0000
`)
})

describe('versions', () => {
  test.each([
    ['1.2.0', '1.2.0'],
    ['1.2.0-rc.1', '1.2.0~rc.1'],
    ['1.2.0-rc-1.a-b', '1.2.0~rc.1.a.b'],
    ['1.2.0+build-5', '1.2.0+build.5'],
    ['1.2.0-rc.1+build-5', '1.2.0~rc.1+build.5'],
  ])('%s is %s', (version, deb) => expect(debVersionOf(version)).toBe(deb))

  test('Debian has them in the order of Semantic Versioning', () => {
    const sorted =
      '1.9.0 1.10.0-1 1.10.0-alpha 1.10.0-alpha.1 1.10.0-beta.2 1.10.0-beta.11 1.10.0-rc.1 1.10.0'.split(' ')
    for (const [index, version] of sorted.entries()) {
      const next = sorted[index + 1]
      if (next === undefined) continue
      const argv = ['dpkg', '--compare-versions', debVersionOf(version), 'lt', debVersionOf(next)]
      expect([version, next, Bun.spawnSync(argv).exitCode]).toEqual([version, next, 0])
    }
  })
})

test('the same files give the same bytes', async () => {
  const again = sampleRelease({ version: '1.2.0-rc.1', notes: NOTES }, '#!/bin/sh\necho svc 1.2.0-rc.1\n')
  await makeDeb(again)
  expect(
    readFileSync(join(again.out, 'grebe_1.2.0-rc.1_amd64.deb')).equals(readFileSync(debOf('amd64'))),
  ).toBe(true)
  again.remove()
})
