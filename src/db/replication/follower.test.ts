import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../../platform/log.ts'
import { startObjectServer } from '../../testing/object-server.ts'
import { LoggedDatabase, storeAt } from '../../testing/store-log.ts'
import { openFollowed } from '../followed.ts'
import { startFollowing } from './follower.ts'
import { readMarker } from './marker.ts'
import { bringUpToDate } from './replica.ts'

test('the file is that of the primary after each look', async () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-follow-'))
  const server = startObjectServer()
  const primary = new LoggedDatabase(server, join(root, 'primary.db'))
  primary.ship(
    'CREATE TABLE schema_migrations (name TEXT PRIMARY KEY)',
    'CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB)',
  )
  const store = storeAt(server, { timeoutMs: 20_000 })
  const dataDir = mkdtempSync(join(root, 'd'))
  const file = join(dataDir, 'svc.db')
  const { number } = await bringUpToDate(store, 's', file, dataDir)
  const db = openFollowed(file)
  const following = startFollowing({
    db,
    file,
    dataDir,
    store,
    storeId: 's',
    number,
    pollMs: 500,
    newestSchema: '',
    log: createLog({ level: 'info', format: 'json', now: Date.now, write: () => {} }),
  })
  const count = () => db.sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM t').get()?.n
  expect(count()).toBe(0)
  for (let i = 0; i < 30; i++) {
    primary.ship('INSERT INTO t (v) VALUES (randomblob(200000))')
    await following.look()
    expect(count()).toBe(i + 1)
  }
  primary.ship('INSERT INTO t (v) VALUES (randomblob(30000000))')
  primary.ship('DELETE FROM t WHERE id < 20')
  primary.ship('VACUUM')
  await following.look()
  expect(following.state()).toMatchObject({ number: 34, lagMs: 0, error: null })
  expect(count()).toBe(12)
  await following.stop()
  const a = readFileSync(file)
  const b = primary.bytes()
  for (const at of [18, 19, 24, 25, 26, 27, 92, 93, 94, 95]) a[at] = b[at] as number
  expect(a.equals(b)).toBe(true)
  expect(readMarker(dataDir)).toEqual({ store: 's', number: 34, seen: 34, isWhole: true })
  db.close()
  await server.stop()
  primary.db.close()
  rmSync(root, { recursive: true })
})
