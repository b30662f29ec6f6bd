import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { archive, tar } from '../../modules/deployments/upload/upload.fixture.ts'
import { randomBytes } from '../../platform/chunks.fixture.ts'
import type { ServerProcess } from '../../testing/server-process.ts'
import { newKey, type StoreProcess, storeProcess } from '../../testing/store-process.ts'

/** What is published is in the store, whatever becomes of the machine. */
let workspace: StoreProcess
let server: ServerProcess
let key: string
beforeAll(async () => {
  workspace = await storeProcess({ STORE_CACHE_BYTES: '64MiB' })
  server = await workspace.start()
  key = await newKey(workspace)
})
afterAll(async () => {
  server.signal('SIGKILL')
  await server.exited
  await workspace.remove()
})
beforeEach(() => {
  workspace.store.fault = () => undefined
})

const HOST = 'production--site--acme.localhost'
const LARGE = randomBytes(5 * 2 ** 20 + 3, 3)
const packs = () => [...workspace.store.objects.keys()].filter((name) => name.startsWith('w/packs/'))

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}${path}`, { headers: { host: HOST, 'accept-encoding': 'identity', ...headers } })

async function publish(commitSha: string, files: Record<string, Uint8Array | string>): Promise<Response> {
  const query = new URLSearchParams({
    owner: 'acme',
    repo: 'site',
    commitSha,
    alias: 'production',
    isPublic: 'true',
  })
  const { body, headers } = archive('application/x-tar', await tar(files))
  return fetch(`${server.url}/api/deployments?${query}`, {
    method: 'POST',
    headers: { ...headers, 'x-api-key': key },
    ...(body instanceof Uint8Array ? { body } : {}),
  })
}

test('a site is served by a machine that lost everything, and after its copies are deleted', async () => {
  const published = await publish('a'.repeat(40), { 'index.html': 'hello', 'video.mp4': LARGE })
  expect(published.status).toBe(201)
  await workspace.lose(server)
  server = await workspace.start()
  expect(await (await ask('/')).text()).toBe('hello')
  expect(Buffer.compare(await (await ask('/video.mp4')).bytes(), LARGE)).toBe(0)
  for (const folder of ['cache', 'blobs']) rmSync(join(server.dataDir, folder), { recursive: true })
  const range = await ask('/video.mp4', { range: 'bytes=3000000-3000009' })
  expect([range.status, range.headers.get('content-length')]).toEqual([206, '10'])
  expect(Buffer.compare(await range.bytes(), LARGE.subarray(3_000_000, 3_000_010))).toBe(0)
  workspace.store.fault = ({ key: name }) => (name.startsWith('w/db/') ? undefined : { status: 500 })
  const cold = await ask('/video.mp4', { range: 'bytes=0-9' })
  expect(cold.status).toBe(503)
  expect(await cold.json()).toMatchObject({ error: 'CONTENT_UNREACHABLE' })
  expect((await ask('/')).status).toBe(200)
})

test('killed between the contents and the rows, it leaves an object that belongs to nothing', async () => {
  const before = packs().length
  workspace.store.fault = ({ method, key: name }) => {
    if (method !== 'PUT' || !name.startsWith('w/packs/')) return undefined
    server.signal('SIGKILL')
    return { hang: 'after' }
  }
  await expect(publish('b'.repeat(40), { 'index.html': 'second' })).rejects.toThrow()
  await server.exited
  workspace.store.fault = () => undefined
  expect(packs()).toHaveLength(before + 1)
  server = await workspace.start()
  expect(await (await ask('/')).text()).toBe('hello')
  const { code, stderr } = await workspace.svc(['store', 'check'])
  expect([code, stderr]).toEqual([0, expect.stringContaining('belongs to nothing')])
  expect((await publish('b'.repeat(40), { 'index.html': 'second' })).status).toBe(201)
  expect(await (await ask('/')).text()).toBe('second')
})
