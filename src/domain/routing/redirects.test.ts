import { describe, expect, test } from 'bun:test'
import { plainPath } from '../plain-path.ts'
import { type Asked, parseRedirects, resultOf } from './redirects.ts'

const askedFor = (address: string, host = 'site.test'): Asked => {
  const [, path = '', search = ''] = /^([^?]*)(.*)$/s.exec(address) ?? []
  return { host, hostHeader: host, path, plain: plainPath(path), search }
}

/** What the only line makes of an address; null if it does not take it. */
function led(line: string, address: string, host?: string): string | null | undefined {
  const { lines, problems } = parseRedirects(line)
  expect(problems).toEqual([])
  const [only] = lines
  const found = only === undefined ? null : resultOf(only, askedFor(address, host))
  return found === null ? null : found.result?.href
}

describe('a line that is understood', () => {
  const rows: [line: string, address: string, href: string | null][] = [
    ['/a /b', '/a', '/b'],
    ['/a /b', '/a/', '/b'],
    ['/a/ /b', '/a', '/b'],
    ['/a /b', '/A', null],
    ['/a /b', '/a/b', null],
    ['/ /b', '/', '/b'],
    ['/news/* /n/:splat', '/news', '/n/'],
    ['/news/* /n/:splat', '/news/', '/n/'],
    ['/news/* /n/:splat', '/news/a/b', '/n/a/b'],
    ['/news/* /n/:splat', '/news/a/', '/n/a/'],
    ['/news/* /n/:splat', '/newsy', null],
    ['/news* /n/:splat', '/newsy', '/n/y'],
    ['/* /b/:splat', '/', '/b/'],
    ['/a*c /b/:splat', '/aXYc', '/b/XY'],
    ['/a*c /b/:splat', '/ac/', '/b/'],
    ['/a*c /b/:splat', '/a', null],
    ['/a/*/c /b/:splat', '/a/x/y/c', '/b/x/y'],
    ['/a/*/:last /b/:splat/:last', '/a/x/y/z', '/b/x/y/z'],
    ['/:y/:m/:slug /blog/:y-:m/:slug', '/2024/05/post', '/blog/2024-05/post'],
    ['/:y /b/:y', '/', null],
    ['/blog/:slug /b/:slug', '/blog/', null],
    ['/blog/:slug /b/:slug', '/blog/a/b', null],
    ['/b/:slug /x/:other/:slug', '/b/1', '/x/:other/1'],
    ['/b/:a /x/:ab', '/b/1', '/x/:ab'],
    ['/%C3%BC /u', '/ü', '/u'],
    ['/ü /u', '/%c3%bc', '/u'],
    ['/ü /u', '/u%CC%88', '/u'],
    ['/%61 /b', '/a', '/b'],
    ['/a%2Fb /c', '/a/b', null],
    ['/x%2A /y', '/x*', '/y'],
    ['/x%2A /y', '/xa', null],
    ['/x/* /y/:splat', '/x/%e4%b8%ad%2f%41', '/y/%e4%b8%ad%2f%41'],
    ['/x/* /y/:splat', '/x/a b"<', '/y/a%20b%22%3C'],
    ['/x/* /y/:splat', '/x/50%', '/y/50%25'],
    ['/x*y /z/:splat', '/x%41%2fBy', '/z/%41%2fB'],
    ['/x/* /y', '/x/../etc', null],
    ['/x/* /y/:splat', '/x/%2e%2E/etc', null],
    ['/x/* /y/:splat', '/x/%252e%252e', null],
    ['/x/* /y/:splat', '/x/a%2f..%2fb', null],
    ['/x/* /y/:splat', '/x/a%5c..%5cb', null],
    ['/x/* /y/:splat', '/x/..a/b..', '/y/..a/b..'],
    ['/x/* /:splat', '/x//evil.test', '/evil.test'],
    ['/x/* /:splat', '/x/%2F%2Fevil.test', '/%2F%2Fevil.test'],
    ['/x/* /:splat', '/x/\\evil.test', '/%5Cevil.test'],
    ['/x/* /y/:splat', '/x/:splat/%2F%2Fevil/%5Cevil/%0d%0aA:b', '/y/:splat/%2F%2Fevil/%5Cevil/%0d%0aA:b'],
    ['/x/* https://b.test/:splat', '/x/@evil.test', 'https://b.test/@evil.test'],
    ['/x/* https://b.test:8080/:splat#top', '/x/a?q=1', 'https://b.test:8080/a?q=1#top'],
    ['/a https://b.test', '/a?q=1', 'https://b.test?q=1'],
    ['/a HTTPS://B.test/', '/a', 'https://b.test/'],
    ['/a /b?x=1', '/a?q=1', '/b?x=1'],
    ['/x/* /b?p=:splat', '/x/a&b=c+d', '/b?p=a%26b=c%2Bd'],
    ['/a /b', '/a?', '/b?'],
    ['/a id=:id /b/:id', '/a?id=7', '/b/7'],
    ['/a id=:id /b/:id', '/a?id=a%2Fb%20c', '/b/a%2Fb%20c'],
    ['/a id=:id /b/:id', '/a?x=1&id=7&id=8&y=2', '/b/7?x=1&y=2'],
    ['/a id=:id /b/:id', '/a', null],
    ['/a id=:id /b/:id', '/a?id=..', null],
    ['/a id=:id /b?n=:id', '/a?id=1%262', '/b?n=1%262'],
    ['/a tag=new /b', '/a?tag=new', '/b'],
    ['/a tag=new /b', '/a?tag=old', null],
    ['/a t%61g=n%65w /b', '/a?ta%67=new', '/b'],
    ['/about /about/', '/about', '/about/'],
    ['/about /about/', '/about/', null],
    ['/* https://site.test/:splat', '/a?q=1', null],
    ['/* https://site.test:443/:splat', '/a', null],
    ['/* https://other.test/:splat', '/a', 'https://other.test/a'],
    ['https://site.test/a /b', '/a', '/b'],
    ['http://SITE.test:8080/a /b', '/a', '/b'],
    ['https://other.test/a /b', '/a', null],
    ['/app/* 200', '/app/x', '/x'],
    ['/a /b # see below', '/a', '/b'],
    ['\t/a  \t/ü"', '/a', '/%C3%BC%22'],
    ['/gone 410', '/gone', undefined as unknown as string],
  ]
  test.each(rows)('%s takes %s: %s', (line, address, href) => expect(led(line, address)).toBe(href as string))
})

