import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../domain/errors.ts'
import { groupCommit } from './group-commit.ts'
import { type Db, inTransaction, openDb } from './open.ts'
import { inDurableTransaction, inRelaxedTransaction } from './relaxed.ts'

let folder: string
let db: Db
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-open-'))
  db = openDb(join(folder, 'svc.db'), 0)
})
afterEach(() => {
  db.close()
  rmSync(folder, { recursive: true })
})

const insert = (id: string) =>
  void db.sqlite.query('INSERT INTO settings (key, value, updated_at) VALUES (?, 1, 0)').run(id)
const inserted = () => db.sqlite.query<{ key: string }, []>('SELECT key FROM settings').all()

/** All ways to write. */
const ways: [string, (id: string) => Promise<void>][] = [
  ['a transaction', async (id) => inTransaction(db, () => insert(id))],
  ['a relaxed transaction', async (id) => inRelaxedTransaction(db, () => insert(id))],
  ['a durable transaction', (id) => inDurableTransaction(db, () => insert(id))],
  ['a group commit', (id) => groupCommit(db, () => insert(id))],
]

test.each(ways)('%s is refused while the file is not in place', async (_, write) => {
  const path = join(folder, 'svc.db')
  renameSync(path, `${path}-away`)
  const failure = await write('lost').catch((error) => error)
  expect(failure).toBeInstanceOf(AppError)
  expect(failure.status).toBe(503)
  expect(inserted()).toEqual([])
  renameSync(`${path}-away`, path)
  await write('kept')
  expect(inserted()).toEqual([{ key: 'kept' }])
})

test.each(ways)('%s is refused once the disk has failed', async (_, write) => {
  db.log.failure = new Error('the disk is gone')
  const failure = await write('lost').catch((error) => error)
  expect(failure).toBeInstanceOf(AppError)
  expect(failure.status).toBe(503)
  expect(inserted()).toEqual([])
})
