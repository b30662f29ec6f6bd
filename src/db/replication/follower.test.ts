import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../domain/errors.ts'
import { logKey } from '../../domain/store-keys.ts'
import { encodeLtx } from '../../platform/ltx/encode.ts'
import { follow, followIn, STORE_ID } from '../../testing/following.ts'
import { type ObjectServer, startObjectServer } from '../../testing/object-server.ts'
import { differingPages } from '../../testing/same-pages.ts'
import { LoggedDatabase, storeAt } from '../../testing/store-log.ts'
import { until } from '../../testing/until.ts'
import { openFollowed } from '../followed.ts'
import { currentGeneration, writesOfOthers } from '../generation.ts'
import { inTransaction, openDb } from '../open.ts'
import type { FollowingOptions } from './follower.ts'
import { readMarker } from './marker.ts'

/** contract 18 §4 and §6: what a machine that is not primary has of the log. */
let root: string
let dataDir: string
let server: ObjectServer
let primary: LoggedDatabase
let followers: Awaited<ReturnType<typeof followIn>>[]

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-follow-'))
  dataDir = mkdtempSync(join(root, 'data-'))
  server = startObjectServer()
  followers = []
  begin()
})
afterEach(async () => {
  for (const one of followers) await one.end()
  primary.db.close()
  await server.stop()
  rmSync(root, { recursive: true })
})

function begin(pageSize = 4096): void {
  primary?.db.close()
  server.objects.clear()
  primary = new LoggedDatabase(server, join(mkdtempSync(join(root, 'primary-')), 'primary.db'), pageSize)
  primary.ship(
    'CREATE TABLE schema_migrations (name TEXT PRIMARY KEY)',
    "INSERT INTO schema_migrations VALUES ('0005_five')",
    'CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB)',
  )
}

const store = () => storeAt(server, { timeoutMs: 20_000 })
const insert = (bytes = 10_000) => primary.ship(`INSERT INTO t (v) VALUES (randomblob(${bytes}))`)
const object = (key: string) => server.objects.get(`p/${key}`)?.bytes as Uint8Array
const replace = (key: string, bytes: Uint8Array) => server.objects.set(`p/${key}`, { bytes, headers: {} })

async function started(own: Partial<FollowingOptions> = {}) {
  const one = await followIn(dataDir, store(), own)
  followers.push(one)
  await one.following.look()
  return one
}
type Started = Awaited<ReturnType<typeof started>>

const differing = ({ file }: Started) => differingPages(readFileSync(file), primary.bytes())
const countOf = ({ db }: Started) =>
  db.sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM t').get()?.n

describe('the file becomes that of the primary', () => {
  test.each([512, 4096, 65_536])('with pages of %d bytes, larger and smaller', async (pageSize) => {
    begin(pageSize)
    const it = await started()
    const steps = [
      () => insert(10),
      () => insert(3_000_000),
      () => primary.ship('DELETE FROM t WHERE id % 2 = 0', 'VACUUM'),
      () => primary.ship('UPDATE t SET v = randomblob(500)'),
      () => insert(700_000),
    ]
    for (const step of steps) {
      step()
      await it.following.look()
      expect(differing(it)).toEqual([])
      expect(it.db.sqlite.query('PRAGMA integrity_check').values()).toEqual([['ok']])
    }
    expect(it.following.state()).toMatchObject({ number: 6, lagMs: 0, isStoreUp: true, error: null })
    expect(it.applied).toEqual([2, 3, 4, 5, 6])
    await it.end()
    expect(readMarker(dataDir)).toEqual({ store: STORE_ID, number: 6, seen: 6, isWhole: true })
    expect(readdirSync(dataDir).sort()).toEqual(['replica.json', 'svc.db'])
  })

  test('a transaction that is larger than what is held in memory', async () => {
    const it = await started()
    insert(12_000_000)
    primary.ship(
      'INSERT INTO t (v) VALUES (randomblob(4000000))',
      'UPDATE t SET v = randomblob(11000000) WHERE id = 1',
    )
    await it.following.look()
    expect(differing(it)).toEqual([])
    expect(readdirSync(dataDir).sort()).toEqual(['replica.json', 'svc.db'])
  })

  test('one request of the store finds that there is nothing, each takes one number', async () => {
    const it = await started()
    server.requests.length = 0
    await it.following.look()
    expect(server.requests.map(({ method, key }) => `${method} ${key}`)).toEqual([`GET p/${logKey(2)}`])
    for (let count = 0; count < 4; count += 1) insert()
    server.requests.length = 0
    await it.following.look()
    expect(server.requests.map(({ key }) => key)).toEqual(
      [2, 3, 4, 5, 6].map((number) => `p/${logKey(number)}`),
    )
  })

  test('by itself, each time it polls', async () => {
    const it = await started({ pollMs: 20 })
    insert()
    await until('the number', () => it.following.number === 2)
    expect(countOf(it)).toBe(1)
  })
})

