import { afterAll, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { failureOf, outboundFixtures, textOf } from '../../testing/outbound-fixture.ts'
import { answer, onRequest } from '../../testing/tls-backend.ts'

const { setUp, close } = outboundFixtures()
afterAll(close)

test('event streams give their turns back to waiting and to new requests', async () => {
  const { backend, send } = setUp({ limits: { maxInFlight: 1, maxWaiting: 1 } })
  const streams: Socket[] = []
  const { port } = await backend((socket) =>
    onRequest(socket, (head) => {
      const isListening = head.startsWith('GET /events')
      if (isListening) streams.push(socket)
      if (!isListening) answer(socket, 'fine')
      else socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n')
    }),
  )
  const listen = () => send(port, { target: '/events' })
  const listening = [listen()]
  const waiting = send(port)
  await listening[0]
  expect(await textOf((await waiting).body)).toBe('fine')
  for (let count = 2; count <= 16; count++) {
    listening.push(listen())
    await listening.at(-1)
  }
  expect(await textOf((await send(port)).body)).toBe('fine')
  // One more than there are places for event streams keeps its turn until it ends.
  const last = await listen()
  const late = failureOf(send(port, { headTimeoutMs: 50 }))
  expect(await late).toEqual({
    kind: 'timeout',
    message: `The request waited 50 ms for its turn: too many requests to backend.test:${port} are in progress`,
  })
  for (const socket of streams) socket.end()
  for (const response of [last, ...(await Promise.all(listening))]) await textOf(response.body)
  expect(await textOf((await send(port)).body)).toBe('fine')
})

test('when event streams end together, no more connections are kept than there are turns', async () => {
  const { backend, send } = setUp({ limits: { maxInFlight: 1, maxWaiting: 1 } })
  const streams: Socket[] = []
  const gone: Promise<void>[] = []
  const chunked = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
  const { port, received } = await backend((socket) => {
    gone.push(new Promise((resolve) => socket.once('close', () => resolve())))
    onRequest(socket, (head) => {
      if (head.startsWith('POST')) return answer(socket, 'fine')
      streams.push(socket)
      return socket.write(`${chunked}1\r\nx\r\n`)
    })
  })
  const bodies = []
  for (let count = 1; count <= 3; count++) bodies.push((await send(port)).body)
  const [first, ...others] = streams
  first?.write('0\r\n\r\n')
  expect(await textOf(bodies[0] ?? null)).toBe('x')
  for (const socket of others) socket.write('0\r\n\r\n')
  for (const body of bodies.slice(1)) expect(await textOf(body)).toBe('x')
  await Promise.all(gone.slice(1))
  expect(await textOf((await send(port, { method: 'POST' })).body)).toBe('fine')
  expect(received).toHaveLength(3)
})

test('event streams sent instead of WebSockets keep the turns of WebSockets', async () => {
  const { backend, outbound } = setUp({ limits: { maxInFlight: 1, maxWaiting: 1 } })
  const { port } = await backend((socket) =>
    onRequest(socket, () =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n'),
    ),
  )
  const url = new URL(`https://backend.test:${port}/events`)
  const listen = (headTimeoutMs: number) =>
    outbound.upgrade(url, { headers: [], headTimeoutMs, idleTimeoutMs: 60_000 })
  for (let count = 1; count <= 16; count++) expect((await listen(60_000)).status).toBe(200)
  expect((await failureOf(listen(50))).message).toStartWith('The request waited 50 ms for its turn')
})
