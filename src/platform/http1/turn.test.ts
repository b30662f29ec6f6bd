import { expect, test } from 'bun:test'
import { atEndOfTurn } from './turn.ts'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('what is put off is done in its order, once, and not at once', async () => {
  const done: string[] = []
  atEndOfTurn(() => done.push('a'))
  atEndOfTurn(() => done.push('b'))
  expect(done).toEqual([])
  await nextTurn()
  expect(done).toEqual(['a', 'b'])
  await nextTurn()
  expect(done).toEqual(['a', 'b'])
})

test('what is put off meanwhile waits for the next turn', async () => {
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
