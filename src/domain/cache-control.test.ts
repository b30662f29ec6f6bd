import { expect, test } from 'bun:test'
import { cacheControlOf } from './cache-control.ts'

const rules: [path: string, isPublic: boolean, expected: string][] = [
  ['index.html', true, 'public, max-age=0, must-revalidate'],
  ['index.html', false, 'private, max-age=0, must-revalidate'],
  ['page.3f2a9c1d.html', true, 'public, max-age=0, must-revalidate'],
  ['page.3f2a9c1d.xhtml', true, 'public, max-age=0, must-revalidate'],
  ['_astro/page.shtml', true, 'public, max-age=0, must-revalidate'],
  ['style_v2.css', true, 'public, max-age=300, must-revalidate'],
  ['_astro/photo.png', false, 'private, max-age=31536000, immutable'],
  ['assets/main.3f2a9c1d.js', true, 'public, max-age=31536000, immutable'],
  ['assets/main.3f2a9c1d.js', false, 'private, max-age=31536000, immutable'],
  ['robots.txt', true, 'public, max-age=300, must-revalidate'],
  ['robots.txt', false, 'private, max-age=300, must-revalidate'],
  ['main.js', true, 'public, max-age=300, must-revalidate'],
]

test.each(rules)('%s, public %p: %s', (path, isPublic, expected) => {
  expect(cacheControlOf(path, isPublic)).toBe(expected)
})
