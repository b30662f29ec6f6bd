import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inPlaceOf, requireReplaceable } from './out-folder.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-out-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const RELEASE = { 'release.json': '{"version":"1.0.0","files":[]}', SHA256SUMS: '' }

function write(name: string, files: Record<string, string>): string {
  const at = join(folder, name)
  mkdirSync(at, { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(at, file), text)
  return at
}

const makeNew = async (made: string) => writeFileSync(join(made, 'new'), 'new')

describe('what is replaced', () => {
  const cases: [what: string, prepare: () => string][] = [
    ['nothing, two folders deep', () => join(folder, 'a/b/out')],
    ['an empty folder', () => write('out', {})],
    ['a release', () => write('out', { ...RELEASE, old: '' })],
  ]
  test.each(cases)('%s', async (_what, prepare) => {
    const out = prepare()
    requireReplaceable(out)
    await inPlaceOf(out, makeNew)
    expect(readdirSync(out)).toEqual(['new'])
    expect(readdirSync(join(out, '..'))).toEqual(['out'])
  })
})

describe('what is left as it is', () => {
  const cases: [what: string, prepare: () => string][] = [
    ['a folder with something else', () => write('out', { 'thesis.md': 'ten years' })],
    ['a list without sums', () => write('out', { 'release.json': RELEASE['release.json'] })],
    ['another release.json', () => write('out', { ...RELEASE, 'release.json': '{"name":"mine"}' })],
    ['a release.json that is cut', () => write('out', { ...RELEASE, 'release.json': '{"version"' })],
    [
      'a file',
      () => {
        writeFileSync(join(folder, 'out'), 'ten years')
        return join(folder, 'out')
      },
    ],
    [
      'a link to such a folder',
      () => {
        symlinkSync(write('there', { 'thesis.md': 'ten years' }), join(folder, 'out'))
        return join(folder, 'out')
      },
    ],
  ]
  test.each(cases)('%s', async (_what, prepare) => {
    const out = prepare()
    const before = statSync(out).mtimeMs
    expect(() => requireReplaceable(out)).toThrow(out)
    // It came while the release was made.
    await expect(inPlaceOf(out, makeNew)).rejects.toThrow(out)
    expect(statSync(out).mtimeMs).toBe(before)
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([])
  })
})

test('what fails leaves the former release and nothing beside it', async () => {
  const out = write('out', { ...RELEASE, old: 'old' })
  const failing = inPlaceOf(out, async (made) => {
    await makeNew(made)
    throw new Error('no space left')
  })
  await expect(failing).rejects.toThrow('no space left')
  expect(readFileSync(join(out, 'old'), 'utf8')).toBe('old')
  expect(readdirSync(folder)).toEqual(['out'])
})
