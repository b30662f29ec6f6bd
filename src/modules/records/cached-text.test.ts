import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Db, inTransaction, openDb } from '../../db/open.ts'
import { cachedText } from './cached-text.ts'
import { noteChange } from './changes.ts'

let db: Db
let loads: number
beforeEach(() => {
  db = openDb(':memory:', 0)
  loads = 0
})
afterEach(() => db.close())

const load = (size: number) => () => {
  loads += 1
  return 'x'.repeat(size)
}

test('a text is loaded once, and again after a write to its schema', () => {
  cachedText(db, 's', 'a', load(1))
  expect(cachedText(db, 's', 'a', load(2))).toBe('x')
  expect(cachedText(db, 's', 'b', load(2))).toBe('xx')
  expect(loads).toBe(2)
  inTransaction(db, () => noteChange(db, 's'))
  expect(cachedText(db, 's', 'a', load(3))).toBe('xxx')
})

test('writes to other schemas, or of other things, change nothing', () => {
  cachedText(db, 's', 'a', load(1))
  inTransaction(db, () => noteChange(db, 'other'))
  inTransaction(db, () => undefined)
  expect(cachedText(db, 's', 'a', load(2))).toBe('x')
  expect(cachedText(db, 'other', 'a', load(3))).toBe('xxx')
})

test('what a transaction loads is not cached', () => {
  inTransaction(db, () => void cachedText(db, 's', 'a', load(1)))
  expect(cachedText(db, 's', 'a', load(2))).toBe('xx')
})

test('those who ask at the same time share one load, unless something was written since', async () => {
  const slow = (text: string) => async () => {
    loads += 1
    await new Promise<void>((resolve) => setImmediate(resolve))
    return text
  }
  const first = [cachedText(db, 's', 'a', slow('old')), cachedText(db, 's', 'a', slow('older'))]
  noteChange(db, 's')
  const then = [cachedText(db, 's', 'a', slow('new')), cachedText(db, 's', 'a', slow('newer'))]
  expect(await Promise.all([...first, ...then])).toEqual(['old', 'old', 'new', 'new'])
  expect(cachedText(db, 's', 'a', slow('newest'))).toBe('new')
  expect(loads).toBe(2)
})

test('of one question one load is under way at a time, and those who asked meanwhile share the next', async () => {
  let running = 0
  const slow = async () => {
    loads += 1
    running += 1
    expect(running).toBe(1)
    const text = String(loads)
    await new Promise<void>((resolve) => setImmediate(resolve))
    running -= 1
    return text
  }
  const asked: (string | Promise<string>)[] = []
  for (let i = 0; i < 10; i++) {
    asked.push(cachedText(db, 's', 'a', slow))
    noteChange(db, 's')
  }
  expect(await Promise.all(asked)).toEqual(['1', ...Array(9).fill('2')])
})

test('a failure is not cached', async () => {
  const fail = async () => {
    throw new Error('no')
  }
  expect(Promise.resolve(cachedText(db, 's', 'a', fail))).rejects.toThrow('no')
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(cachedText(db, 's', 'a', load(1))).toBe('x')
})

test('large texts are not cached, and the total is limited', () => {
  cachedText(db, 's', 'large', load(300_000))
  cachedText(db, 's', 'large', load(300_000))
  expect(loads).toBe(2)
  for (let i = 0; i < 40; i++) cachedText(db, 's', `${i}`, load(200_000))
  cachedText(db, 's', '0', load(1))
  cachedText(db, 's', '39', load(1))
  expect(loads).toBe(2 + 40 + 1)
})
