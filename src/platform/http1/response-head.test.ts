import { describe, expect, test } from 'bun:test'
import { Http1Error, MAX_FIELDS, parseResponseHead } from './response-head.ts'

const parse = (...lines: string[]) => parseResponseHead(`${lines.join('\r\n')}\r\n`)
const OK = 'HTTP/1.1 200 OK'

const framings: [name: string, lines: string[], framing: object][] = [
  ['a length', [OK, 'Content-Length: 12'], { kind: 'length', length: 12 }],
  ['a length of 0', [OK, 'content-length:0'], { kind: 'length', length: 0 }],
  ['chunks', [OK, 'Transfer-Encoding: Chunked'], { kind: 'chunked' }],
  ['neither', [OK], { kind: 'close' }],
  ['HTTP/1.0', ['HTTP/1.0 200 OK', 'Content-Length: 3'], { kind: 'length', length: 3 }],
]

test.each(framings)('%s frames the body', (_name, lines, framing) => {
  expect(parse(...lines).framing).toEqual(framing as never)
})

const persistence: [lines: string[], expected: boolean][] = [
  [[OK], true],
  [[OK, 'Connection: keep-alive'], true],
  [[OK, 'Connection: Close'], false],
  [[OK, 'Connection: x, close'], false],
  [[OK, 'Connection: keep-alive', 'Connection: close'], false],
  [['HTTP/1.0 200 OK'], false],
  [['HTTP/1.0 200 OK', 'Connection: Keep-Alive'], true],
]

test.each(persistence)('%p persists: %p', (lines, expected) => {
  expect(parse(...lines).isPersistent).toBe(expected)
})

test('names become lower case, values lose only the space around them', () => {
  const head = parse(
    'HTTP/1.1 418 I\xb4m a teapot',
    'X-A:\t b\xa0c \t',
    'Set-Cookie: a',
    'set-cookie: b',
    'X-Empty:',
  )
  expect(head.status).toBe(418)
  expect(head.headers).toEqual([
    ['x-a', 'b\xa0c'],
    ['set-cookie', 'a'],
    ['set-cookie', 'b'],
    ['x-empty', ''],
  ])
})

const untidy: [name: string, text: string][] = [
  ['LF alone', 'HTTP/1.1 200 OK\nA: b\nContent-Length: 5\n'],
  ['LF alone at some lines', 'HTTP/1.1 200 OK\r\nA: b\nContent-Length: 5\r\n'],
  ['a space before a colon', 'HTTP/1.1 200 OK\r\nA : b\r\nContent-Length : 5\r\n'],
  ['tabs and spaces before a colon', 'HTTP/1.1 200 OK\nA\t \t:b\nContent-Length\t:5\n'],
]

test.each(untidy)('%s is read as the sender meant it', (_name, text) => {
  const head = parseResponseHead(text)
  expect(head.headers).toEqual([
    ['a', 'b'],
    ['content-length', '5'],
  ])
  expect(head.framing).toEqual({ kind: 'length', length: 5 })
})

test('a reason phrase may be empty or missing', () => {
  expect(parse('HTTP/1.1 204 ').status).toBe(204)
  expect(parse('HTTP/1.1 204').status).toBe(204)
})

test('Keep-Alive says how long an idle connection is kept', () => {
  expect(parse(OK, 'Keep-Alive: timeout=5, max=100').keepAliveSeconds).toBe(5)
  expect(parse(OK, 'Keep-Alive: max=100').keepAliveSeconds).toBeNull()
})

const refused: [name: string, text: string][] = [
  ['nothing', '\r\n'],
  ['another protocol', 'SSH-2.0-OpenSSH\r\n'],
  ['HTTP/2', 'HTTP/2 200 OK\r\n'],
  ['HTTP/1.2', 'HTTP/1.2 200 OK\r\n'],
  ['lower case', 'http/1.1 200 OK\r\n'],
  ['a space in front', ' HTTP/1.1 200 OK\r\n'],
  ['two spaces', 'HTTP/1.1  200 OK\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n'],
  ['a status of 600', 'HTTP/1.1 600 OK\r\n'],
  ['a status of 099', 'HTTP/1.1 099 OK\r\n'],
  ['a bare CR in the status line', 'HTTP/1.1 200 O\rK\r\n'],
  ['a NUL in the status line', 'HTTP/1.1 200 O\0K\r\n'],
  ['a bare CR', 'HTTP/1.1 200 OK\r\nA: b\rC: d\r\n'],
  ['a NUL in a value', 'HTTP/1.1 200 OK\r\nA: b\0\r\n'],
  ['a control character', 'HTTP/1.1 200 OK\r\nA: \x7f\r\n'],
  ['a folded line', 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n'],
  ['a folded first line', 'HTTP/1.1 200 OK\r\n A: b\r\n'],
  ['a line folded by a tab', 'HTTP/1.1 200 OK\r\nA: b\r\n\tc\r\n'],
  ['a bare CR before the end of a line', 'HTTP/1.1 200 OK\nA: b\r\r\n'],
  ['a folded line after a bare LF', 'HTTP/1.1 200 OK\nA: b\n c\n'],
  ['two lengths, one with a space', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length : 5\r\n'],
  ['chunks with a space, and a length', 'HTTP/1.1 200 OK\nTransfer-Encoding : chunked\nContent-Length: 5\n'],
  ['a space before the name and the colon', 'HTTP/1.1 200 OK\r\n A : b\r\n'],
  ['a name that is empty', 'HTTP/1.1 200 OK\r\n: b\r\n'],
  ['a name with a space', 'HTTP/1.1 200 OK\r\nA B: c\r\n'],
  ['a name that is not a token', 'HTTP/1.1 200 OK\r\nA(b): c\r\n'],
  ['a line without a colon', 'HTTP/1.1 200 OK\r\nnothing\r\n'],
  ['a length with a sign', 'HTTP/1.1 200 OK\r\nContent-Length: +5\r\n'],
  ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n'],
  ['a hexadecimal length', 'HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n'],
  ['an empty length', 'HTTP/1.1 200 OK\r\nContent-Length:\r\n'],
  ['a length with a fraction', 'HTTP/1.1 200 OK\r\nContent-Length: 5.0\r\n'],
  ['a length over 2^53', 'HTTP/1.1 200 OK\r\nContent-Length: 9007199254740993\r\n'],
  ['a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n'],
  ['the same length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n'],
  ['chunks and a length', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n'],
  ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n'],
  ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n'],
  ['another coding and chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n'],
  ['chunks twice', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n'],
  ['chunks in two fields', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n'],
  ['a coding like chunked', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n'],
  ['a coding in quotes', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: "chunked"\r\n'],
  ['chunked behind a vertical tab', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: \x0bchunked\r\n'],
  ['chunks with HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n'],
  ['too many fields', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(MAX_FIELDS + 1)}`],
]

describe('rejects', () => {
  test.each(refused)('%s', (_name, text) => {
    expect(() => parseResponseHead(text)).toThrow(Http1Error)
  })
})

test('accepts as many fields as are allowed', () => {
  expect(parseResponseHead(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(MAX_FIELDS)}`).headers).toHaveLength(
    MAX_FIELDS,
  )
})
