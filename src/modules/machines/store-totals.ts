import type { Machine } from '../../context.ts'
import type { StoreStatus } from '../../db/stored-workspace/status.ts'
import { onePer } from '../../platform/one-per.ts'

export type StoreTotals = Pick<StoreStatus, 'log' | 'base' | 'contents'>

/** Lists cost the store work and the operator money: they are read again after so long, and take a small part of the time. */
const KEEP_MS = 15_000
const KEEP_FACTOR = 20
/** Whoever asks waits no longer than this for a list. */
const WAIT_MS = 2_000

type Kept = { totals: StoreTotals | null; until: number; running?: Promise<void> }
const keptOf = onePer((_: Machine['store']): Kept => ({ totals: null, until: Number.NEGATIVE_INFINITY }))

/** What the store holds, as it was counted last; null if that was not possible yet. */
export async function storeTotals({ store }: Pick<Machine, 'store'>): Promise<StoreTotals | null> {
  const kept = keptOf(store)
  if (performance.now() >= kept.until) {
    kept.running ??= count(store, kept).finally(() => {
      delete kept.running
    })
    await Promise.race([kept.running, Bun.sleep(WAIT_MS)])
  }
  return kept.totals
}

/** Never rejects: the state of the store says that it does not answer. */
async function count(store: Machine['store'], kept: Kept): Promise<void> {
  const startedAt = performance.now()
  try {
    const { storeTotals: read } = await import('../../db/stored-workspace/status.ts')
    kept.totals = await read(store)
  } catch {
    // Known from before, or not at all.
  }
  const endedAt = performance.now()
  kept.until = endedAt + Math.max(KEEP_MS, (endedAt - startedAt) * KEEP_FACTOR)
}
