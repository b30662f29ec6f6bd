import { expect, test } from 'bun:test'
import { foldedName, isClaim, isOursToSay } from './visitor-claims.ts'

test.each([
  ['X-Real-IP', 'x-real-ip'],
  ['X_Real.IP', 'x-real-ip'],
  ['x--real__ip', 'x-real-ip'],
  ['-X-Real-IP_', 'x-real-ip'],
  ["!#$%&'*+.^_`|~", ''],
  ['~a~b~', 'a-b'],
  ['content_length', 'content-length'],
  ['ETag', 'etag'],
])('%s is folded to %s', (name, folded) => {
  expect(foldedName(name)).toBe(folded)
})

test.each([
  'accept',
  'x-custom',
  'x-real',
  'cf-ray',
  'x-requested-with',
  'sec-fetch-site',
  'x-host-name',
  'via',
])('%s is no claim', (name) => {
  expect([isClaim(name), isOursToSay(name)]).toEqual([false, false])
})