describe('what is cached of the database', () => {
  test('is dropped with each number, and statements see the new schema', async () => {
    primary.ship(
      'CREATE TABLE site_generation (sites INTEGER, access INTEGER)',
      'INSERT INTO site_generation VALUES (1, 1)',
    )
    const it = await started()
    expect(currentGeneration(it.db)).toEqual({ sites: 1, access: 1 })
    const others = writesOfOthers(it.db)
    primary.ship('UPDATE site_generation SET access = 2')
    await it.following.look()
    expect(currentGeneration(it.db)).toEqual({ sites: 1, access: 2 })
    expect(writesOfOthers(it.db)).toBe(others + 1)
    const all = it.db.sqlite.query('SELECT * FROM t')
    expect(all.values()).toEqual([])
    primary.ship('ALTER TABLE t ADD COLUMN w', "INSERT INTO t VALUES (1, 'v', 'w')")
    await it.following.look()
    expect(it.db.sqlite.query('SELECT w FROM t').values()).toEqual([['w']])
  })

  test('nothing is written there', async () => {
    const { db } = await started()
    expect(() => inTransaction(db, () => 1)).toThrow(AppError)
    expect(db.log.refusal()?.code).toBe('NOT_PRIMARY')
    expect(() => db.sqlite.run("INSERT INTO t (v) VALUES ('x')")).toThrow('readonly')
    expect(db.log.awaited).toBe(0)
  })
})

describe('those who wait for a number', () => {
  test('are told in the turn in which it can be seen, and cause a look', async () => {
    const it = await started()
    insert()
    await Bun.sleep(110)
    expect(await it.following.reached(2, 20_000)).toBe(true)
    expect(countOf(it)).toBe(1)
    expect(await it.following.reached(1, 0)).toBe(true)
  })

  test('wait no longer than they said, and are at most 1,000', async () => {
    const it = await started()
    expect(await it.following.reached(9, 10)).toBe(false)
    const waiting = Array.from({ length: 1_000 }, () => it.following.reached(2, 60_000))
    expect(await it.following.reached(2, 60_000)).toBe(false)
    insert()
    await it.following.look()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([true]))
    const last = it.following.reached(9, 60_000)
    await it.following.stop()
    expect(await last).toBe(false)
  })
})

