import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync, truncateSync } from 'node:fs'
import type { BunFile } from 'bun'
import type { StoredBlob } from '../platform/blob-store.ts'
import { seedDeployment } from '../testing/seed.ts'
import { listening, type TestApp, testApp } from '../testing/test-app.ts'

/** What only a real socket shows: lengths, HEAD, and what the runtime adds to responses from files. */

const HOST = 'production--wire--acme.localhost'
const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7 + (i >> 8)) % 251)
const files = {
  'empty.bin': new Uint8Array(),
  'small.bin': bytes(1000),
  'medium.bin': bytes(100_000),
  'packed.bin': bytes(1024 * 1024),
  'file.bin': bytes(1024 * 1024 + 1),
  'large.bin': bytes(3 * 1024 * 1024 + 5),
  'large.pdf': bytes(3 * 1024 * 1024 + 6),
  'text.js': new TextEncoder().encode('let a = 1; '.repeat(500)),
}
const sizes = Object.entries(files).map(([name, { length }]): [string, number] => [name, length])

let app: TestApp
let server: ReturnType<typeof Bun.serve>
beforeAll(async () => {
  app = await testApp()
  await seedDeployment(app, {
    owner: 'acme',
    repo: 'wire',
    sha: 'a'.repeat(40),
    alias: 'production',
    files,
    withVariants: true,
  })
  server = listening(app)
})
afterAll(async () => {
  await server.stop(true)
  app.close()
})

const ask = (name: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`http://127.0.0.1:${server.port}/${name}`, {
    method,
    headers: { host: HOST, 'accept-encoding': 'identity', ...headers },
    decompress: false,
  })
const contentOf = (name: string): Uint8Array => files[name as keyof typeof files]
const sha256 = (content: Uint8Array): string => Bun.SHA256.hash(content, 'hex')
const bodyOf = async (answer: Response) => new Uint8Array(await answer.arrayBuffer())

/** Expected of every response with a file's bytes. */
function expectPlainHeaders({ headers }: Response): void {
  expect(headers.get('content-disposition') ?? 'inline').toBe('inline')
  expect(headers.get('accept-ranges')).toBe('bytes')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('etag')).toMatch(/^"/)
}

test.each(sizes)('%s of %p bytes arrives complete, and HEAD agrees', async (name, size) => {
  const got = await ask(name)
  expect([got.status, got.headers.get('content-length')]).toEqual([200, String(size)])
  expectPlainHeaders(got)
  expect(sha256(await bodyOf(got))).toBe(sha256(contentOf(name)))

  const head = await ask(name, {}, 'HEAD')
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(size)])
  expect((await bodyOf(head)).length).toBe(0)
  for (const header of ['etag', 'content-type', 'cache-control', 'last-modified'])
    expect(head.headers.get(header)).toBe(got.headers.get(header))
  expect(head.headers.get('date')).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/)
})

test.each(sizes.filter(([, size]) => size > 0))('ranges of %s', async (name, size) => {
  const ranges: [header: string, start: number, end: number][] = [
    ['bytes=0-0', 0, 0],
    ['bytes=10-99', 10, 99],
    ['bytes=-7', size - 7, size - 1],
    [`bytes=${size - 1}-`, size - 1, size - 1],
  ]
  for (const [range, start, end] of ranges) {
    const answer = await ask(name, { range })
    expect([answer.status, answer.headers.get('content-range')]).toEqual([
      206,
      `bytes ${start}-${end}/${size}`,
    ])
    expect(answer.headers.get('content-length')).toBe(String(end - start + 1))
    expectPlainHeaders(answer)
    expect(sha256(await bodyOf(answer))).toBe(sha256(contentOf(name).slice(start, end + 1)))
  }
  const outside = await ask(name, { range: `bytes=${size}-` })
  expect([outside.status, outside.headers.get('content-range')]).toEqual([416, `bytes */${size}`])
  await outside.body?.cancel()
})

test.each(['small.bin', 'large.bin'])('several ranges of %s', async (name) => {
  const answer = await ask(name, { range: 'bytes=0-99,500-599' })
  expect(answer.status).toBe(206)
  const length = answer.headers.get('content-length')
  const body = await bodyOf(answer)
  const parts = [contentOf(name).slice(0, 100), contentOf(name).slice(500, 600)]
  for (const part of parts) expect(Buffer.from(body).includes(part)).toBe(true)
  // Bun sends the parts of a file that is not in memory in chunks.
  expect(length).toBe(name === 'small.bin' ? String(body.length) : null)
})

test.each(['small.bin', 'large.bin'])('%s is not sent again', async (name) => {
  const etag = (await ask(name, {}, 'HEAD')).headers.get('etag') ?? ''
  const answer = await ask(name, { 'if-none-match': etag })
  expect([answer.status, (await bodyOf(answer)).length]).toEqual([304, 0])
  expect(answer.headers.get('etag')).toBe(etag)
})

test.each(['br', 'zstd', 'gzip'])('%s: the length is that of the encoded bytes', async (encoding) => {
  const got = await ask('text.js', { 'accept-encoding': encoding })
  expect(got.headers.get('content-encoding')).toBe(encoding)
  const length = Number(got.headers.get('content-length'))
  expect((await bodyOf(got)).length).toBe(length)
  expect(length).toBeLessThan(files['text.js'].length)
  const head = await ask('text.js', { 'accept-encoding': encoding }, 'HEAD')
  expect(head.headers.get('content-length')).toBe(String(length))
})

test.each(['missing', 'too short'])(
  'a large file whose content is %s is an error, also for HEAD and ranges',
  async (what) => {
    const host = `production--${what.replace(' ', '-')}--acme.localhost`
    const repo = what.replace(' ', '-')
    const large = bytes(3 * 1024 * 1024 + what.length)
    const seed = {
      owner: 'acme',
      repo,
      sha: 'b'.repeat(40),
      alias: 'production',
      files: { 'large.bin': large },
    }
    await seedDeployment(app, seed)
    const blob = app.ctx.db.sqlite
      .query<StoredBlob, [string]>(
        'SELECT sha256, pack, "offset", size_bytes AS sizeBytes FROM blobs WHERE sha256 = ?',
      )
      .get(sha256(large))
    const path = (blob && (app.ctx.blobs.file(blob) as BunFile))?.name ?? ''
    if (what === 'missing') rmSync(path)
    else truncateSync(path, 1_000_000)
    for (const [method, range] of [
      ['GET', ''],
      ['HEAD', ''],
      ['GET', 'bytes=0-9'],
    ]) {
      const headers = { host, ...(range ? { range } : {}) }
      const answer = await fetch(`http://127.0.0.1:${server.port}/large.bin`, {
        method: method ?? '',
        headers,
      })
      expect([answer.status, answer.headers.get('cache-control'), answer.headers.get('etag')]).toEqual([
        500,
        'no-store',
        null,
      ])
    }
  },
)
