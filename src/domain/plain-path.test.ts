import { expect, test } from 'bun:test'
import { encodePath } from './asset-path.ts'
import { behindPrefix, plainPath } from './plain-path.ts'

const NFC = '/caf\u00e9'

test.each([
  ['/', '/'],
  ['/a/b.html', '/a/b.html'],
  ['/%61%2Fb', '/a%2Fb'],
  ['/%40me/', '/@me/'],
  ['/a%20b', '/a b'],
  ['/a+b', '/a+b'],
  ['/caf%C3%A9', NFC],
  ['/cafe%CC%81', NFC],
  ['/cafe\u0301', NFC],
  ['/%F0%9F%98%80', '/😀'],
  ['/%EF%BB%BFa', '/\ufeffa'],
  ['/%25', '/%'],
  ['/%', '/%'],
  ['/%2', '/%2'],
  ['/%zz%61', '/%zza'],
  ['/%2541', '/%41'],
  ['/%252f', '/%2f'],
  ['/%252F', '/%2F'],
  ['/%2f', '/%2F'],
  ['/%5c', '/\\'],
  ['/a%3Fb%23c', '/a?b#c'],
  ['/%00', '/\0'],
  ['/%ff', '/%FF'],
  ['/%e4%b8x%c3%a9', '/%E4%B8xé'],
  ['/%C0%AF', '/%C0%AF'],
  ['/%E0%80%AF', '/%E0%80%AF'],
  ['/%ed%a0%80', '/%ED%A0%80'],
  ['/%F4%90%80%80', '/%F4%90%80%80'],
  ['/%F8%88%80%80%80', '/%F8%88%80%80%80'],
  ['/%C3%A9%2F%FF', '/é%2F%FF'],
  ['//a/./b/../c/', '//a/./b/../c/'],
  ['/%2e%2E/a', '/../a'],
])('%j is %j', (path, plain) => {
  expect(plainPath(path)).toBe(plain)
})

test('every code point is decoded, however its neighbours are broken', () => {
  for (let code = 1; code <= 0x10ffff; code += code < 0x900 ? 1 : 97) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const character = String.fromCodePoint(code)
    const spelled = character === '/' ? '%2F' : encodeURIComponent(character)
    expect(plainPath(`/%ff${spelled}%`)).toBe(
      `/%FF${character === '/' ? '%2F' : character}%`.normalize('NFC'),
    )
  }
})

test.each([
  ['/api/a%7Eb', '/api', '/a%7Eb'],
  ['/%61pi/a%7Eb', '/api', '/a%7Eb'],
  ['/%c3%a9/%c3%a9', '/é', '/%c3%a9'],
  ['/%61%70%69', '/api', ''],
  ['/x', '', '/x'],
  ['/%61', '', '/%61'],
  ['/%40me/%40you', '/@me', '/%40you'],
  ['/a%2fb/c', '/a%2Fb', '/c'],
  ['/100%/%', '/100%', '/%'],
  ['/100%25/%25', '/100%', '/%25'],
  ['/a%25b', '/a%', 'b'],
  ['/%ff/%FF', '/%FF', '/%FF'],
  ['/cafe%CC%81/x%7E', NFC, '/x%7E'],
  ['/cafe%CC%81', '/caf', 'e%CC%81'],
  ['/%E4%BD%A0%E5%A5%BD', '/你', '%E5%A5%BD'],
  // Half of a character: what is left of it is encoded anew.
  ['/a%2Fb', '/a%2', 'Fb'],
  // The mark below is written first and composes last.
  ['/a%CC%96%CC%81x', '/\u00e1', '%CC%96x'],
])('%s without %j leaves %j, byte for byte', (path, prefix, rest) => {
  expect(plainPath(path).startsWith(prefix)).toBe(true)
  expect(behindPrefix(path, prefix)).toBe(rest)
})

test('the address of a file leads to it, whatever its name', () => {
  for (const name of [
    'a b',
    '%41',
    '%2F',
    '%2f',
    'a%2Fb/c',
    '#',
    '?',
    '[x]',
    '"',
    '%',
    '%zz',
    'é',
    '+',
    '&;',
    '😀',
  ])
    expect(plainPath(`/${encodePath(name)}`)).toBe(`/${name}`)
})

test('a long path of escapes takes no time', () => {
  const path = `/${'%CC%81'.repeat(10_000)}`
  expect(plainPath(path)).toHaveLength(10_001)
  expect(behindPrefix(path, plainPath(path).slice(0, 5000))).toBe('%CC%81'.repeat(5001))
  expect(plainPath(`/${'%2F%ff%25'.repeat(7000)}`)).toHaveLength(1 + 7 * 7000)
})
