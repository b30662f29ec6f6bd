import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from '../../testing/server-process.ts'
import { type StoreProcess, storeProcess } from '../../testing/store-process.ts'

/** contract 18 §1: what a start refuses, in one line that says what to do. */

let at: StoreProcess
beforeEach(async () => {
  at = await storeProcess()
})
afterEach(() => at.remove())

async function refused(more: Record<string, string> = {}): Promise<[code: number, said: string]> {
  const { code, stderr } = await at.svc(['serve'], { PORT: '0', HOST: '127.0.0.1', ...more })
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(stderr).not.toContain(at.env['STORE_SECRET_KEY'] ?? '')
  return [code, stderr]
}
const said = (text: string) => expect.stringContaining(text)

/** Makes the database of the store. */
async function begin(more: Record<string, string> = {}): Promise<void> {
  const server = await at.start(more)
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
}

test('settings and keys that are wrong', async () => {
  expect(await refused({ ROLE: 'node' })).toEqual([78, said('NODE_SECRET is missing')])
  expect(await refused({ ROLE: 'primary', STORE_URL: '' })).toEqual([78, said('needs STORE_URL')])
  expect(await refused({ STORE_ACCESS_KEY: 'other' })).toEqual([78, said('STORE_ACCESS_KEY')])
  expect(await refused({ STORE_SECRET_KEY: 'other' })).toEqual([78, said('STORE_SECRET_KEY')])
  expect(await refused({ STORE_URL: 's3://nobucket' })).toEqual([78, said('no bucket "nobucket"')])
  expect(await refused({ STORE_URL: 's3://bucket/empty' })).toEqual([78, said('svc store init')])
}, 60_000)

test('a node has no use for certificates that it cannot open', async () => {
  const node = { ROLE: 'node', NODE_SECRET: 'n'.repeat(32), TLS: 'auto', SECRET_KEY: '' }
  expect(await refused(node)).toEqual([78, said('SECRET_KEY is missing: with TLS=auto a node')])
  await begin()
  const other = {
    ...node,
    DATA_DIR: `${at.dataDir}-node`,
    SECRET_KEY: Buffer.alloc(32, 4).toString('base64'),
  }
  expect(await refused(other)).toEqual([78, said('SECRET_KEY')])
}, 60_000)

test('a store that does not answer: exit 1 once the time is over', async () => {
  at.store.fault = () => ({ hang: 'before' })
  const startedAt = performance.now()
  expect((await refused({ STORE_TIMEOUT_SECONDS: '1' }))[0]).toBe(1)
  expect(performance.now() - startedAt).toBeLessThan(20_000)
}, 60_000)

test('a store that ignores conditions', async () => {
  at.store.fault = ({ method }) => (method === 'PUT' ? { ignoresCondition: true } : undefined)
  expect(await refused()).toEqual([78, said('If-None-Match')])
}, 60_000)

test('a data directory of its own, or of another store, is left alone', async () => {
  const own = await startServer(at.dataDir, { SECRET_KEY: at.env['SECRET_KEY'] ?? '' })
  own.signal('SIGTERM')
  await own.exited
  const files = () => readdirSync(at.dataDir, { recursive: true }).map(String).sort()
  const before = [files(), readFileSync(join(at.dataDir, 'svc.db')).toString('base64')]
  expect(await refused()).toEqual([78, said('svc store push')])
  expect([files(), readFileSync(join(at.dataDir, 'svc.db')).toString('base64')]).toEqual(before)
  rmSync(at.dataDir, { recursive: true })
  await begin()
  expect((await at.svc(['store', 'init'], { STORE_URL: 's3://bucket/v' })).code).toBe(0)
  expect(await refused({ STORE_URL: 's3://bucket/v' })).toEqual([78, said('is a copy of the store')])
}, 60_000)

test('the key of secrets must be the one that the workspace was begun with', async () => {
  await begin()
  expect(await refused({ SECRET_KEY: Buffer.alloc(32, 4).toString('base64') })).toEqual([
    78,
    said('SECRET_KEY'),
  ])
  rmSync(at.dataDir, { recursive: true })
  expect(await refused({ SECRET_KEY: '' })).toEqual([78, said('SECRET_KEY is missing')])
  await begin()
}, 60_000)

test('what Litestream replicates is refused', async () => {
  const own = await startServer(at.dataDir, { SECRET_KEY: at.env['SECRET_KEY'] ?? '' })
  own.signal('SIGTERM')
  await own.exited
  const sqlite = new Database(join(at.dataDir, 'svc.db'))
  sqlite.run('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY)')
  sqlite.close()
  expect((await at.svc(['store', 'push'])).code).toBe(0)
  rmSync(at.dataDir, { recursive: true })
  expect(await refused()).toEqual([78, said('Litestream')])
}, 60_000)

test('a copy of a store is not served without its store', async () => {
  await begin()
  expect(await refused({ STORE_URL: '' })).toEqual([78, said('STORE_URL')])
}, 60_000)
