import { describe, expect, test } from 'bun:test'
import { BodyReader } from './body-reader.ts'
import { type Framing, Http1Error } from './response-head.ts'

/** Reads `wire` in two parts split after `cut` bytes, and again in pieces of `step` bytes. */
function read(framing: Framing, wire: string, step: number) {
  const reader = new BodyReader(framing)
  const bytes = Buffer.from(wire, 'latin1')
  let content = ''
  let at = 0
  while (at < bytes.length && !reader.isDone) {
    const piece = bytes.subarray(at, at + step)
    at += reader.read(piece, 0, (part) => {
      content += Buffer.from(part).toString('latin1')
    })
  }
  return { content, isDone: reader.isDone, left: bytes.length - at }
}

const CHUNKED: Framing = { kind: 'chunked' }
const BIG = 'x'.repeat(300)

const whole: [name: string, framing: Framing, wire: string, content: string, left: number][] = [
  ['a length', { kind: 'length', length: 5 }, 'helloHTTP', 'hello', 4],
  ['no length', { kind: 'length', length: 0 }, 'rest', '', 4],
  ['no body', { kind: 'none' }, 'rest', '', 4],
  ['no chunk', CHUNKED, '0\r\n\r\nrest', '', 4],
  ['one chunk', CHUNKED, '5\r\nhello\r\n0\r\n\r\n', 'hello', 0],
  ['several chunks', CHUNKED, `5\r\nhello\r\n12C\r\n${BIG}\r\n0\r\n\r\nHTTP`, `hello${BIG}`, 4],
  ['lower case and leading zeros', CHUNKED, `0012c\r\n${BIG}\r\n000\r\n\r\n`, BIG, 0],
  ['extensions', CHUNKED, '5;a=b;c="d"\r\nhello\r\n0 ; z\r\n\r\n', 'hello', 0],
  ['trailers', CHUNKED, '5\r\nhello\r\n0\r\nX-Sum: 1\r\nContent-Length: 99\r\n\r\nrest', 'hello', 4],
  ['line ends as content', CHUNKED, '4\r\n\r\n\r\n\r\n0\r\n\r\n', '\r\n\r\n', 0],
]

describe.each([1, 2, 3, 7, 1000])('in pieces of %d bytes', (step) => {
  test.each(whole)('reads %s', (_name, framing, wire, content, left) => {
    expect(read(framing, wire, step)).toEqual({ content, isDone: true, left })
  })
})

const broken: [name: string, wire: string][] = [
  ['no size', '\r\nhello\r\n'],
  ['a size that is not a number', 'xyz\r\nhello\r\n'],
  ['a size with a prefix', '0x5\r\nhello\r\n'],
  ['a size with a sign', '+5\r\nhello\r\n'],
  ['a negative size', '-5\r\nhello\r\n'],
  ['a space before the size', ' 5\r\nhello\r\n'],
  ['a space behind the size', '5 \r\nhello\r\n'],
  ['a size with an underscore', '1_0\r\nhello\r\n'],
  ['a size over 2^52', 'fffffffffffff1\r\nhello\r\n'],
  ['a bare LF behind the size', '5\nhello\r\n'],
  ['a CR in an extension', '5;a\rb\r\nhello\r\n'],
  ['a LF in an extension', '5;a\nb\r\nhello\r\n'],
  ['a NUL in an extension', '5;\0\r\nhello\r\n'],
  ['a chunk that is too long', '5\r\nhello!\r\n0\r\n\r\n'],
  ['a bare LF behind a chunk', '5\r\nhello\n0\r\n\r\n'],
  ['a bare CR behind a chunk', '5\r\nhello\r0\r\n\r\n'],
  ['a line without an end', `5;${'a'.repeat(2000)}`],
  ['a trailer that is folded', '0\r\nA: b\r\n c\r\n\r\n'],
  ['a trailer with a space before the colon', '0\r\nA : b\r\n\r\n'],
  ['a trailer without a colon', '0\r\nnothing\r\n\r\n'],
  ['a bare LF at the end', '0\r\n\n'],
  ['too many trailers', `0\r\n${'a: b\r\n'.repeat(201)}\r\n`],
]

describe.each([1, 1000])('in pieces of %d bytes', (step) => {
  test.each(broken)('rejects %s', (_name, wire) => {
    expect(() => read(CHUNKED, wire, step)).toThrow(Http1Error)
  })
})

test('a body without a length has no end of its own', () => {
  expect(read({ kind: 'close' }, 'all of it', 4)).toEqual({ content: 'all of it', isDone: false, left: 0 })
})

test('a truncated chunked body is not done', () => {
  expect(read(CHUNKED, '5\r\nhello\r\n', 3).isDone).toBe(false)
  expect(read(CHUNKED, '5\r\nhello\r\n0\r\n', 3).isDone).toBe(false)
})
