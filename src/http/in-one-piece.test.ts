import { afterAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { inOnePiece } from './in-one-piece.ts'

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    const size = Number(pathname.slice(1))
    await new Promise((resolve) => setImmediate(resolve))
    const type = search === '' ? { 'content-type': 'text/plain' } : undefined
    const headers = { 'x-one': '1', 'x-two': '2', ...type }
    return new Response(inOnePiece(bytesOf(size), type !== undefined), { headers })
  },
})
afterAll(() => server.stop(true))

const SIZES = [0, 1, 15 * 1024 - 1, 15 * 1024, 15 * 1024 + 1, 100_000, 3_000_000]

const KINDS = SIZES.flatMap((size): [number, string][] => [
  [size, 'with a type'],
  [size, 'without one'],
])

test.each(KINDS)('%d bytes %s arrive complete, with their length', async (size, kind) => {
  const isTyped = kind === 'with a type'
  const answer = await fetch(`http://127.0.0.1:${server.port}/${size}${isTyped ? '' : '?untyped'}`)
  expect(answer.headers.get('content-type')).toBe(isTyped ? 'text/plain' : null)
  expect(answer.headers.get('content-length')).toBe(`${size}`)
  expect(answer.headers.get('transfer-encoding')).toBeNull()
  expect(answer.headers.get('x-two')).toBe('2')
  expect(Buffer.from(await answer.bytes()).equals(bytesOf(size))).toBe(true)
})

test.each(SIZES)('%d bytes can be read without a server', async (size) => {
  const read = await Promise.all(
    [true, false].map((isTyped) => new Response(inOnePiece(bytesOf(size), isTyped)).bytes()),
  )
  expect(read.map((bytes) => Buffer.from(bytes).equals(bytesOf(size)))).toEqual([true, true])
})

test('a slow visitor gets everything, and the next response on the same connection', async () => {
  const socket = connect(server.port ?? 0, '127.0.0.1')
  const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  await new Promise<void>((resolve) => socket.on('connect', () => resolve()))
  const pieces: Buffer[] = []
  const whole = Promise.withResolvers<void>()
  socket.on('data', (piece) => {
    pieces.push(Buffer.from(piece))
    if (Buffer.concat(pieces).length > 3_000_000) whole.resolve()
  })
  socket.pause()
  socket.write('GET /3000000 HTTP/1.1\r\nhost: a\r\n\r\n')
  await (await fetch(`http://127.0.0.1:${server.port}/3000000`)).bytes()
  socket.resume()
  await whole.promise
  socket.write('GET /5 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  await ended
  const [, first = '', second = ''] = Buffer.concat(pieces).toString('latin1').split('HTTP/1.1 200 OK')
  expect(first.slice(first.indexOf('\r\n\r\n') + 4)).toBe(bytesOf(3_000_000).toString('latin1'))
  expect(second).toEndWith(`\r\n\r\n${bytesOf(5).toString('latin1')}`)
})

function bytesOf(size: number): Buffer {
  return Buffer.alloc(size, 'The quick brown fox jumps over the lazy dog. ')
}