describe('the store', () => {
  test('away: the state says since when, and it goes on by itself', async () => {
    const it = await started()
    server.fault = () => ({ status: 500 })
    insert()
    await it.following.look()
    expect(it.following.state()).toMatchObject({
      number: 1,
      isStoreUp: false,
      error: expect.stringContaining('500'),
    })
    await Bun.sleep(30)
    expect(it.following.state().lagMs).toBeGreaterThanOrEqual(30)
    server.fault = () => undefined
    await it.following.look()
    expect(it.following.state()).toMatchObject({ number: 2, lagMs: 0, isStoreUp: true, error: null })
    expect(it.stuck).toEqual([])
    expect(it.lines.filter((line) => line.includes('"level":"error"'))).toHaveLength(1)
  })

  test('cut in the middle of an object: it is taken again', async () => {
    const it = await started()
    insert()
    server.fault = ({ key }) => (key.endsWith(logKey(2)) ? { cut: true } : undefined)
    await it.following.look()
    expect(it.following.state()).toMatchObject({ number: 1, isStoreUp: false })
    server.fault = () => undefined
    await it.following.look()
    expect(differing(it)).toEqual([])
    expect(it.stuck).toEqual([])
  })

  test('removed as old what was not taken yet: it says that there is a gap', async () => {
    const it = await started()
    for (let count = 0; count < 5; count += 1) insert()
    primary.base()
    for (let number = 1; number < 6; number += 1) server.objects.delete(`p/${logKey(number)}`)
    // As after a time in which the store did not answer.
    server.fault = () => ({ status: 500 })
    await it.following.look()
    server.fault = () => undefined
    await it.following.look()
    expect(it.stuck.map(({ kind, isMended }) => [kind, isMended])).toEqual([['missing', true]])
    expect(it.following.state().error).toContain(logKey(1))
    await it.end()
    const again = await started()
    expect(differing(again)).toEqual([])
  })

  test('put back to an older copy: it stops and names both numbers, until the newer one is back', async () => {
    for (let count = 0; count < 4; count += 1) insert()
    const it = await started()
    const removed = [4, 5].map(
      (number) => [`p/${logKey(number)}`, server.objects.get(`p/${logKey(number)}`)] as const,
    )
    for (const [key] of removed) server.objects.delete(key)
    server.fault = () => ({ status: 500 })
    await it.following.look()
    server.fault = () => undefined
    await it.following.look()
    expect(it.stuck.map(({ kind, isMended }) => [kind, isMended])).toEqual([['behind', false]])
    expect(it.following.state()).toMatchObject({ number: 5, isStoreUp: true })
    expect(it.following.state().error).toMatch(/ends at 3.* has seen 5/)
    for (const [key, found] of removed) if (found !== undefined) server.objects.set(key, found)
    await it.following.look()
    expect(it.following.state()).toMatchObject({ number: 5, error: null, lagMs: 0 })
  })

  test('put back and written on: another log is not put on top of this one', async () => {
    for (let count = 0; count < 4; count += 1) insert()
    const it = await started()
    const before = readFileSync(it.file)
    server.fault = () => ({ status: 500 })
    await it.following.look()
    server.fault = () => undefined
    server.objects.set(`p/${logKey(5)}`, {
      bytes: object(logKey(2)),
      headers: { 'x-amz-meta-svc-writer': 'other' },
    })
    insert()
    await it.following.look()
    expect(it.stuck.map(({ kind }) => kind)).toEqual(['behind'])
    expect(it.following.state().error).toContain(logKey(5))
    expect(readFileSync(it.file).equals(before)).toBe(true)
  })
})

describe('an object that is', () => {
  const bad: [string, (good: Uint8Array) => Uint8Array][] = [
    ['empty', () => new Uint8Array()],
    ['cut', (good) => good.slice(0, -20)],
    ['cut in its header', (good) => good.slice(0, 50)],
    ['longer', (good) => Buffer.concat([good, Buffer.of(0)])],
    ['changed in a page', (good) => good.map((byte, at) => (at === 5_000 ? byte ^ 1 : byte))],
    ['changed in its checksum', (good) => good.map((byte, at) => (at === good.length - 1 ? byte ^ 1 : byte))],
    ['no LTX file', () => Buffer.from('<html>'.repeat(1_000))],
    ['of another number', () => object(logKey(2))],
    [
      'of another page size',
      () =>
        encodeLtx({ pageSize: 512, commit: 1, first: 3, last: 3, timestamp: 0 }, [
          { number: 1, data: new Uint8Array(512) },
        ]),
    ],
  ]
  test.each(bad)('%s stops it with its key, and nothing of it is in the file', async (_, spoil) => {
    insert()
    const it = await started()
    const before = readFileSync(it.file)
    insert()
    const good = object(logKey(3))
    replace(logKey(3), spoil(good))
    await it.following.look()
    expect(it.stuck.map(({ kind }) => kind)).toEqual(['damaged'])
    expect(it.following.state()).toMatchObject({
      number: 2,
      isStoreUp: true,
      error: expect.stringContaining(logKey(3)),
    })
    expect(readFileSync(it.file).equals(before)).toBe(true)
    await it.following.look()
    expect(it.stuck).toHaveLength(1)
    replace(logKey(3), good)
    await it.following.look()
    expect(it.following.state()).toMatchObject({ number: 3, error: null })
    expect(differing(it)).toEqual([])
  })
})

