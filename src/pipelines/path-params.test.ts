import { expect, test } from 'bun:test'
import { paramsOf } from './path-params.ts'

test.each<[pattern: string, path: string, params: string[]]>([
  ['/users/*', '/users/ann', ['ann']],
  ['/users/*/posts/*', '/users/ann/posts/7', ['ann', '7']],
  ['/users/*/posts/*', '/users/a/posts/b/posts/c', ['a', 'b/posts/c']],
  ['*.json', '/data/a.json', ['/data/a']],
  ['/x*y*z', '/xyz', ['', '']],
  ['/users', '/users', []],
  ['/users/*', '/users/a%20b%2Fc', ['a b/c']],
  ['/users/*', '/users/100%', ['100%']],
  ['/users/*', '/users/100%25', ['100%']],
  ['/users/*', '/users/%2541%252F%2f', ['%41%2F/']],
  ['/@me/*/x', '/%40me/%40you/%78', ['@you']],
  ['/*e\u0301*', '/caf%C3%A9/cafe%CC%81', ['caf', '/caf\u00e9']],
  ['/%2A/*', '/*/a*b', ['a*b']],
])('%s and %s', (pattern, path, params) => {
  expect(Object.values(paramsOf(pattern, path))).toEqual(params)
})

test.each<[pattern: string, path: string, param: string]>([
  ['/users/*', '/%75sers/ann', 'ann'],
  ['/%75sers/*', '/users/ann', 'ann'],
  ['/caf\u00e9/*', '/caf%C3%A9/ann', 'ann'],
  ['/caf\u00e9/*', '/caf%c3%a9/ann', 'ann'],
  ['/a b/*', '/a%20b/ann', 'ann'],
  ['/*/posts', '/ann/p%6Fsts', 'ann'],
])('%s matches %s, and the star matches %s', (pattern, path, param) => {
  expect(paramsOf(pattern, path)).toEqual({ 0: param })
})
