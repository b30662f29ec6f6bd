import { afterAll, expect, test } from 'bun:test'
import { BACKEND, failureOf, outboundFixture } from '../testing/outbound-fixture.ts'
import { onRequest } from '../testing/tls-backend.ts'
import { OutboundError, toAppError } from './outbound-error.ts'
import { fetchJson, type JsonRequest } from './outbound-read.ts'

const fixture = outboundFixture()
afterAll(() => fixture.close())

async function answering(...pieces: string[]) {
  const { port, received } = await fixture.backend((socket) =>
    onRequest(socket, async () => {
      for (const piece of pieces) {
        socket.write(piece)
        await Bun.sleep(5)
      }
    }),
  )
  const send = (request: Partial<JsonRequest> = {}) =>
    fetchJson(fixture.outbound, new URL(`https://${BACKEND}:${port}/keys?x=1`), {
      timeoutMs: 1_000,
      maxBytes: 100,
      ...request,
    })
  return { send, received }
}

test('reads JSON, and asks for it', async () => {
  const { send, received } = await answering('HTTP/1.1 201 OK\r\nContent-Length: 7\r\n\r\n', '{"a":1}')
  expect(await send()).toMatchObject({ status: 201, json: { a: 1 } })
  expect(received[0]).toStartWith('GET /keys?x=1 HTTP/1.1\r\n')
  expect(received[0]).toContain('\r\naccept: application/json\r\n')
})

test('an empty answer is undefined', async () => {
  const { send } = await answering('HTTP/1.1 204 No Content\r\n\r\n')
  expect((await send()).json).toBeUndefined()
})

test('an answer may be as long as allowed and no longer, at once or in pieces', async () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
  const long = `64\r\n"${'x'.repeat(98)}"\r\n`
  expect((await (await answering(`${head}${long}0\r\n\r\n`)).send()).json).toBe('x'.repeat(98))
  for (const pieces of [[`${head}${long}1\r\n \r\n0\r\n\r\n`], [head, long, '1\r\n \r\n']])
    expect(await failureOf((await answering(...pieces)).send())).toEqual({
      kind: 'broken',
      message: 'The answer is longer than the 100 bytes that are read of it',
    })
})

test('what is not JSON is a broken answer', async () => {
  const { send } = await answering('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>')
  expect((await failureOf(send())).kind).toBe('broken')
})

test('the time counts for the whole answer, drips or not', async () => {
  const drips = Array.from({ length: 200 }, () => '1\r\nx\r\n')
  const { send } = await answering('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', ...drips)
  expect((await failureOf(send({ timeoutMs: 100, maxBytes: 1e6 }))).kind).toBe('timeout')
})

const statuses: [kind: ConstructorParameters<typeof OutboundError>[0], status: number][] = [
  ['bad_request', 400],
  ['dns', 502],
  ['blocked', 502],
  ['refused', 502],
  ['tls', 502],
  ['timeout', 504],
  ['stalled', 504],
  ['reset', 502],
  ['broken', 502],
  ['overloaded', 503],
  ['aborted', 502],
]

test.each(statuses)('%s answers %d', (kind, status) => {
  expect(toAppError(new OutboundError(kind, 'why')).toBody()).toMatchObject({
    statusCode: status,
    message: 'why',
  })
})
