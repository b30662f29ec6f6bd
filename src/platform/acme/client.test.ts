import { expect, test } from 'bun:test'
import { createTestCa } from '../../testing/test-ca.ts'
import { createOutbound } from '../outbound.ts'
import { createAcmeClient } from './client.ts'
import { newKey } from './keys.ts'

/** Sends endless responses byte by byte, whatever the request. */
function drippingAuthority() {
  const ca = createTestCa()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: ca.issue({ names: ['127.0.0.1'] }),
    fetch() {
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
    stop: () => server.stop(true),
  }
}

test('a call that several orders share times out, however slowly the authority responds', async () => {
  const authority = drippingAuthority()
  const outbound = createOutbound({ allowedTargets: ['127.0.0.1'], extraCaPem: authority.ca.pem })
  // Counts calls when they leave: a busy machine may give one up before the authority has seen it.
  let calls = 0
  const request: typeof outbound.request = (...call) => {
    calls += 1
    return outbound.request(...call)
  }
  const client = createAcmeClient({
    outbound: { ...outbound, request },
    directory: authority.directory,
    key: newKey(),
    accountUrl: null,
    email: null,
    externalAccount: null,
    userAgent: 'test',
    now: Date.now,
    signal: new AbortController().signal,
    callMs: 100,
  })
  const order = () => client.newOrder(['a.example'], { replaces: null, signal: new AbortController().signal })
  await expect(order()).rejects.toThrow('was given up')
  await expect(order()).rejects.toThrow('was given up')
  expect(calls).toBe(2)
  outbound.close()
  await authority.stop()
})
