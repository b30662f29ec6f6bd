import type { Context } from '../../../context.ts'
import { MINUTE_MS } from '../../../domain/durations.ts'
import type { Manifest } from './parse.ts'
import type { Holdings } from './queries.ts'

/** What the first request of a delta upload worked out, for the second one that mostly follows at once. */
export type RecentUpload = {
  uploadId: string
  manifest: Manifest
  contents: ReadonlyMap<string, number>
  /** Which of the contents there were when `db.writes` was `heldAt`. */
  holdings: Holdings
  heldAt: number
}

/** One a server, and for a minute: it is a help, and a manifest of 50,000 files is large. */
const KEPT_MS = MINUTE_MS

type Kept = { upload: RecentUpload; timer: ReturnType<typeof setTimeout> }
const kept = new WeakMap<Context, Kept>()

export function keepRecentUpload(ctx: Context, upload: RecentUpload): void {
  clearTimeout(kept.get(ctx)?.timer)
  const timer = setTimeout(() => kept.delete(ctx), KEPT_MS)
  timer.unref()
  kept.set(ctx, { upload, timer })
}

/** Undefined where another upload began meanwhile: its row has all of it too. */
export function takeRecentUpload(ctx: Context, uploadId: string): RecentUpload | undefined {
  const found = kept.get(ctx)
  if (found?.upload.uploadId !== uploadId) return undefined
  clearTimeout(found.timer)
  kept.delete(ctx)
  return found.upload
}
