import { expect, test } from 'bun:test'
import { BodyBudget } from './body-budget.ts'

const takes: [what: string, others: number, own: number, held: number, more: number, isTaken: boolean][] = [
  ['half beside another', 10, 40, 40, 10, true],
  ['more than half beside another', 10, 40, 40, 11, false],
  ['half in several bodies', 0, 40, 0, 10, true],
  ['more than half in several bodies, also beside nobody', 0, 40, 0, 11, false],
  ['all of it in one', 0, 0, 0, 100, true],
  ['more than all of it', 0, 0, 0, 101, false],
  ['more than half in one', 0, 50, 50, 50, true],
  ['the rest', 60, 30, 30, 10, true],
  ['more than the rest', 60, 30, 30, 11, false],
  ['something where another has more than half', 90, 0, 0, 10, true],
]
test.each(takes)('%s', (_what, others, own, held, more, isTaken) => {
  const budget = new BodyBudget(100)
  if (others > 0) budget.take('other', others, 0)
  if (own > 0) budget.take('one', own, 0)
  expect(budget.take('one', more, held)).toBe(isTaken)
  expect(budget.usedBytes).toBe(others + own + (isTaken ? more : 0))
})

test('what is given back can be taken again', () => {
  const budget = new BodyBudget(100)
  budget.take('one', 80, 0)
  expect(budget.take('other', 30, 0)).toBe(false)
  budget.giveBack('one', 80)
  expect(budget.usedBytes).toBe(0)
  expect(budget.take('other', 30, 0)).toBe(true)
})

test('of many bodies some room is kept for what the runtime reads ahead', () => {
  const MIB = 1024 * 1024
  const budget = new BodyBudget(16 * MIB)
  for (let i = 0; i < 100; i++) budget.enter()
  expect(budget.take('one', 7.5 * MIB, 0)).toBe(true)
  expect(budget.take('other', 7.5 * MIB, 0)).toBe(false)
  for (let i = 0; i < 90; i++) budget.leave()
  expect(budget.take('other', 7.5 * MIB, 0)).toBe(true)
})
