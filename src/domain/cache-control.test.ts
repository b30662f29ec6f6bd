import { expect, test } from 'bun:test'
import { cacheControlOf, hasContentHash } from './cache-control.ts'

const names: [fileName: string, expected: boolean][] = [
  ['main.3f2a9c1d.js', true],
  ['index-BfTa1x_3.js', true],
  ['index-DiwrgTda8.css', true],
  ['app.a1b2c3d4e5f6.chunk.js', false],
  ['chunk-3F2A9C1D.mjs', true],
  ['3f2a9c1d.js', true],
  ['3f2a9c1d', true],
  ['assets/main.3f2a9c1d.js', true],
  ['logo-1a2b3c4.svg', false],
  ['main.3f2a9c1d.js.map', false],
  ['main.js', false],
  ['index-DiwrgTda.css', false],
  ['report-20241105.pdf', false],
  ['report-v20241105.pdf', true],
  ['component.js', false],
  ['jquery-3.7.1.min.js', false],
  ['index-BfTa-1x3.js', false],
  ['photo-abc 12345678x.jpg', false],
  ['photo-äbc12345678.jpg', false],
  ['main.3f2a9c1d/readme.txt', false],
  ['main.________.js', false],
  ['main.a_______1.js', true],
  ['.js', false],
  ['', false],
]

test.each(names)('%s carries a hash: %p', (fileName, expected) => {
  expect(hasContentHash(fileName)).toBe(expected)
})

const rules: [path: string, isPublic: boolean, expected: string][] = [
  ['index.html', true, 'public, max-age=0, must-revalidate'],
  ['index.html', false, 'private, max-age=0, must-revalidate'],
  ['page.3f2a9c1d.html', true, 'public, max-age=0, must-revalidate'],
  ['assets/main.3f2a9c1d.js', true, 'public, max-age=31536000, immutable'],
  ['assets/main.3f2a9c1d.js', false, 'private, max-age=31536000, immutable'],
  ['robots.txt', true, 'public, max-age=300, must-revalidate'],
  ['robots.txt', false, 'private, max-age=300, must-revalidate'],
  ['main.js', true, 'public, max-age=300, must-revalidate'],
]

test.each(rules)('%s, public %p: %s', (path, isPublic, expected) => {
  expect(cacheControlOf(path, isPublic)).toBe(expected)
})
