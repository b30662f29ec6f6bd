import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { logKey } from '../../domain/store-keys.ts'
import { LtxDecoder } from '../../platform/ltx/decode.ts'
import { followIn } from '../../testing/following.ts'
import { startObjectServer } from '../../testing/object-server.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { differingPages } from '../../testing/same-pages.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { Shipping } from '../../testing/shipping.ts'
import { LoggedDatabase, storeAt } from '../../testing/store-log.ts'

const STEPS = rounds(60, 3000)
const OBJECTS = rounds(150, 10_000)

type Pick = (below: number) => number

const pickOf = (name: string): Pick => {
  const random = seededRandom(seedOf(name))
  return (below) => Math.floor(random() * below)
}

test('whatever a primary writes, the file is its own, page by page', async () => {
  const pick = pickOf('following')
  const it = new Shipping({ due: { pages: 60, objects: 15, baseBytes: 2 ** 19 } })
  await it.shipper.sync()
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-follow-'))
  const follower = await followIn(dataDir, it.store())
  const other = new Database(it.file)
  const run = (sqlite: Database) => (sql: string) => () => void sqlite.run(sql)
  const here = run(it.db.sqlite)
  const steps: (() => unknown)[] = [
    () => it.insert(pick(12_000)),
    () => it.insert(pick(300_000)),
    here('UPDATE t SET v = randomblob(3000) WHERE id % 7 = 1'),
    run(other)('INSERT INTO t (v) SELECT randomblob(900) FROM t LIMIT 20'),
    here('DELETE FROM t WHERE id % 3 = 0'),
    here('DELETE FROM t WHERE id > (SELECT min(id) + 5 FROM t)'),
    here('VACUUM'),
    here('CREATE TABLE IF NOT EXISTS u (a UNIQUE)'),
    here('DROP TABLE IF EXISTS u'),
    () => other.query('PRAGMA wal_checkpoint(PASSIVE)').get(),
    () => other.query('PRAGMA wal_checkpoint(TRUNCATE)').get(),
    () => it.shipper.sync(),
    () => it.shipper.sync(),
    () => Bun.sleep(pick(30)),
  ]
  for (let step = 0; step < STEPS; step += 1) {
    await steps[pick(steps.length)]?.()
    if (pick(3) > 0) continue
    await it.shipper.sync()
    await follower.following.look()
    expect(follower.following.state()).toMatchObject({ number: it.shipper.number, error: null })
    expect(differingPages(it.bytes(), readFileSync(follower.file))).toEqual([])
  }
  expect(follower.db.sqlite.query('PRAGMA integrity_check').values()).toEqual([['ok']])
  await follower.end()
  other.close()
  await it.end()
  rmSync(dataDir, { recursive: true })
}, 1_200_000)

test('whatever bytes an object has, nothing but the right ones gets into the file', async () => {
  const pick = pickOf('following damage')
  const root = mkdtempSync(join(tmpdir(), 'svc-follow-'))
  const server = startObjectServer()
  const primary = new LoggedDatabase(server, join(root, 'primary.db'))
  primary.ship(
    'CREATE TABLE schema_migrations (name TEXT)',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB)',
  )
  const follower = await followIn(mkdtempSync(join(root, 'data-')), storeAt(server))
  const before = readFileSync(follower.file)
  primary.ship('INSERT INTO t (v) VALUES (randomblob(9000))')
  const key = `p/${logKey(2)}`
  const good = server.objects.get(key)?.bytes as Uint8Array
  const damages: ((bytes: Uint8Array) => Uint8Array)[] = [
    (bytes) => bytes.map((byte, at) => (at === place ? byte ^ (1 << pick(8)) : byte)),
    (bytes) => bytes.slice(0, place),
    (bytes) => Buffer.concat([bytes, bytes.subarray(place)]),
    (bytes) => Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + 1 + pick(5_000))]),
    (bytes) =>
      Buffer.concat([bytes.subarray(0, place), crypto.getRandomValues(new Uint8Array(1 + pick(300)))]),
  ]
  let place = 0
  expect(pagesIn(good)).not.toBeNull()
  for (let round = 0; round < OBJECTS; round += 1) {
    place = pick(2) === 0 ? pick(150) : pick(good.length)
    const bytes = damages[pick(damages.length)]?.(good) ?? good
    // A bit that says nothing: the same pages in another spelling.
    if (pagesIn(bytes) === pagesIn(good)) continue
    server.objects.set(key, { bytes, headers: {} })
    await follower.following.look()
    expect(follower.following.state()).toMatchObject({ number: 1, error: expect.stringContaining(logKey(2)) })
  }
  expect(readFileSync(follower.file).equals(before)).toBe(true)
  server.objects.set(key, { bytes: good, headers: {} })
  await follower.following.look()
  expect(differingPages(primary.bytes(), readFileSync(follower.file))).toEqual([])
  await follower.end()
  primary.db.close()
  await server.stop()
  rmSync(root, { recursive: true })
}, 1_200_000)

/** What an object says; null if it cannot be read. */
function pagesIn(bytes: Uint8Array): string | null {
  const told: unknown[] = []
  const decoder = new LtxDecoder({
    header: (header) => told.push(header),
    page: ({ number, data }) => told.push([number, Buffer.from(data).toString('base64')]),
  })
  try {
    decoder.push(bytes)
    decoder.end()
    return JSON.stringify(told)
  } catch {
    return null
  }
}
