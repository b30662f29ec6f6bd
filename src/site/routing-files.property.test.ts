import { expect, test } from 'bun:test'
import { plainPath } from '../domain/plain-path.ts'
import { visitorFacts } from '../domain/routing/conditions.ts'
import { firstLine } from '../domain/routing/first-line.ts'
import { parseHeaders } from '../domain/routing/headers.ts'
import { type Asked, parseRedirects, type RedirectLine, resultOf } from '../domain/routing/redirects.ts'
import { indexSources } from '../domain/routing/source-index.ts'
import { textOfFile } from '../domain/routing/text-lines.ts'
import { rounds, seedOf } from '../testing/rounds.ts'
import { seededRandom } from '../testing/seeded-random.ts'

const HOST = 'site.test'
const random = seededRandom(seedOf('routing files'))
const below = (count: number): number => Math.floor(random() * count)
const one = <T>(items: readonly T[]): T => items[below(items.length)] as T
const several = (most: number, make: () => string, between = ''): string =>
  Array.from({ length: below(most + 1) }, make).join(between)

const SEGMENTS = ['a', 'b', 'ab', 'A', 'ü', '%61', '%C3%BC', 'a%2Fb', '', '..', '%2e%2e', ':x', 'x*', '*']
const SOURCES = [...SEGMENTS.filter((text) => !text.includes('.')), ':x', ':y', '*', 'a*b', '*b', 'a*']
const TARGETS = [
  '/t',
  '/:x',
  '/:splat',
  '/t/:splat/:x',
  'https://o.test/:splat',
  '/t?q=:x',
  '/a',
  '/a/',
  '/:x/:y#:id',
]
const ENDS = [
  '',
  '301',
  '302!',
  '200',
  '200!',
  '404',
  '410!',
  '308 Language=de',
  '302 Cookie=c',
  '200 Role=viewer',
]
const QUERIES = ['', '', 'id=:id ', 'id=1 ']

const path = (pieces: readonly string[]): string => `/${several(3, () => one(pieces), '/')}`
const line = (): string =>
  `${one(['', '', '', `https://${HOST}`, 'https://o.test'])}${path(SOURCES)} ${one(QUERIES)}${one(TARGETS)} ${one(ENDS)}`
const askedFor = (whole: string): Asked => {
  const [, before = '', search = ''] = /^([^?]*)(.*)$/s.exec(whole) ?? []
  return { host: HOST, hostHeader: HOST, path: before, plain: plainPath(before), search }
}
const facts = (headers: Record<string, string>) =>
  visitorFacts(new Headers(headers), (roles) => roles.includes('viewer'))

/** A plain reading: every line from the top, matched by an expression of its own. */
function readPlainly(lines: readonly RedirectLine[], asked: Asked): RedirectLine | undefined {
  return lines.find((one) => {
    const { text, host } = one.source
    if (host !== null && host !== asked.host) return false
    return takes(text.replace(/^https?:\/\/[^/]*/, ''), asked.plain) && resultOf(one, asked) !== null
  })
}

const withoutEnd = (text: string): string => (text.endsWith('/') ? text.slice(0, -1) : text)

function takes(source: string, plain: string): boolean {
  const parts = withoutEnd(source).split(/(\*|(?<=\/):[A-Za-z]\w*(?=\/|$))/)
  const pieces = parts.map((part) => {
    if (part === '*') return '.*'
    return /^:[A-Za-z]/.test(part) ? '[^/]+' : RegExp.escape(plainPath(part))
  })
  const isOpen = parts.at(-1) === '' && parts.at(-2) === '*'
  const whole = pieces.join('')
  const bare = isOpen && withoutEnd(source).endsWith('/*') ? `|${whole.slice(0, -'\\/.*'.length)}` : ''
  return new RegExp(`^(?:${whole}${bare})$`, 's').test(isOpen ? plain : withoutEnd(plain))
}

