import { afterAll, beforeAll, expect, test } from 'bun:test'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LOG_FOLDER, logKey } from '../../domain/store-keys.ts'
import { createLog } from '../../platform/log.ts'
import { applyLtx } from '../../platform/ltx/apply.ts'
import { openObjectStore } from '../../platform/object-store.ts'
import { STORE_KEYS } from '../../testing/object-server.ts'
import { until } from '../../testing/until.ts'
import { type Db, openDb } from '../open.ts'
import { inDurableTransaction } from '../relaxed.ts'
import { type Shipper, startShipping } from './shipper.ts'

/** Against the real store that `npm run test:store` starts. */
const folder = mkdtempSync(join(tmpdir(), 'svc-shipping-'))
const bucket = `svc-${Bun.randomUUIDv7()}`
const open = (writer: string) =>
  openObjectStore({
    ...STORE_KEYS,
    bucket,
    prefix: 'w/',
    endpoint: process.env['SVC_TEST_STORE'] ?? '',
    timeoutMs: 10_000,
    now: Date.now,
    writer,
  })
const store = open('w1')
let db: Db
let shipper: Shipper
let deposed = 0

beforeAll(async () => {
  await store.createBucket()
  db = openDb(join(folder, 'svc.db'), 0, { isShipped: true })
  db.sqlite.run('CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB)')
  shipper = startShipping(db, {
    store,
    number: 0,
    epoch: 1,
    now: Date.now,
    log: createLog({ level: 'silent', format: 'json', now: Date.now, write() {} }),
    markShipped() {},
    onDeposed() {
      deposed += 1
    },
    wantsBase: true,
  })
})
afterAll(async () => {
  await shipper.stop()
  db.close()
  rmSync(folder, { recursive: true })
})

const insert = (bytes: number) =>
  inDurableTransaction(db, () => db.sqlite.query('INSERT INTO t (v) VALUES (randomblob(?))').run(bytes))

async function restored(keys: string[]): Promise<Buffer> {
  const file = join(folder, 'restored.db')
  const target = openSync(file, 'w+')
  for (const key of keys) {
    const object = await store.open(key)
    if (object !== null) await applyLtx(object.pieces, target)
  }
  closeSync(target)
  return readFileSync(file)
}

async function keysBelow(folder: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of store.list(folder)) keys.push(key)
  return keys
}

test('the log, and a base, are the database', async () => {
  for (let round = 0; round < 10; round += 1)
    await Promise.all(Array.from({ length: 100 }, (_, i) => insert(i * 100)))
  await insert(20_000_000)
  const log = await keysBelow(LOG_FOLDER)
  expect(log.length).toBeLessThan(50)
  const [base = ''] = await until('a base', async () => {
    const keys = await keysBelow('db/0009/')
    return keys.length > 0 && keys
  })
  const number = Number.parseInt(base.slice(-20, -4), 16)
  const ofLog = await restored(log)
  expect(ofLog.equals(await restored([base, ...log.slice(number)]))).toBe(true)
  expect(ofLog.equals(db.sqlite.serialize())).toBe(true)
})

test('of another machine that creates the next number it learns, and ends', async () => {
  await open('w2').create(logKey(shipper.number + 1), new Uint8Array(100), { epoch: 2 })
  expect(await insert(10).catch((error) => error.code)).toBe('NOT_PRIMARY')
  expect(deposed).toBe(1)
})
