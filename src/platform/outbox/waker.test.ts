import { expect, test } from 'bun:test'
import { Waker } from './waker.ts'

const nextTurn = () => new Promise((resolve) => setTimeout(resolve, 1))

test('what is told several times in one transaction wakes once, and again after that', async () => {
  const waker = new Waker()
  let woken = 0
  waker.listen(() => {
    woken += 1
  })
  for (let event = 0; event < 3; event++) waker.afterCommit()
  expect(woken).toBe(0)
  await nextTurn()
  expect(woken).toBe(1)
  waker.afterCommit()
  await nextTurn()
  expect(woken).toBe(2)
})

test('nobody is woken who listens no more', async () => {
  const waker = new Waker()
  let woken = 0
  const stop = waker.listen(() => {
    woken += 1
  })
  waker.afterCommit()
  stop()
  await nextTurn()
  expect(woken).toBe(0)
})
