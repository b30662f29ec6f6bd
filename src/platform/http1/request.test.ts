import { describe, expect, test } from 'bun:test'
import { OutboundError } from '../outbound/error.ts'
import { type RequestBody, toWireRequest } from './request.ts'

const base = {
  method: 'GET',
  target: '/',
  host: 'api.test',
  headers: [] as [string, string][],
  body: null as RequestBody,
  upgrade: null as string | null,
}
const textOf = (parts: Partial<typeof base>) => toWireRequest({ ...base, ...parts }).head
const stream = () => new ReadableStream<Uint8Array>()

test('path and query go out byte for byte', () => {
  expect(textOf({ target: '/a/%2e%2e//b?x=%00&y=[]' })).toStartWith(
    'GET /a/%2e%2e//b?x=%00&y=[] HTTP/1.1\r\n',
  )
})

const framings: [name: string, parts: Partial<typeof base>, expected: string | null][] = [
  ['GET without a body', {}, null],
  ['POST without a body', { method: 'POST' }, 'content-length: 0'],
  ['bytes', { method: 'POST', body: new Uint8Array(7) }, 'content-length: 7'],
  ['a stream', { method: 'POST', body: stream() }, 'transfer-encoding: chunked'],
  [
    'a stream with a length',
    { method: 'POST', body: stream(), headers: [['Content-Length', '9']] },
    'content-length: 9',
  ],
  [
    'bytes with another length',
    { method: 'POST', body: new Uint8Array(7), headers: [['content-length', '9']] },
    'content-length: 7',
  ],
]

test.each(framings)('%s is framed', (_name, parts, expected) => {
  const found = textOf(parts)
    .split('\r\n')
    .filter((line) => /^(content-length|transfer-encoding):/.test(line))
  expect(found).toEqual(expected === null ? [] : [expected])
})

test('the caller cannot set headers of the connection', () => {
  const headers: [string, string][] = [
    ['Connection', 'x-secret'],
    ['Keep-Alive', '1'],
    ['TE', 'trailers'],
    ['Trailer', 'x'],
    ['Transfer-Encoding', 'chunked'],
    ['Upgrade', 'h2c'],
    ['Expect', '100-continue'],
    ['Proxy-Connection', 'x'],
    ['X-Kept', 'yes'],
  ]
  expect(textOf({ headers })).toBe('GET / HTTP/1.1\r\nhost: api.test\r\nx-kept: yes\r\n\r\n')
})

test('a host header of the caller replaces that of the target', () => {
  expect(textOf({ headers: [['Host', 'shop.test:8443']] })).toBe(
    'GET / HTTP/1.1\r\nhost: shop.test:8443\r\n\r\n',
  )
})

test('an upgrade names its protocol', () => {
  expect(textOf({ upgrade: 'websocket' })).toEndWith('\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n')
})

const refused: [name: string, parts: Partial<typeof base>][] = [
  ['CR LF in a value', { headers: [['a', 'b\r\nc: d']] }],
  ['LF in a value', { headers: [['a', 'b\nc: d']] }],
  ['CR in a value', { headers: [['a', 'b\rc: d']] }],
  ['NUL in a value', { headers: [['a', '\0']] }],
  ['a value beyond Latin-1', { headers: [['a', '\u010d\u010a']] }],
  ['CR LF in a name', { headers: [['a\r\nb', 'c']] }],
  ['a colon in a name', { headers: [['a:b', 'c']] }],
  ['an empty name', { headers: [['', 'c']] }],
  ['CR LF in the path', { target: '/ HTTP/1.1\r\nx: y' }],
  ['a space in the path', { target: '/a b' }],
  ['a fragment in the path', { target: '/a#b' }],
  ['a path beyond ASCII', { target: '/\u010d\u010a' }],
  ['a path without a slash', { target: 'a' }],
  ['a whole URL as path', { target: 'https://evil.test/' }],
  ['an empty path', { target: '' }],
  ['CR LF in the method', { method: 'GET / HTTP/1.1\r\n\r\nGET' }],
  ['a method that is not a token', { method: 'GE T' }],
  ['CONNECT', { method: 'CONNECT' }],
  ['a host with a space', { headers: [['host', 'a b']] }],
  ['a host with a slash', { headers: [['host', 'a/b']] }],
  ['a host with a user', { headers: [['host', 'a@b']] }],
  ['an empty host', { headers: [['host', '']] }],
  ['a length that is not a number', { body: stream(), headers: [['content-length', '1x']] }],
  [
    'two lengths',
    {
      body: stream(),
      headers: [
        ['content-length', '1'],
        ['content-length', '2'],
      ],
    },
  ],
]

describe('rejects', () => {
  test.each(refused)('%s', (_name, parts) => {
    expect(() => textOf(parts)).toThrow(OutboundError)
  })
})

const repeatable: [method: string, body: RequestBody, expected: boolean][] = [
  ['GET', null, true],
  ['HEAD', null, true],
  ['PUT', new Uint8Array(1), true],
  ['DELETE', null, true],
  ['PUT', stream(), false],
  ['POST', null, false],
  ['PATCH', new Uint8Array(1), false],
  ['get', null, false],
]

test.each(repeatable)('%s with %p is repeatable: %p', (method, body, expected) => {
  expect(toWireRequest({ ...base, method, body }).isRepeatable).toBe(expected)
})
