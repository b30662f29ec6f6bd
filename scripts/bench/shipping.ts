import { inDurableTransaction } from '../../src/db/relaxed.ts'
import { Shipping } from '../../src/testing/shipping.ts'
import type { Lab } from './lib/lab.ts'
import type { Pace } from './lib/pace.ts'
import type { Line } from './lib/report.ts'
import { median } from './lib/stats.ts'

/** How far away the store is. */
const AWAY_MS = 30
const COMMITS_A_SECOND = 2_000
const SINGLE_COMMITS = 30

/** Commits whose log goes to a store 30 ms away: what one waits, and how many share an object. */
export async function benchShipping(_lab: Lab, pace: Pace): Promise<Line[]> {
  const alone: number[] = []
  const shared: number[] = []
  for (let round = 0; round < pace.rounds; round += 1) {
    const shipping = new Shipping()
    await shipping.shipper.sync()
    shipping.server.delayMs = AWAY_MS
    alone.push(await oneCommit(shipping))
    shared.push(await manyCommits(shipping, pace.seconds))
    await shipping.end()
  }
  return [
    {
      name: 'one commit, store 30 ms away',
      measure: 'commit/PUT',
      samples: alone,
      bar: { atMost: 2.5, aim: 1.2 },
    },
    {
      name: '2,000 commits a second',
      measure: 'objects/commit',
      samples: shared,
      bar: { atMost: 0.1, aim: 0.02 },
    },
  ]
}

async function oneCommit(shipping: Shipping): Promise<number> {
  const store = shipping.store()
  const commits: number[] = []
  const puts: number[] = []
  for (let i = 0; i < SINGLE_COMMITS; i += 1) {
    commits.push(await timed(() => commit(shipping)))
    puts.push(await timed(() => store.create(`put/${i}`, new Uint8Array(8_192), { epoch: 1 })))
  }
  return median(commits) / median(puts)
}

async function manyCommits(shipping: Shipping, seconds: number): Promise<number> {
  const before = shipping.numbers().length
  const waiting: Promise<void>[] = []
  const startedAt = performance.now()
  for (;;) {
    const passed = (performance.now() - startedAt) / 1000
    if (passed > seconds) break
    while (waiting.length < passed * COMMITS_A_SECOND) waiting.push(commit(shipping))
    await Bun.sleep(1)
  }
  await Promise.all(waiting)
  return (shipping.numbers().length - before) / waiting.length
}

const commit = (shipping: Shipping): Promise<void> =>
  inDurableTransaction(shipping.db, () => shipping.insert(200))

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
