import { expect, test } from 'bun:test'
import { interleave, median, ratios } from './stats.ts'

const medians: [values: number[], expected: number][] = [
  [[3], 3],
  [[9, 1, 5], 5],
  [[4, 1, 3, 2], 2.5],
]

test.each(medians)('the median of %p is %p', (values, expected) => {
  expect(median(values)).toBe(expected)
})

test('ratios pair what was measured in the same round', () => {
  expect(ratios([10, 30], [5, 10])).toEqual([2, 3])
})

test('subjects take turns in every round', async () => {
  const order: string[] = []
  const results = await interleave(['a', 'b'], 2, async (subject, round) => {
    order.push(`${subject}${round}`)
    return round
  })
  expect(order).toEqual(['a0', 'b0', 'a1', 'b1'])
  expect(results.get('b')).toEqual([0, 1])
})
