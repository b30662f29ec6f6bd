import { describe, expect, test } from 'bun:test'
import {
  compareSpecificity,
  literalPrefix,
  matchesPath,
  type PathPattern,
  parsePathPattern,
  patternKey,
  readPathPattern,
} from './path-pattern.ts'
import { plainPath } from './plain-path.ts'

function patternOf(source: string): PathPattern {
  const parsed = parsePathPattern(source)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.pattern
}

describe('matchesPath', () => {
  const cases: [pattern: string, path: string, expected: boolean][] = [
    ['/api/*', '/api/users', true],
    ['/api/*', '/api/', true],
    ['/api/*', '/api/v1/users', true],
    ['/api/*', '/api', false],
    ['/api/*', '/apix/users', false],
    ['/api/*', '/API/users', false],
    ['/api/*', '/x/api/users', false],
    ['/api*', '/api', true],
    ['/api*', '/apix', true],
    ['*.json', '/data/a.json', true],
    ['*.json', '/.json', true],
    ['*.json', '.json', true],
    ['*.json', '/a.json/b', false],
    ['*.json', '/ajson', false],
    ['*/feed', '/blog/feed', true],
    ['*/feed', '/feeds', false],
    ['/graphql', '/graphql', true],
    ['/graphql', '/graphql/', false],
    ['/graphql', '/graphql/v2', false],
    ['/graphql', '/GraphQL', false],
    ['/', '/', true],
    ['/', '/a', false],
    ['/*', '/', true],
    ['/*', '/a/b', true],
    ['*', '/', true],
    ['*', '/a/b.c', true],
    ['**', '/a', true],
    ['/api/**', '/api/a/b', true],
    ['/users/*/posts', '/users/7/posts', true],
    ['/users/*/posts', '/users/7/8/posts', true],
    ['/users/*/posts', '/users//posts', true],
    ['/users/*/posts', '/users/posts', false],
    ['/users/*/posts', '/users/7/posts/1', false],
    ['/users/*/posts', '/x/users/7/posts', false],
    ['/users/*/posts/*', '/users/7/posts/1', true],
    ['/users/*/posts/*', '/users/7/posts', false],
    ['/aba*aba', '/aba', false],
    ['/aba*aba', '/ababa', false],
    ['/aba*aba', '/abaaba', true],
    ['*/a/*/b', '/x/a/y/b', true],
    ['*/a/*/b', '/a/b', false],
    ['*/a/*/b', '/a//b', true],
    ['*a*', '/bab', true],
    ['*a*', '/bbb', false],
    ['/x/*b*b', '/x/b', false],
    ['/x/*b*b', '/x/bb', true],
    ['/x/*ab*b', '/x/ab', false],
    ['/a.c', '/abc', false],
    ['/a+(b)', '/a+(b)', true],
    ['/[a-z]/*', '/b/', false],
  ]

  test.each(cases)('%s against %s is %p', (pattern, path, expected) => {
    expect(matchesPath(patternOf(pattern), path)).toBe(expected)
  })

  test('many stars do not slow down a long path that nearly matches', () => {
    const pattern = patternOf(`/${'a*'.repeat(500)}b`)
    expect(matchesPath(pattern, `/${'a'.repeat(20_000)}`)).toBe(false)
    expect(matchesPath(pattern, `/${'a'.repeat(20_000)}b`)).toBe(true)
  })

  test('agrees with a regular expression on every path of up to 5 letters', () => {
    const patterns = ['/*', '/a*', '/*a', '/a*b', '*a*b', '/*a*b*', '/ab*ba', '*', '*b', '/a/*/b', '**a**']
    for (const source of patterns) {
      const oracle = new RegExp(`^${source.replaceAll('*', '.*')}$`)
      const pattern = patternOf(source)
      for (const path of pathsUpTo(5)) expect(matchesPath(pattern, path)).toBe(oracle.test(path))
    }
  })
})

function pathsUpTo(length: number): string[] {
  const paths = ['/']
  for (const path of paths) if (path.length <= length) paths.push(`${path}a`, `${path}b`, `${path}/`)
  return paths
}

test.each([
  ['', 'A path pattern must begin with / or *'],
  ['api/*', 'A path pattern must begin with / or *'],
  ['/\ud800', 'A path pattern must be valid Unicode'],
  [' /api', 'A path pattern must begin with / or *'],
  ['https://a.example/*', 'A path pattern must begin with / or *'],
  ['/api?x=1', 'A path pattern must not contain ? or #: the query is not matched'],
  ['/api#top', 'A path pattern must not contain ? or #: the query is not matched'],
  ['/a\nb', 'A path pattern must not contain control characters'],
  ['/a\0', 'A path pattern must not contain control characters'],
  [`/${'a'.repeat(1024)}`, 'A path pattern must not be longer than 1024 characters'],
])('%j is refused: %s', (source, error) => {
  expect(parsePathPattern(source)).toEqual({ ok: false, error })
})

