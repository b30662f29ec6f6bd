import { expect, test } from 'bun:test'
import { KnownHeads } from './known-heads.ts'
import { Http1Error, parseResponseHead } from './response-head.ts'

const head = (more: string) => `HTTP/1.1 200 OK\r\nContent-Length: 3\r\n${more}`

test('a head that came twice is the same object from then on, and isKnown says so', () => {
  const heads = new KnownHeads()
  const [, second, third, fourth] = Array.from({ length: 4 }, () => heads.read(head('X: 1\r\n')))
  expect([second?.isKnown, third?.isKnown, fourth?.isKnown]).toEqual([false, true, true])
  expect(third?.head).toBe(second?.head as never)
  expect(fourth?.head).toBe(second?.head as never)
  expect(third?.head).toEqual(parseResponseHead(head('X: 1\r\n')))
})

test('a different text is a different head, however small the difference', () => {
  const heads = new KnownHeads()
  for (let i = 0; i < 3; i++) heads.read(head('X: 1\r\n'))
  const other = heads.read(head('X: 2\r\n'))
  expect(other.isKnown).toBe(false)
  expect(other.head.headers).toContainEqual(['x', '2'])
  expect(heads.read(head('x: 1\r\n')).isKnown).toBe(false)
})

test('an invalid head never becomes known', () => {
  const heads = new KnownHeads()
  for (let i = 0; i < 4; i++) expect(() => heads.read(head('X y: 1\r\n'))).toThrow(Http1Error)
})

test('a long head is parsed again each time', () => {
  const heads = new KnownHeads()
  const text = head(`X: ${'x'.repeat(3000)}\r\n`)
  for (let i = 0; i < 4; i++) expect(heads.read(text).isKnown).toBe(false)
})

test('too many different heads clear the cache', () => {
  const heads = new KnownHeads()
  const twice = (i: number) => [1, 2].map(() => heads.read(head(`X: ${i}\r\n`)).isKnown)
  for (let i = 0; i < 257; i++) expect(twice(i)).toEqual([false, false])
  expect(heads.read(head('X: 256\r\n')).isKnown).toBe(true)
  expect(heads.read(head('X: 0\r\n'))).toMatchObject({ isKnown: false, head: { status: 200 } })
})
