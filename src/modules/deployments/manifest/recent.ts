import type { Context } from '../../../context.ts'
import { MINUTE_MS } from '../../../domain/durations.ts'
import type { Manifest } from './parse.ts'
import type { Holdings } from './queries.ts'

/** Results of the first request of a delta upload, for the second one, which usually follows at once. */
export type RecentUpload = {
  uploadId: string
  manifest: Manifest
  contents: ReadonlyMap<string, number>
  /** Which of the contents existed when `db.writes` was `heldAt`. */
  holdings: Holdings
  heldAt: number
}

/** One per server, and for a minute: it only saves time, and a manifest of 50,000 files is large. */
const KEPT_MS = MINUTE_MS

type Kept = { upload: RecentUpload; timer: ReturnType<typeof setTimeout> }
const kept = new WeakMap<Context, Kept>()

export function keepRecentUpload(ctx: Context, upload: RecentUpload): void {
  clearTimeout(kept.get(ctx)?.timer)
  const timer = setTimeout(() => kept.delete(ctx), KEPT_MS)
  timer.unref()
  kept.set(ctx, { upload, timer })
}

/** Undefined when another upload began meanwhile: the database row has everything too. */
export function takeRecentUpload(ctx: Context, uploadId: string): RecentUpload | undefined {
  const found = kept.get(ctx)
  if (found?.upload.uploadId !== uploadId) return undefined
  clearTimeout(found.timer)
  kept.delete(ctx)
  return found.upload
}
