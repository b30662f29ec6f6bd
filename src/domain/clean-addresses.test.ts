import { expect, test } from 'bun:test'
import { addCleanAddresses } from './clean-addresses.ts'
import type { HtmlHandling } from './html-handling.ts'

type File = { path: string }

/** What each path shows: `=name` a file, `>path` a redirect, `-` nothing. */
function shown(names: readonly string[], handling: HtmlHandling | null, paths: readonly string[]): string[] {
  const targets = new Map<string, File | { redirectTo: string }>(names.map((path) => [path, { path }]))
  addCleanAddresses(targets, handling)
  return paths.map((path) => {
    const target = targets.get(path)
    if (target === undefined) return '-'
    return 'path' in target ? `=${target.path}` : `>${target.redirectTo}`
  })
}

const AUTO = 'auto-trailing-slash'
const FORCE = 'force-trailing-slash'
const DROP = 'drop-trailing-slash'
const HANDLINGS = [AUTO, FORCE, DROP, 'none'] as const

type Row = [path: string, auto: string, force: string, drop: string, none: string]
const TABLE: Row[] = [
  ['/file', '=/file.html', '>/file/', '=/file.html', '-'],
  ['/file/', '>/file', '=/file.html', '>/file', '-'],
  ['/file.html', '>/file', '>/file/', '>/file', '=/file.html'],
  ['/folder', '>/folder/', '>/folder/', '=/folder/index.html', '-'],
  ['/folder/', '=/folder/index.html', '=/folder/index.html', '>/folder', '-'],
  ['/folder/index.html', '>/folder/', '>/folder/', '>/folder', '=/folder/index.html'],
  ['/folder/index', '>/folder/', '>/folder/', '>/folder', '-'],
  ['/index.html', '>/', '>/', '>/', '=/index.html'],
  ['/index', '>/', '>/', '>/', '-'],
  ['/', '=/index.html', '=/index.html', '=/index.html', '-'],
  ['/file/index', '-', '-', '-', '-'],
  ['/plain', '=/plain', '=/plain', '=/plain', '=/plain'],
  ['/plain/', '-', '-', '-', '-'],
]

test.each(TABLE)('%s by each way', (...[path, ...expected]: Row) => {
  const files = ['/index.html', '/file.html', '/folder/index.html', '/plain']
  expect(HANDLINGS.flatMap((handling) => shown(files, handling, [path]))).toEqual(expected)
})

test('the same in folders', () => {
  const files = ['/a/b/file.html', '/a/b/folder/index.html']
  for (const [path, ...expected] of TABLE.filter(([path]) => path.startsWith('/f'))) {
    const moved = expected.map((one) => (one === '-' ? one : `${one[0]}/a/b${one.slice(1)}`))
    expect(HANDLINGS.flatMap((handling) => shown(files, handling, [`/a/b${path}`]))).toEqual(moved)
  }
})

test('a page whose wanted name is a file keeps its own', () => {
  const files = ['/a', '/a.html']
  const paths = ['/a', '/a/', '/a.html']
  expect(shown(files, AUTO, paths)).toEqual(['=/a', '-', '=/a.html'])
  expect(shown(files, FORCE, paths)).toEqual(['=/a', '=/a.html', '>/a/'])
  expect(shown(files, DROP, paths)).toEqual(['=/a', '-', '=/a.html'])
  expect(shown(files, 'none', paths)).toEqual(['=/a', '-', '=/a.html'])
})

test('of a page and a folder of one name both can be reached', () => {
  const files = ['/a.html', '/a/index.html']
  const paths = ['/a', '/a/', '/a.html', '/a/index.html', '/a/index']
  expect(shown(files, AUTO, paths)).toEqual(['=/a.html', '=/a/index.html', '>/a', '>/a/', '>/a/'])
  expect(shown(files, FORCE, paths)).toEqual(['>/a/', '=/a/index.html', '=/a.html', '>/a/', '>/a/'])
  expect(shown(files, DROP, paths)).toEqual(['=/a.html', '>/a', '>/a', '=/a/index.html', '>/a'])
  expect(shown(files, 'none', paths)).toEqual(['-', '-', '=/a.html', '=/a/index.html', '-'])
})

test('a file called index is not a page', () => {
  expect(shown(['/d/index', '/d/index.html'], AUTO, ['/d/index', '/d/', '/d/index.html'])).toEqual([
    '=/d/index',
    '=/d/index.html',
    '>/d/',
  ])
})

test('every redirect leads to a file, and nothing is lost', () => {
  const names = [
    '/index.html',
    '/a.html',
    '/a/index.html',
    '/b',
    '/b.html',
    '/c/index.html',
    '/c/d.html',
    '/e.html',
  ]
  for (const handling of [null, ...HANDLINGS]) {
    const targets = new Map<string, File | { redirectTo: string }>(names.map((path) => [path, { path }]))
    addCleanAddresses(targets, handling)
    const reached = new Set<string>()
    for (const target of targets.values()) {
      const file = 'path' in target ? target : targets.get(target.redirectTo)
      if (file === undefined || !('path' in file)) throw new Error(`${handling} leads nowhere`)
      reached.add(file.path)
    }
    expect([...reached].sort()).toEqual([...names].sort())
  }
})
