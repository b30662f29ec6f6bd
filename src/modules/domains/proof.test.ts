import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { readChallenge } from './proof.ts'

let app: TestApp
let host: ReturnType<typeof Bun.serve>
beforeAll(async () => {
  app = await testApp({ PROXY_ALLOWED_TARGETS: 'www.test' })
  host = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      if (url.endsWith('/drips')) return new Response(drops())
      return url.endsWith('/moved') ? moved() : new Response(' value\n')
    },
  })
})
afterAll(async () => {
  await host.stop(true)
  app.close()
})

/** Sends a byte now and then, forever. */
const drops = () =>
  new ReadableStream({
    async pull(controller) {
      await Bun.sleep(20)
      controller.enqueue(new Uint8Array([0x20]))
    },
  })

/** A redirect whose body is a page. */
const moved = () =>
  new Response('x'.repeat(300_000), { status: 301, headers: { location: 'https://www.test:443/moved' } })

const urlOf = (path: string): string => `http://www.test:${host.port}${path}`

test('the response of a host is trimmed', async () => {
  expect(await readChallenge(app.ctx, urlOf('/'))).toEqual({
    status: 200,
    text: 'value',
    location: null,
  })
})

test("a redirect's location is read, however long its body is", async () => {
  expect(await readChallenge(app.ctx, urlOf('/moved'))).toEqual({
    status: 301,
    text: '',
    location: 'https://www.test/moved',
  })
})

test('a host whose response never ends times out', async () => {
  await expect(readChallenge(app.ctx, urlOf('/drips'), 200)).rejects.toThrow('given up')
})