describe('a line that is refused', () => {
  const rows: [line: string, reason: RegExp][] = [
    ['a /b', /must begin with/],
    ['/a', /no target/],
    ['/a 301', /no target/],
    ['/a/b 200', /no target/],
    ['/a x=1', /no target/],
    ['/a /b 0301', /no status/],
    ['/a /b 418', /no status/],
    ['/a /b moved', /no status/],
    ['/a /b 301 302', /neither/],
    ['/a //evil.test', /\/\//],
    ['/a /\\evil.test', /backslash/],
    ['/a /b\\c', /backslash/],
    ['/a /b\rc', /control/],
    ['/a https://user@b.test/', /user or a password/],
    ['/a https://u:p@b.test/', /user or a password/],
    ['/a https://u:p@b.test/ 200', /user or a password/],
    ['/a https:///b', /host/],
    ['/:x https://:x.b.test/', /placeholder/],
    ['/* https://b.test:splat', /placeholder/],
    ['/:x https://b.test?:x', /placeholder/],
    ['/a ftp://b.test', /no status/],
    ['/a*b* /c', /more than one/],
    ['/a?x /b', /\? or #/],
    ['/a#x /b', /\? or #/],
    ['/:a/:a /b', /twice/],
    ['/:a id=:a /b', /twice/],
    ['/:splat /b', /splat/],
    ['/:a.html /b', /whole segment/],
    ['/a id=:splat /b', /placeholder/],
    ['/a id=1 id=2 /b', /twice/],
    ['/a /b 301 Country=de', /not supported/],
    ['/a /b Sign=x', /not supported/],
    ['/a /b 301 Role=chief', /not a role/],
    ['/a /b 301 Role=', /not a role/],
    ['/a /b 301 Language=d_e', /not a language/],
    ['/a /b 301 Cookie=a Cookie=b', /twice/],
    ['https://b.test /b', /no path/],
    ['https://user@b.test/a /b', /name a host/],
    ['/a http://b.test/ 200', /https/],
    ['/a https://localhost/ 200', /itself/],
    ['/a https://b.test/ 404', /must be a path/],
    [`/a /${'b'.repeat(2000)}`, /longer than 2000/],
  ]
  test.each(rows)('%s', (line, reason) => {
    const { lines, refused, problems } = parseRedirects(`/ok /b\n${line}\n/fine /b`)
    expect(lines.map(({ line: number }) => number)).toEqual([1, 3])
    expect(refused).toBe(1)
    expect(problems).toEqual([{ line: 2, message: expect.stringMatching(reason) }])
  })
})

test('lines end in LF or CRLF; empty ones and comments are skipped', () => {
  const { lines, problems } = parseRedirects('# first\r\n\r\n/a /b\r\n  # c\n\n/c /d 302!')
  expect(lines.map(({ line, status, force }) => [line, status, force])).toEqual([
    [3, 301, false],
    [6, 302, true],
  ])
  expect(problems).toEqual([])
})

test('conditions are kept by key, in any case', () => {
  const [line] = parseRedirects('/a /b 302 language=de,fr COOKIE=x Role=viewer,admin').lines
  expect(line?.conditions).toEqual({ Language: ['de', 'fr'], Cookie: ['x'], Role: ['viewer', 'admin'] })
})

test('2,000 exact lines and 100 others count', () => {
  const many = (count: number, make: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => make(n))
  const text = [...many(2_001, (n) => `/a${n} /b`), ...many(101, (n) => `/c${n}/* /b`), '/last /b'].join('\n')
  const { lines, refused, problems } = parseRedirects(text)
  expect([lines.length, refused]).toEqual([2_100, 3])
  expect(problems.map(({ line }) => line)).toEqual([2_001, 2_102, 2_103])
  expect(problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^there are 2000 lines without/),
    ...Array(2).fill(expect.stringMatching(/2000 lines without .* and 100 with/)),
  ])
})
