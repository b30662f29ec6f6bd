import { expect, test } from 'bun:test'
import { createTestCa } from '../../testing/test-ca.ts'
import { createOutbound } from '../outbound.ts'
import { createAcmeClient } from './client.ts'
import { newKey } from './keys.ts'

/** Answers that come byte by byte and have no end, whatever is asked. */
function drippingAuthority() {
  const ca = createTestCa()
  let seen = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: ca.issue({ names: ['127.0.0.1'] }),
    fetch() {
      seen += 1
      const body = new ReadableStream({
        async pull(controller) {
          await Bun.sleep(5)
          controller.enqueue(Buffer.from(' '))
        },
      })
      return new Response(body)
    },
  })
  return {
    ca,
    directory: `https://127.0.0.1:${server.port}/`,
    seen: () => seen,
    stop: () => server.stop(true),
  }
}

test('what several orders wait for ends, however slowly the authority goes on', async () => {
  const authority = drippingAuthority()
  const outbound = createOutbound({ allowedTargets: ['127.0.0.1'], extraCaPem: authority.ca.pem })
  const client = createAcmeClient({
    outbound,
    directory: authority.directory,
    key: newKey(),
    accountUrl: null,
    email: null,
    userAgent: 'test',
    now: Date.now,
    signal: new AbortController().signal,
    callMs: 100,
  })
  const order = () => client.newOrder('a.example', new AbortController().signal)
  await expect(order()).rejects.toThrow('was given up')
  await expect(order()).rejects.toThrow('was given up')
  expect(authority.seen()).toBe(2)
  outbound.close()
  await authority.stop()
})