describe('a schema', () => {
  test('that is newer than the executable stops it', async () => {
    const it = await started({ newestSchema: '0005_five' })
    expect([it.following.isNewer, it.following.isOlder]).toEqual([false, false])
    insert()
    primary.ship("INSERT INTO schema_migrations VALUES ('0006_six')")
    insert()
    await it.following.look()
    expect(it.following.isNewer).toBe(true)
    const error = expect.stringContaining('newer svc')
    expect(it.following.state()).toMatchObject({ number: 3, isStoreUp: true, error })
    server.requests.length = 0
    await it.following.look()
    expect(it.following.number).toBe(3)
    expect(server.requests.map(({ method }) => method)).toEqual(['HEAD'])
    await it.end()
    // Begun anew, it knows at once.
    expect((await started({ newestSchema: '0005_five' })).following.isNewer).toBe(true)
  })

  test('that is older is said until it is migrated', async () => {
    const it = await started({ newestSchema: '0006_six' })
    expect(it.following.isOlder).toBe(true)
    primary.ship("INSERT INTO schema_migrations VALUES ('0006_six')")
    await it.following.look()
    expect([it.following.isNewer, it.following.isOlder]).toEqual([false, false])
  })
})

describe('somebody who reads', () => {
  test('an older state holds it up, and sees all of that', async () => {
    const it = await started()
    const reader = new Database(it.file, { readonly: true })
    const count = () => reader.query('SELECT count(*) FROM t').values()
    reader.run('BEGIN')
    expect(count()).toEqual([[0]])
    insert(500_000)
    const look = it.following.look()
    await until('the object is asked for', () => server.requests.some(({ key }) => key.endsWith(logKey(2))))
    await Bun.sleep(50)
    expect([count(), it.following.number]).toEqual([[[0]], 1])
    reader.run('COMMIT')
    await look
    expect([count(), it.following.number]).toEqual([[[1]], 2])
    reader.close()
  })

  test('while it stops: nothing is left of what was not put in', async () => {
    const it = await started()
    const reader = new Database(it.file, { readonly: true })
    reader.run('BEGIN')
    reader.query('SELECT count(*) FROM t').values()
    const before = readFileSync(it.file)
    insert(500_000)
    void it.following.look()
    await until('the file grows', () => readFileSync(it.file).length > before.length)
    await it.following.stop()
    reader.close()
    expect(readFileSync(it.file).equals(before)).toBe(true)
    expect(readMarker(dataDir)).toEqual({ store: STORE_ID, number: 1, seen: 2, isWhole: true })
  })
})

describe('the data directory', () => {
  test('begins without the store, as what it is at, and goes on when that answers', async () => {
    await (await started()).end()
    insert()
    server.fault = () => ({ status: 500 })
    const number = readMarker(dataDir)?.number ?? 0
    const it = follow(dataDir, store(), { number })
    followers.push(it)
    expect(countOf(it)).toBe(0)
    await it.following.look()
    expect(it.following.state().isStoreUp).toBe(false)
    server.fault = () => undefined
    await it.following.look()
    expect(it.following.state()).toMatchObject({ number: 2, error: null })
    expect(differing(it)).toEqual([])
  })

  test('is whole again a moment after the last number', async () => {
    const it = await started()
    insert()
    await it.following.look()
    expect(readMarker(dataDir)?.isWhole).toBe(false)
    await until('the marker', () => readMarker(dataDir)?.isWhole === true)
    expect(readMarker(dataDir)).toMatchObject({ number: 2, seen: 2 })
  })

  test('becomes that of a primary', async () => {
    insert()
    const it = await started()
    insert()
    await it.following.look()
    await it.end()
    const db = new Database(it.file)
    db.run('PRAGMA journal_mode = WAL')
    db.run("INSERT INTO t (v) VALUES ('here')")
    expect(db.query('SELECT count(*) FROM t').values()).toEqual([[3]])
    expect(db.query('PRAGMA integrity_check').values()).toEqual([['ok']])
    db.close()
  })

  test('of a killed primary is read with its log, and not changed', () => {
    const file = join(dataDir, 'svc.db')
    const before = openDb(file, 0)
    before.sqlite.run('CREATE TABLE t (v)')
    const [files, log] = [readFileSync(file), readFileSync(`${file}-wal`)]
    const read = openFollowed(file)
    expect(read.sqlite.query('SELECT * FROM t').values()).toEqual([])
    read.close()
    expect(existsSync(`${file}-wal`)).toBe(true)
    expect([readFileSync(file).equals(files), readFileSync(`${file}-wal`).equals(log)]).toEqual([true, true])
    before.close()
  })
})
