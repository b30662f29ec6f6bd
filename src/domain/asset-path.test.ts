import { describe, expect, test } from 'bun:test'
import { type AssetPathSource, findClash, normalizeAssetPath } from './asset-path.ts'

const SOURCES: AssetPathSource[] = ['sender', 'archive']
const NFC = 'caf\u00e9.html'
const NFD = 'cafe\u0301.html'

/** The normalized path, or why there is none. */
function outcome(raw: string, source: AssetPathSource): string {
  const result = normalizeAssetPath(raw, source)
  if (result.kind === 'file') return result.path
  return result.kind === 'refused' ? `refused: ${result.reason}` : result.kind
}

describe('normalizeAssetPath, from anywhere', () => {
  const TOO_LONG = 'refused: a path must not be longer than 1024 bytes'
  const NAME_TOO_LONG = 'refused: a name in a path must not be longer than 255 bytes'
  const DOTS = 'refused: a path must not contain ..'
  const NUL = 'refused: a path must not contain NUL'
  const DRIVE = 'refused: a path must not begin with a drive letter'
  const CONTROL = 'refused: a path must not contain control characters'

  const cases: [raw: string, expected: string][] = [
    ['index.html', 'index.html'],
    ['docs/a/b.html', 'docs/a/b.html'],
    ['docs\\a\\b.html', 'docs/a/b.html'],
    ['./index.html', 'index.html'],
    ['././a/./b.html', 'a/b.html'],
    ['.\\a.html', 'a.html'],
    ['a//b///c.html', 'a/b/c.html'],
    [NFD, NFC],
    [NFC, NFC],
    ['a b/c%20d.html', 'a b/c%20d.html'],
    ['a..b/c..d', 'a..b/c..d'],
    ['日本/語.html', '日本/語.html'],
    ['a/x:y.txt', 'a/x:y.txt'],
    ['xy:z.txt', 'xy:z.txt'],
    ['docs/', 'directory'],
    ['docs\\', 'directory'],
    ['docs/.', 'directory'],
    ['.', 'directory'],
    ['./', 'directory'],
    ['.env', 'left_out'],
    ['.git/config', 'left_out'],
    ['a/.DS_Store', 'left_out'],
    ['a/...', 'left_out'],
    ['.github/', 'left_out'],
    ['.well-known/security.txt', '.well-known/security.txt'],
    ['a/.well-known/x', 'a/.well-known/x'],
    ['.well-known/.secret', 'left_out'],
    ['.well-knownx/a', 'left_out'],
    ['.Well-Known/a', 'left_out'],
    ['node_modules/a/index.js', 'left_out'],
    ['a/node_modules/b.js', 'left_out'],
    ['node_modules_old/a.js', 'node_modules_old/a.js'],
    ['__MACOSX/._a', 'left_out'],
    ['__MACOSX/Icon\r', 'left_out'],
    ['..', DOTS],
    ['../a', DOTS],
    ['a/../b', DOTS],
    ['a/..', DOTS],
    ['a\\..\\..\\b', DOTS],
    ['.git/../../etc/passwd', DOTS],
    ['node_modules/../../x', DOTS],
    ['a\0.html', NUL],
    ['.git/a\0', NUL],
    ['C:\\Windows\\x', DRIVE],
    ['c:/x', DRIVE],
    ['C:x', DRIVE],
    ['./C:/x', DRIVE],
    ['\u212a:/x', DRIVE],
    ['a\nb.html', CONTROL],
    ['a\u007fb', CONTROL],
    ['a\u0085b', CONTROL],
    ['a\ud800b', 'refused: a path must be valid Unicode'],
    ['', 'refused: the path is empty'],
    ['a'.repeat(255), 'a'.repeat(255)],
    ['a'.repeat(256), NAME_TOO_LONG],
    ['é'.repeat(127), 'é'.repeat(127)],
    ['é'.repeat(128), NAME_TOO_LONG],
    [`${'abc/'.repeat(255)}abcd`, `${'abc/'.repeat(255)}abcd`],
    [`${'abc/'.repeat(255)}abcde`, TOO_LONG],
    [`.git/${'abc/'.repeat(300)}a`, 'left_out'],
  ]

  test.each(cases)('%j: %j', (raw, expected) => {
    for (const source of SOURCES) expect(outcome(raw, source)).toBe(expected)
  })
})

describe('normalizeAssetPath of a path that begins with /', () => {
  test.each([
    ['/index.html', 'index.html'],
    ['//a/b.html', 'a/b.html'],
    ['\\a\\b.html', 'a/b.html'],
    ['/', 'directory'],
  ])('%s is %s from a sender, and refused in an archive', (raw, expected) => {
    expect(outcome(raw, 'sender')).toBe(expected)
    expect(outcome(raw, 'archive')).toBe('refused: a path in an archive must not begin with /')
  })

  test('a drive letter after it is still refused', () => {
    expect(outcome('/C:/x', 'sender')).toBe('refused: a path must not begin with a drive letter')
  })
})

describe('findClash', () => {
  const cases: [paths: string[], expected: { path: string; below: string } | null][] = [
    [[], null],
    [['a', 'b', 'a.html'], null],
    [['a/b', 'a/c', 'ab'], null],
    [['a', 'a'], null],
    [['a', 'a/b'], { path: 'a', below: 'a/b' }],
    [['a/b', 'a'], { path: 'a', below: 'a/b' }],
    [['a', 'a-b', 'a.b', 'a/b'], { path: 'a', below: 'a/b' }],
    [['x/y/z/1', 'x/y/z/2', 'x/y'], { path: 'x/y', below: 'x/y/z/1' }],
    [['x/y/z', 'x/y/z/1/2/3'], { path: 'x/y/z', below: 'x/y/z/1/2/3' }],
    [['a', 'A/b'], null],
  ]

  test.each(cases)('%j: %j', (paths, expected) => {
    expect(findClash(paths)).toEqual(expected)
  })

  test('among 50 000 deep paths', () => {
    const paths = Array.from({ length: 50_000 }, (_, i) => `a/b/c/d/e/f/${i % 100}/${i}.html`)
    expect(findClash(paths)).toBeNull()
    expect(findClash([...paths, 'a/b/c/d/e/f/7'])).toEqual({
      path: 'a/b/c/d/e/f/7',
      below: 'a/b/c/d/e/f/7/7.html',
    })
  })
})

test('the shortcut for plain paths gives the same result as the full check', () => {
  const letters = ['a', 'Z', '9', '_', '-', '.', '/', 'node_modules', '__MACOSX', 'x'.repeat(120)]
  let seed = 7
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return letters[Math.floor(seed / 65_536) % letters.length] ?? ''
  }
  for (let round = 0; round < 20_000; round++) {
    const raw = Array.from({ length: 1 + (round % 6) }, next).join('')
    // A path that begins with ./ does not take the shortcut.
    if (!raw.startsWith('/'))
      expect([raw, outcome(raw, 'sender')]).toEqual([raw, outcome(`./${raw}`, 'sender')])
  }
})
