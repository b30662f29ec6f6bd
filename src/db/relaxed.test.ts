import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb } from './open.ts'
import { inRelaxedTransaction } from './relaxed.ts'

test('waits for the disk again afterwards, whatever became of the work', () => {
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
  db.sqlite.close()
  rmSync(folder, { recursive: true })
})
