import type { Context } from '../../../context.ts'
import { inUpkeepTransaction } from '../../../db/tidying.ts'
import type { StoredBlob } from '../../../platform/blob-store.ts'
import { nextTurn } from '../../../platform/next-turn.ts'
import { onePer } from '../../../platform/one-per.ts'
import { bumpRevisions } from '../queries.ts'
import { noteIfEmpty } from './empty-packs.ts'
import { listInPack, listSenders, liveInPack, moveBlob } from './queries.ts'

const MOVED_AT_ONCE = 500

/** Packs without rows that may still be read, and since when they are retired. A restart removes them. */
const retiredOf = onePer((_: Context) => new Map<string, number>())

/** Removes the pack if nothing in it is alive. Rewrites it if less than half of its bytes are. */
export async function checkPack(ctx: Context, pack: string): Promise<void> {
  const { count, bytes } = liveInPack(ctx.db, pack)
  if (count === 0) {
    inUpkeepTransaction(ctx.db, () => noteIfEmpty(ctx, pack))
    return ctx.blobs.removePack(pack)
  }
  try {
    if (bytes < (await ctx.blobs.packBytes(pack)) / 2) await movePack(ctx, pack)
  } catch (error) {
    ctx.log.error('a pack could not be rewritten', { pack, error })
  }
}

/** Removes the old copies of packs that were rewritten more than `graceMs` ago. */
export async function removeRetiredPacks(ctx: Context, graceMs: number): Promise<void> {
  const packs = retiredOf(ctx)
  for (const [pack, since] of [...packs]) {
    if (ctx.now() - since < graceMs) continue
    await ctx.blobs.removePack(pack)
    packs.delete(pack)
  }
}

/**
 * The new pack is on disk before the first row names it, and the old one stays for the grace time. So rows can move in
 * several steps: their bytes are found before and after each.
 */
async function movePack(ctx: Context, pack: string): Promise<void> {
  const moved = await ctx.blobs.rewritePack(pack, listInPack(ctx.db, pack))
  const senders = new Set<string>()
  try {
    for (let start = 0; start < moved.length; start += MOVED_AT_ONCE) {
      for (const id of moveSome(ctx, pack, moved.slice(start, start + MOVED_AT_ONCE))) senders.add(id)
      await nextTurn()
    }
  } finally {
    // Anyone who cached where these contents were stored must look again.
    inUpkeepTransaction(ctx.db, () => bumpRevisions(ctx.db, [...senders]))
  }
  if (liveInPack(ctx.db, pack).count === 0) retiredOf(ctx).set(pack, ctx.now())
}

/** Returns the deployments that serve these contents. */
function moveSome(ctx: Context, from: string, moved: readonly StoredBlob[]): string[] {
  return inUpkeepTransaction(ctx.db, () => {
    for (const blob of moved) moveBlob(ctx.db, blob, from)
    noteIfEmpty(ctx, from)
    return listSenders(
      ctx.db,
      moved.map(({ sha256 }) => sha256),
    )
  })
}
