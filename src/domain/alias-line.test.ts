import { expect, test } from 'bun:test'
import { waysBack } from './alias-line.ts'

/** `1 2 r1`: published #1, then #2, then rolled back to #1; `x2`: #2 was deleted since. Oldest first. */
function ways(text: string): [rollBackTo: string | undefined, returnTo: string | undefined] {
  const history = text
    .split(' ')
    .map((word) => ({
      deploymentId: word.replace(/\D/g, ''),
      reason: word.includes('r') ? 'rollback' : 'publish',
      exists: !word.includes('x'),
    }))
    .toReversed()
  const { rollBackTo, returnTo } = waysBack(history)
  return [rollBackTo?.deploymentId, returnTo?.deploymentId]
}

test.each<[history: string, rollBackTo: string | undefined, returnTo: string | undefined]>([
  ['1', undefined, undefined],
  ['1 2', '1', undefined],
  ['1 2 3', '2', undefined],
  ['1 2 3 r2', '1', '3'],
  ['1 2 3 r2 r1', undefined, '2'],
  ['1 2 3 r2 3', '2', undefined],
  ['1 2 3 r1 4', '1', undefined],
  ['1 2 1 3 r1', '2', '3'],
  ['1 2 2', '1', undefined],
  ['1 x2 3', '1', undefined],
  ['x1 2', undefined, undefined],
  ['1 2 x3 r2', '1', undefined],
  // Back to what was never on the line: it becomes its top.
  ['2 3 r1', '3', '3'],
])('after %s one rolls back to %p and returns to %p', (history, rollBackTo, returnTo) => {
  expect(ways(history)).toEqual([rollBackTo, returnTo])
})
