import { expect, test } from 'bun:test'
import { flushGroupCommit, groupCommit } from './group-commit.ts'
import { type Db, openDb } from './open.ts'

function opened(): Db {
  const db = openDb(':memory:', 0)
  db.sqlite.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)')
  return db
}
const add = (text: string) => (db: Db) =>
  db.sqlite.query('INSERT INTO notes (text) VALUES (?)').run(text).changes
const notes = (db: Db) => db.sqlite.query<{ text: string }, []>('SELECT text FROM notes ORDER BY id').all()
const commitsOf = (db: Db) => db.writes

test('what is handed over in one turn shares a commit, and resolves after it', async () => {
  const db = opened()
  const before = commitsOf(db)
  const all = ['a', 'b', 'c'].map((text) => groupCommit(db, add(text)))
  expect(notes(db)).toEqual([])
  expect(await Promise.all(all)).toEqual([1, 1, 1])
  expect(notes(db).map(({ text }) => text)).toEqual(['a', 'b', 'c'])
  expect(commitsOf(db)).toBe(before + 1)
})

test('one that fails takes nobody with it, and leaves nothing of itself', async () => {
  const db = opened()
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

test('a later one may follow from an earlier one', async () => {
  const db = opened()
  await groupCommit(db, add('a')).then(() => groupCommit(db, add('b')))
  expect(notes(db)).toHaveLength(2)
})

test('a flush commits at once', async () => {
  const db = opened()
  const added = groupCommit(db, add('a'))
  flushGroupCommit(db)
  expect(notes(db)).toHaveLength(1)
  expect(await added).toBe(1)
})

test('inside of an open transaction it is a part of that one', async () => {
  const db = opened()
  db.sqlite.run('BEGIN')
  await groupCommit(db, add('a'))
  await Promise.allSettled([groupCommit(db, add('b')), groupCommit(db, add('a'))])
  expect(notes(db).map(({ text }) => text)).toEqual(['a', 'b'])
  db.sqlite.run('ROLLBACK')
  expect(notes(db)).toEqual([])
})

test('a database that is closed refuses, and nothing hangs', async () => {
  const db = opened()
  const added = groupCommit(db, add('a'))
  db.sqlite.close()
  await expect(added).rejects.toThrow()
})
