import { afterAll, expect, test } from 'bun:test'
import { BACKEND, failureOf, outboundFixture, textOf } from '../../testing/outbound-fixture.ts'
import { onRequest } from '../../testing/tls-backend.ts'

const fixture = outboundFixture()
afterAll(() => fixture.close())

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const answering = () => fixture.backend((socket) => onRequest(socket, () => socket.write(OK)))

test('a request aborted in the same turn is never sent, and the next one is', async () => {
  const { port, received } = await answering()
  expect(await textOf((await fixture.send(port)).body)).toBe('ok')
  const controller = new AbortController()
  const given = failureOf(fixture.send(port, { target: '/given-up', signal: controller.signal }))
  controller.abort()
  expect((await given).kind).toBe('aborted')
  expect((await fixture.send(port, { target: '/next' })).status).toBe(200)
  const all = received.join('')
  expect(all).toContain('GET /next')
  expect(all).not.toContain('/given-up')
})

test('requests of one turn go out on their own connections, with heads of any size', async () => {
  const { port, received } = await answering()
  const long = 'é'.repeat(20_000)
  const send = (one: string) => fixture.send(port, { target: `/${one}`, headers: [['x-long', long + one]] })
  const names = ['a', 'b', 'c']
  await Promise.all(names.map(send))
  const answers = await Promise.all(names.map(send))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  const all = received.join('')
  const heads = names.map(
    (one) => `GET /${one} HTTP/1.1\r\nhost: ${BACKEND}:${port}\r\nx-long: ${long}${one}\r\n`,
  )
  expect(heads.map((head) => all.split(head).length - 1)).toEqual([2, 2, 2])
})
