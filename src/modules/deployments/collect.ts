import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/open.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { onePer } from '../../platform/one-per.ts'
import { checkPack, removeRetiredPacks } from './collect/packs.ts'
import {
  type Candidate,
  deleteBlob,
  deleteCandidate,
  hasBlob,
  hasFileOfItsOwn,
  hasPack,
  isReferenced,
  listCandidates,
  listVariantsOf,
  nextPack,
  stampCandidates,
} from './collect/queries.ts'

/** So long after its last reference went is a content kept: whoever was about to read it has done so. */
export const GRACE_MS = HOUR_MS
const STAMPED_AT_ONCE = 500
const FREED_AT_ONCE = 100

/** Asked before each step; an `AbortSignal` is one. */
type Stop = { readonly aborted: boolean }
const GO_ON: Stop = { aborted: false }

/** Packs that contents were freed of and that were not looked at since: a run that was ended early leaves some. */
const packsToCheck = onePer((_: Context) => new Set<string>())

/**
 * Frees the contents that nothing has referred to for an hour: rows first, then files. Packs that became empty go, those
 * that are mostly dead are rewritten. Returns how many contents were freed. Works in small steps and ends early when `stop` says
 * so; the next run goes on. Never run it twice at once, nor beside `sweepStore`.
 */
export async function collectGarbage(ctx: Context, stop: Stop = GO_ON): Promise<number> {
  await removeRetiredPacks(ctx, GRACE_MS)
  let freed = 0
  const packs = packsToCheck(ctx)
  const until = ctx.now() - GRACE_MS
  for (
    let after: Candidate | undefined = { seenAt: -1, sha256: '' };
    after !== undefined && !stop.aborted;
  ) {
    const candidates = listCandidates(ctx.db, until, after, FREED_AT_ONCE)
    const gone = candidates.length === 0 ? [] : free(ctx, candidates)
    freed += gone.length
    for (const { pack } of gone) if (pack !== null) packs.add(pack)
    await removeFiles(ctx, gone)
    after = candidates.at(-1)
    await nextTurn()
  }
  while (inTransaction(ctx.db, () => stampCandidates(ctx.db, ctx.now(), STAMPED_AT_ONCE)) > 0)
    await nextTurn()
  for (const pack of packs) {
    if (stop.aborted) break
    await checkPack(ctx, pack)
    packs.delete(pack)
  }
  return freed
}

/** At the start: removes what a crash left on the disk, and looks once at every pack. Returns the number of files removed. */
export async function sweepStore(ctx: Context, stop: Stop = GO_ON): Promise<number> {
  const removed = await ctx.blobs.sweep((name) =>
    'pack' in name ? hasPack(ctx.db, name.pack) : hasFileOfItsOwn(ctx.db, name.sha256),
  )
  for (let pack = nextPack(ctx.db, ''); pack !== null && !stop.aborted; pack = nextPack(ctx.db, pack)) {
    await checkPack(ctx, pack)
    await nextTurn()
  }
  if (removed > 0) ctx.log.info('removed files that a crash left behind', { files: removed })
  return removed
}

type Freed = { sha256: string; pack: string | null }

/** A content that is referred to again stops being a candidate; one that an upload relies on is looked at the next time. */
function free(ctx: Context, candidates: readonly Candidate[]): Freed[] {
  const { db } = ctx
  return inTransaction(db, () => {
    const gone: Freed[] = []
    const freeOne = (sha256: string): void => {
      const isNeeded = isReferenced(db, sha256)
      if (!isNeeded && ctx.blobs.isPinned(sha256)) return
      deleteCandidate(db, sha256)
      if (isNeeded) return
      const variants = listVariantsOf(db, sha256)
      const blob = deleteBlob(db, sha256)
      if (blob !== null) gone.push(blob)
      // Nobody could ask for them since the content itself could not be asked for: their hour is over too.
      for (const variant of variants) freeOne(variant)
    }
    for (const { sha256 } of candidates) freeOne(sha256)
    return gone
  })
}

/** One by one: an upload that came between may have brought the same content again, with a row and a file. */
async function removeFiles(ctx: Context, gone: readonly Freed[]): Promise<void> {
  for (const { sha256, pack } of gone)
    if (pack === null && !hasBlob(ctx.db, sha256)) await ctx.blobs.removeFiles([sha256])
}
