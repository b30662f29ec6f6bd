import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { flushGroupCommit, groupCommit } from './group-commit.ts'
import { openLogSync } from './log-sync.ts'
import { type Db, openDb } from './open.ts'

let folder: string
let db: Db
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-group-'))
  db = opened('svc.db')
})
afterEach(() => {
  db.close()
  rmSync(folder, { recursive: true })
})

function opened(name: string): Db {
  const db = openDb(join(folder, name), 0)
  db.sqlite.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)')
  return db
}
const add = (text: string) => (db: Db) =>
  db.sqlite.query('INSERT INTO notes (text) VALUES (?)').run(text).changes
const notes = (db: Db) => db.sqlite.query<{ text: string }, []>('SELECT text FROM notes ORDER BY id').all()
const commitsOf = (db: Db) => db.writes

test('work submitted in one turn shares a commit and resolves after it', async () => {
  const before = commitsOf(db)
  const all = ['a', 'b', 'c'].map((text) => groupCommit(db, add(text)))
  expect(notes(db)).toEqual([])
  expect(await Promise.all(all)).toEqual([1, 1, 1])
  expect(notes(db).map(({ text }) => text)).toEqual(['a', 'b', 'c'])
  expect(commitsOf(db)).toBe(before + 1)
})

test('work that fails leaves nothing behind and does not affect the rest', async () => {
  const twoRows = (first: string, second: string) => (at: Db) => [add(first)(at), add(second)(at)]
  const settled = await Promise.allSettled([
    groupCommit(db, add('a')),
    groupCommit(db, twoRows('half', 'a')),
    groupCommit(db, () => {
      throw new Error('changed my mind')
    }),
    groupCommit(db, add('b')),
  ])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(notes(db).map(({ text }) => text)).toEqual(['a', 'b'])
  expect(db.sqlite.inTransaction).toBe(false)
})

test('later work may depend on earlier work', async () => {
  await groupCommit(db, add('a')).then(() => groupCommit(db, add('b')))
  expect(notes(db)).toHaveLength(2)
})

test('work submitted during a disk sync is committed too, in order', async () => {
  const all: Promise<number>[] = []
  for (let turn = 0; turn < 50; turn++) {
    all.push(groupCommit(db, add(`note ${turn}`)))
    await new Promise(setImmediate)
  }
  expect(await Promise.all(all)).toEqual(all.map(() => 1))
  expect(notes(db).map(({ text }) => text)).toEqual(all.map((_, turn) => `note ${turn}`))
})

test('when the disk fails, nothing is reported as stored, and nothing more is accepted', async () => {
  // The system refuses to sync a device.
  const failing = { ...db, log: openLogSync('/dev/null') }
  const settled = await Promise.allSettled([groupCommit(failing, add('a')), groupCommit(failing, add('b'))])
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const refused = await groupCommit(failing, add('c')).catch((error) => error)
  expect(refused).toMatchObject({ status: 503 })
  expect(refused.message).toContain('The disk failed')
  expect(notes(db).map(({ text }) => text)).not.toContain('c')
  failing.log.close()
})

test('a flush commits at once', async () => {
  const added = groupCommit(db, add('a'))
  flushGroupCommit(db)
  expect(notes(db)).toHaveLength(1)
  expect(await added).toBe(1)
})

test('inside an open transaction it becomes part of that one', async () => {
  db.sqlite.run('BEGIN')
  await groupCommit(db, add('a'))
  await Promise.allSettled([groupCommit(db, add('b')), groupCommit(db, add('a'))])
  expect(notes(db).map(({ text }) => text)).toEqual(['a', 'b'])
  db.sqlite.run('ROLLBACK')
  expect(notes(db)).toEqual([])
})

test('a closed database rejects work, and nothing hangs', async () => {
  const other = opened('other.db')
  const added = groupCommit(other, add('a'))
  other.close()
  await expect(added).rejects.toThrow()
})
