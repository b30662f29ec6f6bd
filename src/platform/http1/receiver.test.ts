import { expect, test } from 'bun:test'
import { KnownHeads } from './known-heads.ts'
import { type ReceivedBody, ResponseReceiver } from './receiver.ts'

const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const TINY = '1\r\nx\r\n'

/** The receiver of a response that has begun, and what it reported. */
function begun() {
  const state = { body: null as ReceivedBody, isPaused: false }
  const receiver = new ResponseReceiver(new KnownHeads(), {
    onAnswer: (_, body) => {
      state.body = body
    },
    onSwitched: () => {},
    onDone: () => {},
    pause: () => {
      state.isPaused = true
    },
    resume: () => {
      state.isPaused = false
    },
    onCancelled: () => {},
  })
  receiver.expect('GET')
  receiver.receive(Buffer.from(HEAD + TINY))
  return { state, receiver }
}

test('a packet of many tiny chunks is passed on in one piece', async () => {
  const { state, receiver } = begun()
  receiver.receive(Buffer.from(TINY.repeat(50_000)))
  receiver.receive(Buffer.from('0\r\n\r\n'))
  if (!(state.body instanceof ReadableStream)) throw new Error('came whole')
  const sizes: number[] = []
  for await (const piece of state.body) sizes.push(piece.length)
  expect(sizes).toEqual([1, 50_000])
})

test('a reader that is behind by many one-byte packets pauses the backend', () => {
  const { state, receiver } = begun()
  for (let packets = 0; packets < 1000; packets++) receiver.receive(Buffer.from(TINY))
  expect(state.isPaused).toBe(true)
})
