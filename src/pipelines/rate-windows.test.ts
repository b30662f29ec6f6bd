import { expect, test } from 'bun:test'
import { RateWindows } from './rate-windows.ts'

const MINUTE = 60_000
/** A request of each caller, in this order. */
function ask(windows: RateWindows, projectId: string, callers: readonly string[], now = 0): void {
  for (const caller of callers) windows.at(projectId, caller, now, MINUTE).count += 1
}
const countOf = (windows: RateWindows, projectId: string, caller: string, now = 1): number =>
  windows.at(projectId, caller, now, MINUTE).count
const many = (count: number, prefix = 'c') => Array.from({ length: count }, (_, i) => `${prefix}${i}`)

test('a window counts until it is over, and then begins anew', () => {
  const windows = new RateWindows()
  ask(windows, 'p', ['a', 'a', 'b'])
  expect([countOf(windows, 'p', 'a'), countOf(windows, 'p', 'b'), countOf(windows, 'q', 'a')]).toEqual([
    2, 1, 0,
  ])
  expect(countOf(windows, 'p', 'a', MINUTE)).toBe(0)
  expect(windows.count()).toBe(3)
})

test('5,000 requests to a site of their own do not reset a neighbour, nor do 50,000', () => {
  const windows = new RateWindows()
  ask(windows, 'neighbour', ['visitor'])
  ask(windows, 'flood', many(50_000))
  expect([windows.count('flood'), windows.count()]).toEqual([10_000, 10_001])
  expect(countOf(windows, 'neighbour', 'visitor')).toBe(1)
})

test('of a project that has too many its own oldest goes first, and one that began anew is young', () => {
  const windows = new RateWindows({ ofProject: 3 })
  ask(windows, 'p', ['a', 'b', 'c'])
  ask(windows, 'p', ['a'], MINUTE)
  ask(windows, 'p', ['d'], MINUTE)
  expect(['a', 'd', 'c'].map((caller) => countOf(windows, 'p', caller, MINUTE - 1))).toEqual([1, 1, 1])
  expect(windows.count('p')).toBe(3)
})

test('when there are too many in all, those go that have most, never one below its share', () => {
  const windows = new RateWindows({ ofProject: 60, inAll: 100 })
  ask(windows, 'small', many(5))
  ask(windows, 'a', many(60))
  ask(windows, 'b', many(60))
  expect([windows.count('small'), windows.count('a'), windows.count('b'), windows.count()]).toEqual([
    5, 47, 48, 100,
  ])
  for (let i = 0; i < 20; i++) ask(windows, `one ${i}`, ['visitor'])
  expect([windows.count('small'), windows.count()]).toEqual([5, 100])
  for (let i = 0; i < 20; i++) expect(countOf(windows, `one ${i}`, 'visitor')).toBe(1)
})

test('100,000 projects with a window each, and floods among them, stay within the whole', () => {
  const windows = new RateWindows()
  for (let i = 0; i < 100_000; i++) ask(windows, `p${i}`, ['visitor'])
  for (let i = 0; i < 15; i++) ask(windows, `p${i}`, many(12_000))
  expect(windows.count()).toBeLessThanOrEqual(200_000)
  expect(countOf(windows, 'p99999', 'visitor')).toBe(1)
})
