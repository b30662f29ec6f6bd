import { expect, spyOn, test } from 'bun:test'
import { niceThreads } from './nice-threads.ts'

const NICENESS = 11

const double = niceThreads<number, number>({
  niceness: NICENESS,
  failure: 'The number could not be doubled',
  program: `
  function work(job) {
    if (job < 0) throw new Error('it is negative')
    return job * 2
  }`,
})

test('jobs run in parallel, and threads are reused', async () => {
  expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6])
  expect(await Promise.all([4, 5, 6, 7].map(double))).toEqual([8, 10, 12, 14])
})

test('the program text is kept only once for all threads', async () => {
  const made = spyOn(URL, 'createObjectURL')
  const half = niceThreads<number, number>({
    niceness: NICENESS,
    failure: 'The number could not be halved',
    program: 'const work = (job) => job / 2',
  })
  expect(await Promise.all([2, 4, 6].map(half))).toEqual([1, 2, 3])
  expect(made).toHaveBeenCalledTimes(1)
  made.mockRestore()
})

test('a failed job reports why, and the next one runs', async () => {
  await expect(double(-1)).rejects.toThrow('The number could not be doubled: Error: it is negative')
  expect(await double(8)).toBe(16)
})

test('the thread has a lower priority, the process does not', async () => {
  const priorities = niceThreads<null, number[]>({
    niceness: NICENESS,
    failure: 'The priorities could not be read',
    program: `
    import { getPriority } from 'node:os'
    const work = () => [
      getPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1))),
      getPriority(process.pid),
    ]`,
  })
  const [ofThread, ofProcess] = await priorities(null)
  // On other systems the niceness applies to the whole process, which must keep it.
  if (process.platform === 'linux') expect(ofThread).toBe(NICENESS)
  expect(ofProcess).not.toBe(NICENESS)
})
