import { expect, test } from 'bun:test'
import { Waiters } from './waiters.ts'

/** contract 18 §6: those who read what they wrote wait up to a second, and never more than 1,000 at once. */

const MOST = 1_000
const LONG = 60_000

test('1,000 wait at once; one more is told at once that it is not here, and there is room again once it is', async () => {
  const waiters = new Waiters()
  const first = Array.from({ length: MOST }, (_, n) => waiters.reached(5 + (n % 2), LONG))
  expect(await waiters.reached(5, LONG)).toBe(false)
  waiters.applied(5)
  const second = Array.from({ length: MOST / 2 }, () => waiters.reached(6, LONG))
  expect(await waiters.reached(6, LONG)).toBe(false)
  waiters.applied(6)
  expect(new Set(await Promise.all([...first, ...second]))).toEqual(new Set([true]))
})

test('who has waited long enough, or waits when it ends, leaves its place', async () => {
  const waiters = new Waiters()
  expect(await waiters.reached(5, 0)).toBe(false)
  const short = Array.from({ length: MOST }, () => waiters.reached(5, 20))
  expect(new Set(await Promise.all(short))).toEqual(new Set([false]))
  const last = waiters.reached(5, LONG)
  waiters.end()
  expect(await last).toBe(false)
})
