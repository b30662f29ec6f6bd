import type { Context } from '../../../context.ts'
import { inUpkeepTransaction } from '../../../db/tidying.ts'
import { DAY_MS, HOUR_MS } from '../../../domain/durations.ts'
import { contentOfKey } from '../../../domain/store-keys.ts'
import { GO_ON, type Stop } from '../../../platform/in-steps.ts'
import { nextTurn } from '../../../platform/next-turn.ts'
import { onePer } from '../../../platform/one-per.ts'
import { forgetRemoved, isNamed, listRemoved, noteRemoved } from './removed-objects.ts'

/** From when its removal is in the log, so that whoever reads an older state still finds it. contract 18 §2. */
const KEEP_REMOVED_MS = HOUR_MS
const KEEP_UNKNOWN_MS = DAY_MS
const AT_ONCE = 100

/** When everything noted before was in the log. */
const shippedOf = onePer((_: Context): { times: number[]; lookedAt: number } => ({ times: [], lookedAt: 0 }))

/**
 * Deletes the objects whose removal was in the log an hour ago, and looks for unknown ones once a day. Nothing without an
 * object store.
 */
export async function deleteRemovedObjects(ctx: Context, stop: Stop = GO_ON): Promise<number> {
  const { remote } = ctx.blobs
  if (remote === null) return 0
  let deleted = 0
  const until = await shippedBefore(ctx)
  for (let keys = listRemoved(ctx.db, until, AT_ONCE); keys.length > 0 && !stop.aborted; ) {
    for (const key of keys) await remote.delete(key)
    inUpkeepTransaction(ctx.db, () => forgetRemoved(ctx.db, keys))
    deleted += keys.length
    keys = listRemoved(ctx.db, until, AT_ONCE)
    await nextTurn()
  }
  if (ctx.now() - shippedOf(ctx).lookedAt >= DAY_MS) await noteUnknownObjects(ctx, stop)
  return deleted
}

/** What was noted until then may go. Throws unless the log is in the store now. */
async function shippedBefore(ctx: Context): Promise<number> {
  const shipped = shippedOf(ctx)
  const at = ctx.now()
  await ctx.db.log.sync()
  shipped.times.push(at)
  const last = shipped.times.findLast((time) => time <= at - KEEP_REMOVED_MS)
  if (last === undefined) return Number.NEGATIVE_INFINITY
  shipped.times = shipped.times.filter((time) => time >= last)
  return last
}

/**
 * Notes objects that no row names and that are older than a day, such as those of a publish that a crash ended. They go as
 * others do: only when the note, and so everything before it, is in the log. contract 18 §2.
 */
export async function noteUnknownObjects(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  const { remote } = ctx.blobs
  if (remote === null) return
  shippedOf(ctx).lookedAt = ctx.now()
  try {
    for await (const { key, modifiedAt } of remote.list()) {
      if (stop.aborted) return
      const content = contentOfKey(key)
      if (content === null || !isOld(ctx, content.id, modifiedAt) || isNamed(ctx.db, content)) continue
      inUpkeepTransaction(ctx.db, () => {
        if (!isNamed(ctx.db, content)) noteRemoved(ctx.db, key, ctx.now())
      })
    }
  } catch (error) {
    ctx.log.error('the object store could not be looked through for unknown objects', { error })
  }
}

/** By the store's clock, or the time in the id where the store names none. */
function isOld({ now }: Context, id: string, modifiedAt: number | null): boolean {
  const at = modifiedAt ?? Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  return now() - at > KEEP_UNKNOWN_MS
}
