import { afterAll, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { failureOf, outboundFixture, textOf } from '../../testing/outbound-fixture.ts'
import { onRequest } from '../../testing/tls-backend.ts'

const fixture = outboundFixture()
afterAll(() => fixture.close())

const answer = (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))

/** A backend that answers the first request of its only connection at once, and leaves the others to the test. */
async function keptConnection(later: (socket: Socket) => void) {
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  const { port } = await fixture.backend((socket) => {
    void closed(socket).then(resolve)
    onRequest(socket, (_head, index) => (index === 0 ? answer(socket) : later(socket)))
  })
  await fixture.send(port)
  return { port, gone }
}

test('the signal of a request with a prompt response is never created', async () => {
  const { port } = await keptConnection(answer)
  let asked = 0
  const signal = () => {
    asked += 1
    return new AbortController().signal
  }
  for (let i = 0; i < 50; i++) expect(await textOf((await fixture.send(port, { signal })).body)).toBe('ok')
  expect(asked).toBeLessThan(50)
})

test('the signal of a request that lasts ends it, and closes its connection', async () => {
  const { port, gone } = await keptConnection(() => {})
  const visitor = new AbortController()
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const signal = () => {
    resolve()
    return visitor.signal
  }
  const failure = failureOf(fixture.send(port, { signal }))
  await asked
  visitor.abort()
  expect((await failure).kind).toBe('aborted')
  await gone
})

test('a signal that was aborted before its creation also ends it', async () => {
  const { port, gone } = await keptConnection(() => {})
  expect((await failureOf(fixture.send(port, { signal: () => AbortSignal.abort() }))).kind).toBe('aborted')
  await gone
})

test('a request that waits for a connection creates its signal at once', async () => {
  const { port } = await fixture.backend(() => {})
  expect((await failureOf(fixture.send(port, { signal: () => AbortSignal.abort() }))).kind).toBe('aborted')
})

test('a request that waits for its turn creates its signal at once, and leaves the queue', async () => {
  const small = outboundFixture({ limits: { maxInFlight: 1, maxWaiting: 1 } })
  const { port } = await small.backend((socket) => onRequest(socket, () => {}))
  const first = failureOf(small.send(port, { headTimeoutMs: 300 }))
  for (let i = 0; i < 3; i++)
    expect((await failureOf(small.send(port, { signal: () => AbortSignal.abort() }))).kind).toBe('aborted')
  expect((await first).kind).toBe('timeout')
  await small.close()
})

test('the signal still works within a body', async () => {
  const { port, gone } = await keptConnection((socket) =>
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n'),
  )
  const visitor = new AbortController()
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const signal = () => {
    resolve()
    return visitor.signal
  }
  const { body } = await fixture.send(port, { signal })
  await asked
  visitor.abort()
  expect((await failureOf(textOf(body))).kind).toBe('aborted')
  await gone
})
