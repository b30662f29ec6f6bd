import { afterAll, expect, test } from 'bun:test'
import { BACKEND, failureOf, outboundFixture } from '../../testing/outbound-fixture.ts'
import { onRequest } from '../../testing/tls-backend.ts'
import { OutboundError, toAppError } from './error.ts'
import { readLimited } from './read.ts'

const fixture = outboundFixture()
afterAll(() => fixture.close())

/** Reads at most 100 bytes of a response that the backend sends piece by piece. */
async function readAnswer(...pieces: string[]): Promise<string> {
  const { port } = await fixture.backend((socket) =>
    onRequest(socket, async () => {
      for (const piece of pieces) {
        socket.write(piece)
        await Bun.sleep(5)
      }
    }),
  )
  const answer = await fixture.outbound.request(new URL(`https://${BACKEND}:${port}/keys`), {
    method: 'GET',
    headers: [],
    body: null,
    headTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
  })
  return new TextDecoder().decode(await readLimited(answer, 100))
}

test('an empty response is read as zero bytes', async () => {
  expect(await readAnswer('HTTP/1.1 204 No Content\r\n\r\n')).toBe('')
})

test('a response may be as long as allowed and no longer, at once or in pieces', async () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
  const long = `64\r\n${'x'.repeat(100)}\r\n`
  expect(await readAnswer(`${head}${long}0\r\n\r\n`)).toBe('x'.repeat(100))
  for (const pieces of [[`${head}${long}1\r\nx\r\n0\r\n\r\n`], [head, long, '1\r\nx\r\n']])
    expect(await failureOf(readAnswer(...pieces))).toEqual({
      kind: 'too_large',
      message: 'The answer is longer than the 100 bytes allowed',
    })
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

test.each(statuses)('%s becomes %d', (kind, status) => {
  const error = new OutboundError(kind, 'a.test:8443 has a reason')
  const body = toAppError(error, new URL('https://a.test:8443/x')).toBody()
  expect(body.statusCode).toBe(status)
  expect(body.message).toMatch(/^The backend (has a reason|cannot be reached: its (name|address) .*)$/)
})
