import { expect, test } from 'bun:test'
import { BoundedMemory } from './bounded-memory.ts'

const keptOf = (memory: BoundedMemory<number>, keys: readonly string[]): number =>
  keys.filter((key) => memory.get(key) !== undefined).length

test('many keys, or few long ones, make it begin again', () => {
  for (const length of [10, 8_000]) {
    const memory = new BoundedMemory<number>()
    const keys = Array.from({ length: 12_000 }, (_, at) => String(at).padEnd(length, 'x'))
    for (const [at, key] of keys.entries()) memory.keep(key, at)
    const kept = keptOf(memory, keys)
    expect(memory.get(keys.at(-1) ?? '')).toBe(11_999)
    expect(kept).toBeLessThanOrEqual(5_000)
    expect(kept * length).toBeLessThanOrEqual(1024 * 1024)
  }
})

test('the size of values counts, and what is larger than all is not kept', () => {
  const memory = new BoundedMemory<number>()
  const keys = Array.from({ length: 100 }, (_, at) => `/${at}`)
  for (const [at, key] of keys.entries()) memory.keep(key, at, 100_000)
  expect(keptOf(memory, keys)).toBeLessThanOrEqual(10)
  memory.keep('/large', 1, 2_000_000)
  expect(memory.get('/large')).toBeUndefined()
  expect(memory.get('/99')).toBe(99)
})
