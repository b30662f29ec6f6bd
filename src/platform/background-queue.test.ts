import { expect, test } from 'bun:test'
import { BackgroundQueue } from './background-queue.ts'

test('one piece of work runs at a time, and what waits twice runs once', async () => {
  const log: string[] = []
  const queue = new BackgroundQueue(async (id) => {
    log.push(`${id} begins`)
    await Bun.sleep(1)
    log.push(`${id} ends`)
  })
  for (const id of ['a', 'b', 'a']) queue.add(id)
  expect([queue.isWaiting('a'), log]).toEqual([true, []])
  await queue.wait()
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
})

test('what is added while it runs is done again', async () => {
  const done: string[] = []
  const queue = new BackgroundQueue(async (id) => {
    done.push(id)
    if (done.length === 1) queue.add(id)
  })
  queue.add('a')
  await queue.wait()
  expect(done).toEqual(['a', 'a'])
})

test('a queue that is stopped ends its work and takes no more', async () => {
  const done: string[] = []
  const held = Promise.withResolvers<void>()
  const queue = new BackgroundQueue(async (id) => {
    await held.promise
    done.push(`${id}, stopped: ${queue.isStopped}`)
  })
  queue.add('a')
  queue.add('b')
  await Bun.sleep(1)
  const stopped = queue.stop()
  held.resolve()
  await stopped
  queue.add('c')
  await queue.wait()
  expect(done).toEqual(['a, stopped: true'])
})

test('whatever was left is queued page by page', async () => {
  const done: string[] = []
  const queue = new BackgroundQueue(async (id) => {
    done.push(id)
  })
  const ids = ['a', 'b', 'c', 'd', 'e']
  await queue.addAll((after) => ids.filter((id) => id > after).slice(0, 2))
  await queue.wait()
  expect(done).toEqual(ids)
})