test.each([
  ['/api/*', '/api'],
  ['/api/v1/*', '/api/v1'],
  ['/api*', '/api'],
  ['/*', ''],
  ['*', ''],
  ['*.json', ''],
  ['*/a/*', ''],
  ['/graphql', '/graphql'],
  ['/graphql/', '/graphql/'],
  ['/users/*/posts', '/users'],
  ['/files/v*/raw/*', '/files/v'],
])('stripPrefix of %s removes %p', (source, expected) => {
  expect(literalPrefix(patternOf(source))).toBe(expected)
})

test('the most specific rule comes first', () => {
  const sorted = [
    { pathPattern: '/api/users/me', method: 'GET' },
    { pathPattern: '/api/users/me', method: 'POST' },
    { pathPattern: '/api/users/me', method: null },
    { pathPattern: '/api/users/*', method: 'DELETE' },
    { pathPattern: '/api/users/*', method: 'GET' },
    { pathPattern: '/api/users/*' },
    { pathPattern: '/api/users/*/*', method: 'GET' },
    { pathPattern: '/health', method: 'GET' },
    { pathPattern: '/api/*', method: 'GET' },
    { pathPattern: '/api/*.json', method: 'GET' },
    { pathPattern: '/web/*', method: null },
    { pathPattern: '/api/*/*', method: 'GET' },
    { pathPattern: '*', method: 'GET' },
    { pathPattern: '*.json', method: 'GET' },
    { pathPattern: '/*', method: null },
  ]
  for (let turn = 0; turn < sorted.length; turn++) {
    const turned = [...sorted.slice(turn), ...sorted.slice(0, turn)].reverse()
    expect(turned.sort(compareSpecificity)).toEqual(sorted)
  }
})

test.each([
  ['/café/*', '/cafe%CC%81/x'],
  ['/cafe\u0301/*', '/caf%C3%A9/x'],
  ['/cafe%CC%81/*', '/caf%c3%a9/x'],
  ['/caf%C3%A9/*', '/%63afe%cc%81/x'],
  ['/*.\u212a', '/x.K'],
  ['/%FF/*', '/%ff/x'],
  ['/%C3/*', '/%c3/x'],
  ['/a b/*', '/a%20b/x'],
  ['/%61%20b/*', '/a%20b/x'],
  ['/@me/*', '/%40me/x'],
  ['/%40me/*', '/@me/x'],
  ['/a%2Fb/*', '/a%2fb/x'],
  ['/a%2fb/*', '/a%2Fb/x'],
  ['/a%3Fb%23', '/a%3fb%23'],
  ['/a%2Ab', '/a*b'],
  ['/a%2Ab', '/a%2ab'],
  ['/%', '/%25'],
  ['/100%25', '/100%'],
  ['/%2541', '/%2541'],
  ['/%zz', '/%25zz'],
  ['/%2', '/%252'],
  ['/%00', '/%00'],
  ['/%C0%AF', '/%c0%af'],
  ['/`{"\\', '/%60%7b%22%5c'],
  [`/${'%25'.repeat(300)}*`, `/${'%25'.repeat(2700)}`],
])('%j matches %s, another spelling of the same', (source, path) => {
  expect(matchesPath(readPathPattern(source), plainPath(path))).toBe(true)
})

test.each([
  ['/a%2Ab', '/axb'],
  ['/a%2Fb/*', '/a/b/x'],
  ['/a/b/*', '/a%2Fb/x'],
  ['/%2541', '/%41'],
  ['/%2541', '/A'],
  ['/A', '/%2541'],
  ['/a%20b/*', '/a%2520b/x'],
])('%j does not match %s, which is another path', (source, path) => {
  expect(matchesPath(readPathPattern(source), plainPath(path))).toBe(false)
})

test('each spelling of a pattern has the same key and the same place, another pattern has another', () => {
  const spellings = ['/a b/*', '/a%20b/*', '/%61%20b/*']
  expect(new Set(spellings.map(patternKey)).size).toBe(1)
  expect(new Set(['/a*', '/a%2A', '/a%2a*', '/a**'].map(patternKey)).size).toBe(4)
  const others = ['/a!/*', '/a-b/*'].map((pathPattern) => ({ pathPattern }))
  for (const pathPattern of spellings)
    expect([...others, { pathPattern }].sort(compareSpecificity).map((one) => one.pathPattern)).toEqual([
      pathPattern,
      '/a!/*',
      '/a-b/*',
    ])
  const methods = [
    { pathPattern: '/a b', method: null },
    { pathPattern: '/a%20b', method: 'GET' },
  ]
  expect(methods.sort(compareSpecificity)[0]?.method).toBe('GET')
})
