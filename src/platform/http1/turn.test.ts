import { expect, test } from 'bun:test'
import { atEndOfTurn } from './turn.ts'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('deferred jobs run later, once and in order', async () => {
  const done: string[] = []
  atEndOfTurn(() => done.push('a'))
  atEndOfTurn(() => done.push('b'))
  expect(done).toEqual([])
  await nextTurn()
  expect(done).toEqual(['a', 'b'])
  await nextTurn()
  expect(done).toEqual(['a', 'b'])
})

test('a job deferred by another waits for the next turn', async () => {
  const done: string[] = []
  atEndOfTurn(() => {
    done.push('a')
    atEndOfTurn(() => done.push('c'))
    done.push('b')
  })
  await nextTurn()
  expect(done.slice(0, 2)).toEqual(['a', 'b'])
  await nextTurn()
  expect(done).toEqual(['a', 'b', 'c'])
})
