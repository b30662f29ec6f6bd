import { afterEach, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Db, inTransaction, openDb } from './open.ts'
import { readApart } from './read-apart.ts'

let folder: string
let path: string
let db: Db
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-read-apart-'))
  path = join(folder, 'svc.db')
  db = openDb(path, 0)
  inTransaction(db, () => void db.sqlite.run('CREATE TABLE filling (n INTEGER NOT NULL)'))
  inTransaction(db, () => void db.sqlite.run('INSERT INTO filling VALUES (7)'))
})
afterEach(() => {
  db.close()
  rmSync(folder, { recursive: true })
})

const read = async () => readApart<{ n: number }>(db, 'filling', 'SELECT n FROM filling', [])

test('a connection of its own sees what is committed', async () => {
  expect(await read()).toEqual([{ n: 7 }])
  inTransaction(db, () => void db.sqlite.run('INSERT INTO filling VALUES (8)'))
  expect(await read()).toEqual([{ n: 7 }, { n: 8 }])
})

test.each([
  ['an empty file', () => writeFileSync(path, '')],
  ['a copy', () => copyFileSync(`${path}-away`, path)],
  ['nothing', () => {}],
])('with %s in its place it is refused, and the log stays', async (_, put) => {
  renameSync(path, `${path}-away`)
  put()
  expect(await read().catch((error) => error)).toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('database file'),
  })
  expect(existsSync(`${path}-wal`)).toBe(true)
  renameSync(`${path}-away`, path)
  expect(await read()).toEqual([{ n: 7 }])
})
