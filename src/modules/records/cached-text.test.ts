import { expect, test } from 'bun:test'
import { inTransaction, openDb } from '../../db/open.ts'
import { cachedText } from './cached-text.ts'

test('a text is loaded once, and again after any write', () => {
  const db = openDb(':memory:', 0)
  let loads = 0
  const load = (size: number) => () => {
    loads += 1
    return 'x'.repeat(size)
  }
  cachedText(db, 'a', load(1))
  expect(cachedText(db, 'a', load(2))).toBe('x')
  expect(cachedText(db, 'b', load(2))).toBe('xx')
  expect(loads).toBe(2)
  inTransaction(db, () => undefined)
  expect(cachedText(db, 'a', load(3))).toBe('xxx')
  db.close()
})

test('what is large is not kept, and never too much', () => {
  const db = openDb(':memory:', 0)
  let loads = 0
  const load = (size: number) => () => {
    loads += 1
    return 'x'.repeat(size)
  }
  cachedText(db, 'large', load(300_000))
  cachedText(db, 'large', load(300_000))
  expect(loads).toBe(2)
  for (let i = 0; i < 40; i++) cachedText(db, `${i}`, load(200_000))
  cachedText(db, '0', load(1))
  cachedText(db, '39', load(1))
  expect(loads).toBe(2 + 40 + 1)
  db.close()
})
