import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeIndex } from './index-of.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-index-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const PUBLISHED_AT = '2026-01-02T03:04:05.678Z'

function add(folder: string, manifest: unknown): void {
  mkdirSync(join(root, folder))
  const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest)
  writeFileSync(join(root, folder, 'release.json'), text)
}
const addRelease = (version: string, notes = '') =>
  add(version, { version, publishedAt: PUBLISHED_AT, notes, commit: null, files: [] })

const read = () => readFileSync(join(root, 'index.json'), 'utf8')

test('newest first; the latest is no pre-release, and on a line of its own', () => {
  for (const version of ['1.9.0', '1.10.0', '2.0.0-rc.1', '2.0.0-rc.10', '2.0.0-rc.9'])
    addRelease(version, `of ${version}`)
  // Neither of these is a release's folder.
  mkdirSync(join(root, '3.0.0'))
  add('next', { version: 'next' })
  writeFileSync(join(root, '4.0.0'), '')
  writeIndex(root)
  const versions = ['2.0.0-rc.10', '2.0.0-rc.9', '2.0.0-rc.1', '1.10.0', '1.9.0']
  expect(JSON.parse(read())).toEqual({
    latest: '1.10.0',
    releases: versions.map((version) => ({
      version,
      publishedAt: PUBLISHED_AT,
      notes: `of ${version}`,
      url: `${version}/`,
    })),
  })
  expect(read().split('\n')).toContain('  "latest": "1.10.0",')
  expect(readdirSync(root)).not.toContain('.index.json.partial')
})

test('without a release, or with pre-releases only, there is no latest', () => {
  expect(writeIndex(root)).toEqual({ latest: null, releases: [] })
  addRelease('1.0.0-rc.1')
  expect(writeIndex(root).latest).toBeNull()
})

test.each<[what: string, manifest: unknown, reason: string]>([
  ['cut', '{"version":', 'cannot be read'],
  ['a list', [], 'is no list of a release'],
  ['of another version', { version: '1.0.1', publishedAt: PUBLISHED_AT, notes: '' }, 'is of version 1.0.1'],
  ['without notes', { version: '1.0.0', publishedAt: PUBLISHED_AT }, 'lacks publishedAt or notes'],
  ['with no time', { version: '1.0.0', publishedAt: 'soon', notes: '' }, 'lacks publishedAt or notes'],
])('a release.json that is %s is named, and the index stays', (_what, manifest, reason) => {
  writeFileSync(join(root, 'index.json'), 'as it was')
  addRelease('2.0.0')
  add('1.0.0', manifest)
  expect(() => writeIndex(root)).toThrow(`${join(root, '1.0.0', 'release.json')} ${reason}`)
  expect(read()).toBe('as it was')
})

test('a folder that is not there is named', () => {
  expect(() => writeIndex(join(root, 'none'))).toThrow(join(root, 'none'))
})
