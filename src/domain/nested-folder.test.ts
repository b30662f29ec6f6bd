import { expect, test } from 'bun:test'
import { nestedFolder, withoutFolder } from './nested-folder.ts'

const cases: [what: string, paths: string[], folder: string | null][] = [
  ['a site in a folder', ['site/index.html', 'site/css/a.css'], 'site'],
  ['a build in a folder, with a file beside', ['README.md', 'dist/index.html'], 'dist'],
  ['a start page at the top', ['index.html', 'assets/index.html'], null],
  ['a start page at the top, last', ['assets/index.html', 'index.html'], null],
  ['two folders', ['a/index.html', 'b/c.css'], null],
  ['a start page deeper', ['a/b/index.html'], null],
  ['no start page', ['photos/1.jpg'], null],
  ['a name that ends like it', ['a/my-index.html', 'a/index.html.bak'], null],
  ['.well-known beside', ['.well-known/x', 'site/index.html'], null],
  ['nothing', [], null],
]

test.each(cases)('%s', (_, paths, folder) => {
  expect(nestedFolder(paths)).toBe(folder)
})

test('only what lies in the folder moves', () => {
  const moved = ['site/index.html', 'site/site/a', 'sites/a', 'site'].map((path) =>
    withoutFolder(path, 'site'),
  )
  expect(moved).toEqual(['index.html', 'site/a', 'sites/a', 'site'])
})
