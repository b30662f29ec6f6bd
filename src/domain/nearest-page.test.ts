import { expect, test } from 'bun:test'
import { nearestPage } from './nearest-page.ts'

const PAGES = [
  '/',
  '/about',
  '/Docs/Getting-Started',
  '/docs/install/',
  '/blog/2020/hello',
  '/contact',
  '/team/contacts/',
]

const rows: [path: string, nearest: string | null][] = [
  ['/ABOUT', '/about'],
  ['/about.php', '/about'],
  ['/about/', '/about'],
  ['/about/index.html', '/about'],
  ['/docs/getting-started.htm', '/Docs/Getting-Started'],
  ['/guide/install', '/docs/install/'],
  ['/hello', '/blog/2020/hello'],
  ['/abuot', '/about'],
  ['/kontakt', '/contact'],
  ['/index.php', '/'],
  ['/wp-login.php', null],
  ['/something/entirely/different', null],
  ['/x', null],
]
test.each(rows)('%s is nearest to %j', (path, nearest) => {
  expect(nearestPage(path, PAGES)).toBe(nearest)
})

test('without pages there is none; hostile lengths cost little', () => {
  expect(nearestPage('/a', [])).toBeNull()
  const long = `/${'a'.repeat(2000)}`
  expect(
    nearestPage(
      long,
      Array.from({ length: 20_000 }, (_, i) => `/${'b'.repeat(150)}${i}`),
    ),
  ).toBeNull()
  expect(nearestPage(`${long}.html`, [long])).toBe(long)
})
