import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { groupCommit } from './group-commit.ts'
import { inTransaction, openDb } from './open.ts'
import { inDurableTransaction, inRelaxedTransaction } from './relaxed.ts'

test('waits for the disk again afterwards, whether or not the work failed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-relaxed-'))
  const db = openDb(join(folder, 'svc.db'), 0)
  const synchronous = () =>
    db.sqlite.prepare<{ synchronous: number }, []>('PRAGMA synchronous').get()?.synchronous
  const full = synchronous()
  expect(full).toBe(2)
  const { writes } = db
  expect(inRelaxedTransaction(db, () => db.sqlite.inTransaction)).toBe(true)
  expect(db.writes).toBeGreaterThan(writes)
  expect(synchronous()).toBe(full)
  const fail = () =>
    inRelaxedTransaction(db, () => {
      db.sqlite.run('UPDATE site_generation SET sites = sites + 100')
      throw new Error('no')
    })
  expect(fail).toThrow('no')
  expect(synchronous()).toBe(full)
  expect(db.sqlite.prepare('SELECT sites FROM site_generation WHERE sites >= 100').get()).toBeNull()
  db.close()
  rmSync(folder, { recursive: true })
})

test('a durable transaction resolves with the result of the work, and concurrent ones share the wait', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-durable-'))
  const db = openDb(join(folder, 'svc.db'), 0)
  const insert = (key: string) => {
    db.sqlite.run('INSERT INTO settings (key, value, updated_at) VALUES (?, 1, 0)', [key])
    return key
  }
  const keys = ['a', 'b', 'c', 'd']
  const all = keys.map((key) => inDurableTransaction(db, () => insert(key)))
  expect(await Promise.all(all)).toEqual(keys)
  await expect(inDurableTransaction(db, () => insert('a'))).rejects.toThrow('UNIQUE')
  expect(await inDurableTransaction(db, () => insert('e'))).toBe('e')
  db.close()
  rmSync(folder, { recursive: true })
})

test('every commit that somebody is told of is counted, and no other', async () => {
  const db = openDb(':memory:', 0)
  const counted = async (write: () => unknown) => {
    const { awaited } = db.log
    await write()
    return db.log.awaited > awaited
  }
  const insert = () => db.sqlite.run("INSERT OR REPLACE INTO settings VALUES ('a', 1, 0)").changes
  expect(await counted(() => inTransaction(db, insert))).toBe(true)
  expect(await counted(() => inDurableTransaction(db, insert))).toBe(true)
  expect(await counted(() => groupCommit(db, insert))).toBe(true)
  expect(await counted(() => inRelaxedTransaction(db, insert))).toBe(false)
  const larger = () => inTransaction(db, () => inRelaxedTransaction(db, insert))
  expect(await counted(larger)).toBe(true)
  expect(await counted(() => db.sqlite.query('SELECT 1').get())).toBe(false)
  db.close()
})
