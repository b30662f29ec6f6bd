import { afterEach, beforeEach, expect, test } from 'bun:test'
import { generationCache } from './generation.ts'
import { type Db, inTransaction, openDb } from './open.ts'

let db: Db
beforeEach(() => {
  db = openDb(':memory:', 0)
})
afterEach(() => db.close())

const cache = generationCache<string>('access')
const setting = () =>
  cache.get(
    db,
    'a',
    () => db.sqlite.query<{ value: string }, []>('SELECT value FROM settings').get()?.value ?? 'none',
  )
const set = (value: string) => inTransaction(db, () => write(value))
const write = (value: string) => {
  db.sqlite.run("INSERT OR REPLACE INTO settings VALUES ('a', ?, 0)", [value])
}

test('a value is cached until its part of the generation changes', () => {
  let loads = 0
  const counted = () => cache.get(db, 'counted', () => String(++loads))
  expect([counted(), counted()]).toEqual(['1', '1'])
  set('new')
  expect([counted(), counted()]).toEqual(['2', '2'])
})

test('a look at the cache loads nothing, and sees no value of an earlier generation', () => {
  const look = () => cache.peek(db, 'seen')
  expect(look()).toBeUndefined()
  cache.get(db, 'seen', () => 'a value')
  expect(look()).toBe('a value')
  set('new')
  expect(look()).toBeUndefined()
})

test.each([true, false])(
  'what a transaction cached of its own writes is dropped with it (generation known before: %p)',
  (isKnown) => {
    set('first')
    if (isKnown) expect(setting()).toBe('first')
    const undone = () =>
      inTransaction(db, () => {
        write('undone')
        expect(['first', 'undone']).toContain(setting() ?? '')
        throw new Error('taken back')
      })
    expect(undone).toThrow('taken back')
    // The generation of the rolled-back transaction now belongs to another.
    set('second')
    expect(setting()).toBe('second')
  },
)

test('a value loaded in a transaction that is rolled back is not cached', () => {
  cache.get(db, 'other', () => 'makes the generation known')
  const undone = () =>
    inTransaction(db, () => {
      write('undone')
      setting()
      throw new Error('taken back')
    })
  expect(undone).toThrow('taken back')
  expect(setting()).toBe('none')
})
