import { expect, test } from 'bun:test'
import { ApiFailure } from './api-client.ts'
import { retrying } from './retry.ts'

const refused = (retryAfterMs: number | undefined, status = 429) =>
  new ApiFailure({ status, code: '', message: 'no', details: [], retryAfterMs, isOfApi: true })

/** The waits before it was given up. */
async function waitsAfter(failure: Error): Promise<number[]> {
  const waits: number[] = []
  const sleep = async (ms: number) => void waits.push(ms)
  await expect(retrying({ sleep }, () => Promise.reject(failure))).rejects.toBeInstanceOf(Error)
  return waits
}

test.each<[what: string, failure: Error, waits: number[]]>([
  ['a server in trouble', refused(undefined, 503), [1000, 2000, 4000, 8000]],
  ['one that asks for less than the next wait', refused(1500), [1500, 2000, 4000, 8000]],
  ['one that asks for two minutes', refused(120_000), [120_000, 120_000, 120_000, 120_000]],
  ['one that asks for more: no build is held up for that', refused(120_001), []],
  ['a refusal that stays one', refused(undefined, 403), []],
  ['a fault of our own', new TypeError('x'), []],
])('%s', async (_, failure, waits) => {
  expect(await waitsAfter(failure)).toEqual(waits)
})
