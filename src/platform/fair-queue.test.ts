import { expect, test } from 'bun:test'
import { AppError } from '../domain/errors.ts'
import { fairQueue } from './fair-queue.ts'

const limits = { waitingOfOne: 3, waiting: 5, refusal: () => new AppError('unavailable', 'Too many') }

/** Jobs that are done when they are told so, in the order in which they began. */
function jobs() {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const job = (name: string) => () => {
    begun.push(name)
    return new Promise<string>((resolve) => ends.push(() => resolve(name)))
  }
  const endNext = async () => {
    await Bun.sleep(0)
    ends.shift()?.()
  }
  return { begun, job, endNext }
}

test('whoever has many waiting lets the others have their turns', async () => {
  const inTurn = fairQueue(limits)
  const { begun, job, endNext } = jobs()
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1'].map((name) => inTurn(name.charAt(0), job(name)))
  for (const _ of all) await endNext()
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'a4'])
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'c1'])
})

test('too many of one are refused, and leave room for others', async () => {
  const inTurn = fairQueue(limits)
  const { job, endNext } = jobs()
  const ofA = Array.from({ length: 5 }, () => inTurn('a', job('a')).catch((error: Error) => error.message))
  const ofB = Array.from({ length: 3 }, () => inTurn('b', job('b')).catch((error: Error) => error.message))
  for (let i = 0; i < 6; i++) await endNext()
  expect(await Promise.all(ofA)).toEqual(['a', 'a', 'a', 'a', 'Too many'])
  expect(await Promise.all(ofB)).toEqual(['b', 'b', 'Too many'])
})

test('a job that fails passes the turn on, and an empty queue begins at once', async () => {
  const inTurn = fairQueue(limits)
  const failed = inTurn('a', () => Promise.reject(new Error('broken'))).catch(String)
  expect([await inTurn('b', async () => 'done'), await failed]).toEqual(['done', 'Error: broken'])
  expect(await inTurn('a', async () => 'again')).toBe('again')
})
