import { describe, expect, test } from 'bun:test'
import { parseAccept, rangeFor } from './accept.ts'

const weightOf = (accept: string, type: string): number => rangeFor(parseAccept(accept), type)?.weight ?? 0

describe('the examples of RFC 9110 §12.5.1', () => {
  const WEIGHTS =
    'text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5'
  test.each([
    ['audio/*; q=0.2, audio/basic', 'audio/basic', 1],
    ['audio/*; q=0.2, audio/basic', 'audio/mpeg', 0.2],
    ['audio/*; q=0.2, audio/basic', 'text/html', 0],
    ['text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c', 'text/html', 1],
    ['text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c', 'text/x-c', 1],
    ['text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c', 'text/x-dvi', 0.8],
    ['text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c', 'text/plain', 0.5],
    [WEIGHTS, 'text/plain;format=flowed', 1],
    [WEIGHTS, 'text/plain', 0.7],
    [WEIGHTS, 'text/html', 0.3],
    [WEIGHTS, 'image/jpeg', 0.5],
    [WEIGHTS, 'text/plain;format=fixed', 0.4],
    [WEIGHTS, 'text/html;level=3', 0.3],
  ])('%s: %s has the weight %p', (accept, type, weight) => {
    expect(weightOf(accept, type)).toBe(weight)
  })

  test.each([
    ['text/plain;format=flowed', 'text/plain;format=flowed'],
    ['text/plain', 'text/plain'],
    ['text/html', 'text/*'],
    ['image/png', '*/*'],
  ])('of those that cover %s the most specific one, %s, decides', (type, decides) => {
    const range = rangeFor(parseAccept('text/*, text/plain, text/plain;format=flowed, */*'), type)
    expect([range?.type, ...(range?.parameters ?? [])].join(';')).toBe(decides)
  })
})

test.each([
  ['', []],
  [' , ,', []],
  ['TEXT/HTML', ['text/html;1']],
  ['text/html ; Q=0.50', ['text/html;0.5']],
  ['text/html;q=0', ['text/html;0']],
  ['text/html;q=0.000', ['text/html;0']],
  ['text/html;q=nonsense', ['text/html;1']],
  ['text/html;q=', ['text/html;1']],
  ['text/html;level="1";q=0.5;ext', ['text/html;level=1;ext;0.5']],
  ['text/html;a="x, y;q=0", */*', ['text/html;a=x, y;q=0;1', '*/*;1']],
  ['text/html;a="x\\"y", */*', ['text/html;a=x\\"y;1', '*/*;1']],
  ['text/html;a="never closed, */*', ['text/html;a="never closed, */*;1']],
  ['*; q=.2', ['*/*;0.2']],
])('%j is read as %j', (accept, ranges) => {
  expect(
    parseAccept(accept).map(({ type, parameters, weight }) => [type, ...parameters, weight].join(';')),
  ).toEqual(ranges)
})

test('a long header of quotes takes no time', () => {
  expect(parseAccept('a"'.repeat(30_000))).toHaveLength(1)
  expect(parseAccept(',;"'.repeat(20_000)).length).toBeGreaterThan(0)
})
