import type { Context } from '../../../context.ts'

const running = new WeakMap<Context, number>()

/** Counts an upload as running until `work` ends: background work waits for it. */
export async function asUpload<T>(ctx: Context, work: () => Promise<T>): Promise<T> {
  running.set(ctx, uploads(ctx) + 1)
  try {
    return await work()
  } finally {
    running.set(ctx, uploads(ctx) - 1)
  }
}

const LOOK_EVERY_MS = 20
/** Uploads over a slow connection leave time for background work. */
const LONGEST_WAIT_MS = 2_000

/** Resolves when no upload is running, or after a timeout. */
export async function whenNoUpload(ctx: Context): Promise<void> {
  for (let waitedMs = 0; uploads(ctx) > 0 && waitedMs < LONGEST_WAIT_MS; waitedMs += LOOK_EVERY_MS)
    await Bun.sleep(LOOK_EVERY_MS)
}

const uploads = (ctx: Context): number => running.get(ctx) ?? 0
