import { expect, test } from 'bun:test'
import { inTurns } from './log-sync.ts'

test('one run at a time, also for those who call at any moment while one ends', async () => {
  let [active, most, runs] = [0, 0, 0]
  const calls: Promise<void>[] = []
  const turn = inTurns(async () => {
    runs += 1
    active += 1
    most = Math.max(most, active)
    await Bun.sleep(1)
    active -= 1
    if (runs === 1) calls.push(callOften())
  })
  const callOften = async () => {
    for (let n = 0; n < 20; n++) {
      await null
      calls.push(turn())
    }
  }
  await Promise.all([turn(), turn()])
  await Promise.all(calls)
  await Promise.all(calls)
  expect(most).toBe(1)
})
