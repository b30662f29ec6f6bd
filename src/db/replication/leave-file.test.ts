import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { follow, followIn, STORE_ID } from '../../testing/following.ts'
import { Shipping } from '../../testing/shipping.ts'
import { until } from '../../testing/until.ts'
import type { Db } from '../open.ts'
import { readApart } from '../read-apart.ts'
import { leaveShippedFile } from './leave-file.ts'
import { readMarker, writeMarker } from './marker.ts'
import { bringUpToDate } from './replica.ts'

/** contract 18 §4: a machine that another overtook follows it, without a restart. */
let it: Shipping

beforeEach(() => {
  it = new Shipping({ due: { pages: 60, objects: 3 } })
})
afterEach(() => it.end())

const countIn = ({ sqlite }: Db) => sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM t').get()?.n
/** On the thread that keeps its connection. */
const countApart = async (db: Db) =>
  (await readApart<{ n: number }>(db, 't', 'SELECT count(*) AS n FROM t', []))[0]?.n

test('a primary that is deposed leaves its file to those who have it open, and goes on from what it shipped', async () => {
  for (let count = 0; count < 8; count += 1) {
    it.insert(200_000)
    await it.shipper.sync()
  }
  await until('a copy of the log', () => it.marks.length > 0)
  const shipped = it.rows().length
  it.server.fault = ({ method }) => (method === 'PUT' ? { status: 500 } : undefined)
  it.insert(50_000)
  await it.shipper.sync().catch(() => {})
  const { db, file, folder } = it
  await writeMarker(folder, {
    store: STORE_ID,
    number: it.marks.at(-1) ?? 0,
    seen: it.shipper.number,
    isWhole: true,
  })
  expect(await countApart(db)).toBe(shipped + 1)
  await it.shipper.stop()
  await leaveShippedFile(file)
  expect(readMarker(folder)?.isWhole).toBe(false)
  expect([existsSync(`${file}-wal`), existsSync(`${file}-shm`)]).toEqual([false, false])
  it.server.fault = () => undefined
  const end = it.numbers().at(-1) ?? 0
  expect(await bringUpToDate(it.store(), STORE_ID, file, folder)).toEqual({ number: end, isNew: false })
  const follower = follow(folder, it.store(), { number: end })
  expect([countIn(follower.db), countIn(db)]).toEqual([shipped, shipped + 1])
  expect(await countApart(follower.db)).toBe(shipped)
  // Closing what was left changes nothing of the new file.
  db.close()
  expect(countIn(follower.db)).toBe(shipped)
  await follower.end()
  expect(it.rowsOf(file)).toHaveLength(shipped)
  expect(readdirSync(folder).filter((name) => name.startsWith('svc.db'))).toEqual(['svc.db'])
})

test('a file without a log stays whole', async () => {
  it.insert()
  await it.shipper.sync()
  const { folder, file } = it
  const follower = await followIn(mkdtempSync(join(folder, 'data-')), it.store())
  await follower.end()
  const copied = dirname(follower.file)
  await leaveShippedFile(follower.file)
  expect(readMarker(copied)).toMatchObject({ number: it.shipper.number, isWhole: true })
  expect(it.rowsOf(follower.file)).toEqual(it.rowsOf(file))
})
