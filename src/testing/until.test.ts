import { expect, test } from 'bun:test'
import { until } from './until.ts'

test('returns what was found, at once or later', async () => {
  const found = [false, undefined, 0]
  expect(await until('a number', async () => found.shift())).toBe(0)
  expect(found).toEqual([])
})

test('fails with what was waited for', async () => {
  await expect(until('snow', () => false, 20)).rejects.toThrow(/^Waited 0.02 s in vain for snow$/)
})

test('fails with what the check throws', async () => {
  const check = () => {
    throw new Error('it ended')
  }
  await expect(until('snow', check)).rejects.toThrow(/^it ended$/)
})
