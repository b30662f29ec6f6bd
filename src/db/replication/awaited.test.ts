import { expect, test } from 'bun:test'
import { Awaited } from './awaited.ts'

test('what is counted apart is counted for all too, and what others count meanwhile is not part of it', async () => {
  const all = new Awaited(5)
  const go = Promise.withResolvers<void>()
  const apart = Awaited.apart(async () => {
    all.count += 1
    await go.promise
    const before = all.count
    all.count += 2
    all.count = before
  })
  expect([apart.count(), all.count]).toEqual([1, 6])
  const other = Awaited.apart(() => all.count)
  all.count += 3
  go.resolve()
  await apart.result
  expect([apart.count(), other.result, other.count(), all.count]).toEqual([1, 0, 0, 9])
})
