import { expect, test } from 'bun:test'
import { rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createTestCa, selfSigned, type TestCertificate } from '../../testing/test-ca.ts'
import { deployFixture } from '../testing/deploy-fixture.ts'
import { failure, startCuttingProxy, startManifestServer } from '../testing/manifest-server.ts'

const at = deployFixture()

test('the server says no: its message, code 1, no second try', async () => {
  at.write('a.txt', 'one')
  const { code, err } = await at.deploy(['--api-key', 'svc_wrong'])
  expect(code).toBe(1)
  expect(err()).toBe('reading 1 file\nsvc deploy: This API key is unknown\n')
  expect(at.server.requests).toHaveLength(1)
})

test('a server in trouble is tried again with growing waits', async () => {
  at.write('a.txt', 'one')
  at.server.refusals = [failure(500, 'Internal Server Error', 'oops'), new Response('<h1>', { status: 503 })]
  const { code, waits } = await at.deploy()
  expect(code).toBe(0)
  expect(waits).toEqual([1_000, 2_000])
})

test('after 429 as long as Retry-After asks', async () => {
  at.write('a.txt', 'one')
  at.server.refusals = [failure(429, 'Too Many Requests', 'Slow down', { 'retry-after': '37' })]
  const { code, waits } = await at.deploy()
  expect(code).toBe(0)
  expect(waits).toEqual([37_000])
})

test('nobody there: code 3 after 5 tries', async () => {
  at.write('a.txt', 'one')
  at.server.stop()
  const { code, err, waits } = await at.deploy()
  expect(code).toBe(3)
  expect(err()).toContain('is not reachable')
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000])
})

const ca = createTestCa()
const strangers: [name: string, certificate: TestCertificate, reason: string][] = [
  ['of its own making', selfSigned(['localhost']), 'self signed'],
  ['of an authority that nobody knows', ca.issue({ names: ['localhost'] }), 'unable to verify'],
]
test.each(strangers)('a certificate %s: code 3, no second try', async (_name, { cert, key }, reason) => {
  at.write('a.txt', 'one')
  let asked = 0
  const stranger = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert, key },
    fetch() {
      asked += 1
      return new Response()
    },
  })
  const url = `https://localhost:${stranger.port}`
  const { code, err, waits } = await at.deploy(['--api-url', url])
  await stranger.stop(true)
  expect([code, waits, asked]).toEqual([3, [], 0])
  expect(err()).toContain(`${url} is not trusted: ${reason}`)
  expect(err()).toContain('NODE_EXTRA_CA_CERTS')
})

test('a proxy without its server: code 3, an inner error: code 1', async () => {
  at.write('a.txt', 'one')
  at.server.refusals = Array.from({ length: 5 }, () => new Response('bad gateway', { status: 502 }))
  expect((await at.deploy()).code).toBe(3)
  at.server.refusals = Array.from({ length: 5 }, () => failure(500, 'Internal Server Error', 'oops'))
  expect((await at.deploy()).code).toBe(1)
  expect(at.server.requests).toHaveLength(10)
})

test('a refusal amid the upload is told, not the broken line', async () => {
  at.write('big.bin', 'x'.repeat(30_000_000))
  at.server.onManifest = () => at.server.refusals.push(failure(413, 'Payload Too Large', 'At most 1 MB'))
  const { code, err } = await at.deploy()
  expect(code).toBe(1)
  expect(err()).toContain('At most 1 MB')
})

test('a cut-off upload goes on where it stopped', async () => {
  for (let index = 0; index < 40; index += 1) at.write(`${index}.txt`, `${index} `.repeat(50_000))
  const proxy = await startCuttingProxy(at.server.url, { afterBytes: 1_500_000, times: 2 })
  const { code, waits } = await at.deploy(['--api-url', proxy.url])
  proxy.stop()

  expect(code).toBe(0)
  expect(waits.length).toBeGreaterThanOrEqual(1)
  expect(at.server.site().size).toBe(40)
  expect(at.server.arrived).toHaveLength(40)
  expect(at.server.manifests.length).toBe(waits.length + 1)
})

test('a content that the server lost meanwhile is sent after all', async () => {
  at.write('a.txt', 'one')
  at.server.refusals = []
  at.server.onManifest = () => {
    at.server.onManifest = () => {}
    at.server.refusals = [failure(404, 'Not Found', 'There is no such upload')]
  }
  const { code } = await at.deploy()
  expect(code).toBe(0)
  expect(at.server.manifests).toHaveLength(2)
})

/** Larger than what is kept in memory from the first reading on. */
const LARGE = 300_000

function rewrite(path: string): void {
  const { atime, mtime, size } = statSync(path)
  writeFileSync(path, '2'.repeat(size))
  utimesSync(path, atime, mtime)
}

test.each([
  ['small one grown', 3, (path: string) => writeFileSync(path, 'longer than before')],
  ['small one shrunk', 3, (path: string) => writeFileSync(path, '')],
  ['small one gone', 3, (path: string) => rmSync(path)],
  ['small one rewritten with the old size and time', 3, rewrite],
  ['large one grown', LARGE, (path: string) => writeFileSync(path, '1'.repeat(LARGE + 1))],
  ['large one shrunk', LARGE, (path: string) => writeFileSync(path, '')],
  ['large one gone', LARGE, (path: string) => rmSync(path)],
  ['large one rewritten with the old size and time', LARGE, rewrite],
])('of files a %s before it is sent publishes nothing', async (_how, size, change) => {
  const path = at.write('a.txt', '1'.repeat(size))
  at.write('b.bin', 'x'.repeat(600_000))
  utimesSync(path, 1_000_000_000, 1_000_000_000)
  at.server.onManifest = () => change(path)
  const { code, err, waits } = await at.deploy()
  expect(code).toBe(1)
  expect(err()).toContain('a.txt')
  expect(waits).toEqual([])
  expect(at.server.publishedCount()).toBe(0)
})

test('the key does not follow a redirect', async () => {
  at.write('a.txt', 'one')
  const other = startManifestServer(at.key)
  at.server.refusals = [Response.redirect(`${other.url}/api/deployments/manifest`, 307)]
  const { code, err } = await at.deploy()
  other.stop()
  expect(code).toBe(1)
  expect(err()).toContain(`redirects to ${other.url}`)
  expect(other.requests).toEqual([])
})

test("a stranger's page is not taken for the API, nor its control characters printed", async () => {
  at.write('a.txt', 'one')
  at.server.refusals = [new Response('<h1>welcome</h1>', { status: 200 })]
  expect((await at.deploy()).err()).toContain('without JSON; is it the address of the API?')
  at.server.refusals = [new Response('<h1>413</h1><hr>nginx', { status: 413 })]
  expect((await at.deploy()).err()).toContain('lets no body of this size pass (413)')
  at.server.refusals = [failure(403, 'Forbidden', 'no\x1b]0;x\x07')]
  expect((await at.deploy()).err()).not.toContain('\x1b')
})
