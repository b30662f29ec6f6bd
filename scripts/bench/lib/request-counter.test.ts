import { expect, test } from 'bun:test'
import { RequestCounter, type SeenRequest } from './request-counter.ts'

const stream = [
  'GET /a HTTP/1.1\r\nHost: x\r\n\r\n',
  'POST /b HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello',
  'PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n',
  'DELETE /d HTTP/1.1\r\n\r\n',
].join('')

const expected: SeenRequest[] = [
  { method: 'GET', path: '/a', bodyBytes: 0 },
  { method: 'POST', path: '/b', bodyBytes: 5 },
  { method: 'PUT', path: '/c', bodyBytes: 13 },
  { method: 'DELETE', path: '/d', bodyBytes: 0 },
]

test.each([1, 2, 3, 7, 50, 1000])('counts requests and bodies that arrive %p bytes at a time', (step) => {
  const seen: SeenRequest[] = []
  const counter = new RequestCounter(seen)
  for (let at = 0; at < stream.length; at += step) counter.push(Buffer.from(stream.slice(at, at + step)))
  expect(seen).toEqual(expected)
})
