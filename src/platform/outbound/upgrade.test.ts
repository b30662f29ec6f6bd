import { afterAll, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { BACKEND, failureOf, outboundFixture, textOf } from '../../testing/outbound-fixture.ts'
import type { UpgradeRequest } from '../outbound.ts'

const fixture = outboundFixture()
afterAll(() => fixture.close())

const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n\r\n'

const upgrade = (port: number, request: Partial<UpgradeRequest> = {}, through = fixture) =>
  through.outbound.upgrade(new URL(`https://${BACKEND}:${port}/chat`), {
    headers: [['sec-websocket-key', 'x']],
    headTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    ...request,
  })

const backend = (act: (socket: Socket) => void) =>
  fixture.backend((socket) => void socket.once('data', () => act(socket)))

test('bytes pass both ways once the protocol is switched', async () => {
  const { port, received } = await backend((socket) => {
    socket.write(`${SWITCHED}first`)
    socket.on('data', (bytes) => socket.write(bytes))
  })
  const { status, tunnel } = await upgrade(port)
  expect(status).toBe(101)
  expect(received[0]).toBe(
    `GET /chat HTTP/1.1\r\nhost: ${BACKEND}:${port}\r\nsec-websocket-key: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n`,
  )
  const reader = tunnel?.readable.getReader()
  const next = async () => Buffer.from((await reader?.read())?.value ?? []).toString()
  expect(await next()).toBe('first')
  await tunnel?.write(Buffer.from('echo'))
  expect(await next()).toBe('echo')
  tunnel?.close()
})

test('writes that overlap stay whole and in order', async () => {
  const sizes = [3_000_000, 5, 2_000_000, 7]
  let text = ''
  const all = Promise.withResolvers<void>()
  const { port } = await backend((socket) => {
    socket.write(SWITCHED)
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      if (text.length === 5_000_012) all.resolve()
    })
  })
  const { tunnel } = await upgrade(port)
  await Promise.all(sizes.map((size, i) => tunnel?.write(Buffer.alloc(size, `${i}`))))
  await all.promise
  expect(Bun.hash(text)).toBe(Bun.hash(sizes.map((size, i) => `${i}`.repeat(size)).join('')))
  tunnel?.close()
})

test('the backend closing ends the tunnel', async () => {
  const { port } = await backend((socket) => socket.end(`${SWITCHED}bye`))
  const { tunnel } = await upgrade(port)
  expect(await textOf(tunnel?.readable ?? null)).toBe('bye')
  await expect(tunnel?.write(Buffer.from('late'))).rejects.toMatchObject({ kind: 'reset' })
})

test('closing the tunnel ends the connection', async () => {
  const gone = Promise.withResolvers<void>()
  const { port } = await backend((socket) => {
    socket.on('close', () => gone.resolve())
    socket.write(SWITCHED)
  })
  const { tunnel } = await upgrade(port)
  tunnel?.close()
  await gone.promise
})

test('a tunnel that is silent for too long is cut', async () => {
  const { port } = await backend((socket) => socket.write(SWITCHED))
  const { tunnel } = await upgrade(port, { idleTimeoutMs: 100 })
  expect((await failureOf(textOf(tunnel?.readable ?? null))).kind).toBe('stalled')
})

test('a response that does not switch is an ordinary response', async () => {
  const { port } = await backend((socket) => socket.write('HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno'))
  const answer = await upgrade(port)
  expect([answer.status, await textOf(answer.body), answer.tunnel]).toEqual([403, 'no', null])
})

test.each(['h2c', ''])('a switch to %p is an invalid response', async (protocol) => {
  const { port } = await backend((socket) => socket.write(SWITCHED.replace('WebSocket', protocol)))
  expect((await failureOf(upgrade(port))).kind).toBe('broken')
})

test('open tunnels do not use turns of requests, and have a separate limit', async () => {
  const small = outboundFixture({ limits: { maxInFlight: 1, maxWaiting: 0 } })
  const { port } = await small.backend((socket) =>
    socket.on('data', (bytes) =>
      socket.write(
        bytes.includes('upgrade: websocket') ? SWITCHED : 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
      ),
    ),
  )
  const open = () => upgrade(port, {}, small)
  const tunnels = await Promise.all(Array.from({ length: 16 }, open))
  expect(tunnels.map(({ status }) => status)).toEqual(Array(16).fill(101))
  expect((await failureOf(open())).kind).toBe('overloaded')
  expect((await small.send(port)).status).toBe(200)
  await small.close()
})
