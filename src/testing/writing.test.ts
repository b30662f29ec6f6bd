import { expect, test } from 'bun:test'
import { type Acknowledged, twoAtOnce } from './writing.ts'

const change = (epoch: number, number: number, sentAt: number): Acknowledged => ({
  name: `${number}`,
  epoch,
  number,
  sentAt,
  answeredAt: sentAt + 1,
})

test.each<[what: string, changes: Acknowledged[], found: string[]]>([
  ['one machine after the other', [change(1, 1, 0), change(1, 2, 5), change(2, 4, 9)], []],
  ['an answer that came late', [{ ...change(1, 1, 0), answeredAt: 90 }, change(2, 3, 9)], []],
  [
    'a number behind the take-over',
    [change(2, 3, 9), change(1, 4, 5)],
    ['4 is of epoch 1, behind a later one'],
  ],
  [
    'a change after the take-over',
    [change(2, 3, 9), change(1, 2, 11)],
    ['2 was acknowledged in epoch 1 after its end'],
  ],
  ['no epoch', [change(Number.NaN, Number.NaN, 0)], ['NaN is in no epoch']],
])('%s', (_what, changes, found) => {
  expect(twoAtOnce(changes)).toEqual(found)
})