test('the compiled form with its index answers as a plain reading from top to bottom does', () => {
  let taken = 0
  for (let round = 0; round < rounds(2_000, 100_000); round++) {
    const { lines } = parseRedirects(several(12, line, '\n'))
    const index = indexSources(JSON.parse(JSON.stringify(lines)) as RedirectLine[])
    for (let request = 0; request < 5; request++) {
      const asked = askedFor(`${path(SEGMENTS)}${one(['', '', '/', '?id=1', '?id=2&b=3'])}`)
      const all = { asked, facts: facts({ 'accept-language': 'de', cookie: 'c=1' }), isWanted: () => true }
      const found = firstLine(index, all)?.line
      expect([asked, found]).toEqual([asked, readPlainly(lines, asked)])
      if (found !== undefined) taken += 1
    }
  }
  expect(taken).toBeGreaterThan(0)
})

const HOSTILE = [
  ...'/\\:*#?&=%@!.,; \t\r\n\0a"<>[]{}|^`~ü😀\u202e\ud800',
  ...[
    '//',
    '/\\',
    '%2F',
    '%5C',
    '%0d%0a',
    '%2e%2e',
    '%25',
    '%',
    ':splat',
    ':x',
    '..',
    'https://',
    'evil.test',
    '\u0301',
  ],
  ...[
    'Cookie=',
    'Role=viewer',
    '200',
    '301!',
    '404',
    'id=:id',
    'id=',
    'site.test',
    'localhost',
    '127.1',
    '\u037e',
  ],
]
const hostile = (most: number): string => several(most, () => one(HOSTILE))
const fuzzRounds = rounds(20_000, 1_000_000)

test('any bytes are read as routing files, and each line is in force or refused', () => {
  for (let round = 0; round < fuzzRounds; round++) {
    const text = several(
      4,
      () => `${one(['/', '', 'http://h'])}${hostile(8)} ${one(['', '/'])}${hostile(8)}`,
      one(['\n', '\r\n', '\r']),
    )
    const read = textOfFile(round % 7 === 0 ? Buffer.from(text, 'latin1') : Buffer.from(text))
    if (read.text === null) continue
    const redirects = parseRedirects(read.text)
    const headers = parseHeaders(read.text)
    const count = read.text.split('\n').length
    expect(redirects.lines.length + redirects.refused).toBeLessThanOrEqual(count)
    expect(headers.blocks.length + headers.refused).toBeLessThanOrEqual(2 * count)
    for (const { set } of headers.blocks)
      for (const { name, value } of set) {
        expect(name).toMatch(/^[!#$%&'*+\-.^_`|~\da-z]+$/)
        for (const part of value) if (typeof part === 'string') expect(part).toMatch(/^[\t\x20-\x7e]+$/)
      }
  }
})

const LINES = [
  '/x/* /:splat',
  '/x/* /y/:splat',
  '/x/* /y?p=:splat#:splat',
  '/x/:a/:b /:a/:b',
  '/x/*z /:splat:splat',
  '/x/* https://named.test/:splat',
  '/x/* https://named.test/.:splat 200',
  '/x id=:id /:id',
  '/x id=:id https://named.test/:id?q=:id',
  '/x/* /%:splat',
  '/x* /..:splat/',
].flatMap((text) => parseRedirects(text).lines)

test('no request leads to another host, to a control character or to a second reading', () => {
  let taken = 0
  for (let round = 0; round < fuzzRounds; round++) {
    const led = one(LINES)
    const asked = askedFor(
      `/x${one(['', '/', '/'])}${hostile(8).replaceAll('?', '')}${one(['', '?', '?id='])}${hostile(5)}`,
    )
    const found = resultOf(led, asked)
    if (found?.result == null) continue
    taken += 1
    checkResult(led, found.result.href)
  }
  expect(taken).toBeGreaterThan(0)
})

function checkResult(led: RedirectLine, href: string): void {
  const base = `https://${HOST}`
  const host = led.target?.origin === null ? HOST : 'named.test'
  expect(href).toMatch(/^[\x21-\x5b\x5d-\x7e]+$/)
  expect([href, new URL(href, base).host]).toEqual([href, host])
  const { pathname } = new URL(href, base)
  expect([
    href,
    /(?:^|\/)\.\.?(?:\/|$)/.test(decodeURIComponent(pathname.replace(/%(?![0-7][\da-f])/gi, ''))),
  ]).toEqual([href, false])
}
