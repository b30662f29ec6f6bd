import { expect, test } from 'bun:test'
import { openBackendSocket } from './client.ts'

/** A masked frame of one byte. */
const TINY_FRAME_BYTES = 7

/** A socket over a connection that accepts nothing before `take`. */
function heldBack(maxWaiting: number) {
  const { promise: free, resolve: take } = Promise.withResolvers<void>()
  const sizes: number[] = []
  const ends: [code: number, reason: string][] = []
  const tunnel = {
    readable: new ReadableStream<Uint8Array>(),
    write: async (bytes: Uint8Array) => {
      sizes.push(bytes.length)
      await free
    },
    close: () => {},
  }
  const owner = {
    received: () => {},
    closed: (code: number, reason: string) => void ends.push([code, reason]),
  }
  return { socket: openBackendSocket(tunnel, owner, { messageBytes: 1000, maxWaiting }), take, sizes, ends }
}

test('a flood of tiny messages counts by its bytes, and is sent in one piece after the first', async () => {
  const { socket, take, sizes, ends } = heldBack(100_000 * TINY_FRAME_BYTES)
  for (let sent = 0; sent < 100_000; sent++) socket.send('x')
  take()
  await Bun.sleep(0)
  expect(ends).toEqual([])
  expect(sizes).toEqual([TINY_FRAME_BYTES, 99_999 * TINY_FRAME_BYTES])
})

test('too many waiting bytes close the socket', () => {
  const { socket, ends } = heldBack(10 * TINY_FRAME_BYTES)
  for (let sent = 0; sent < 10; sent++) socket.send('x')
  expect(ends).toEqual([])
  for (let sent = 0; sent < 2; sent++) socket.send('x')
  expect(ends).toEqual([[1013, 'The backend does not read']])
})

test('bytes that were accepted no longer count', async () => {
  const { socket, take, ends } = heldBack(2 * TINY_FRAME_BYTES)
  take()
  for (let sent = 0; sent < 10; sent++) {
    socket.send('x')
    await Bun.sleep(0)
  }
  expect(ends).toEqual([])
})
