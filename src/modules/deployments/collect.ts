import type { Context } from '../../context.ts'
import { inTidyingTransaction, inUpkeepTransaction } from '../../db/tidying.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { fileKey } from '../../domain/store-keys.ts'
import type { StoredBlob } from '../../platform/blob-store.ts'
import { GO_ON, type Stop } from '../../platform/in-steps.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { onePer } from '../../platform/one-per.ts'
import { noteIfEmpty } from './collect/empty-packs.ts'
import { deleteRemovedObjects, noteUnknownObjects } from './collect/objects.ts'
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
import { noteRemoved } from './collect/removed-objects.ts'

/** How long a content is kept after its last reference is gone: by then, every reader has finished. */
export const GRACE_MS = HOUR_MS
const STAMPED_AT_ONCE = 500
const FREED_AT_ONCE = 100

/** Packs that lost contents and were not checked since: a run that ended early leaves some. */
const packsToCheck = onePer((_: Context) => new Set<string>())

/**
 * Frees the contents that nothing has referred to for an hour: first the rows, then the files. Removes empty packs and
 * rewrites mostly dead ones. Returns how many contents were freed. Works in small steps and ends early when `stop` says
 * so; the next run continues. Must not run twice at once, nor at the same time as `sweepStore`.
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
  while (
    !stop.aborted &&
    inUpkeepTransaction(ctx.db, () => stampCandidates(ctx.db, ctx.now(), STAMPED_AT_ONCE)) > 0
  )
    await nextTurn()
  for (const pack of packs) {
    if (stop.aborted) break
    await checkPack(ctx, pack)
    packs.delete(pack)
  }
  await deleteRemovedObjects(ctx, stop)
  return freed
}

/** At the start: removes files that a crash left behind (returns how many), and checks every pack once. */
export async function sweepStore(ctx: Context, stop: Stop = GO_ON): Promise<number> {
  endUnseenCommits(ctx)
  const removed = await ctx.blobs.sweep((name) =>
    'pack' in name ? hasPack(ctx.db, name.pack) : hasFileOfItsOwn(ctx.db, name.sha256),
  )
  for (let pack = nextPack(ctx.db, ''); pack !== null && !stop.aborted; pack = nextPack(ctx.db, pack)) {
    await checkPack(ctx, pack)
    await nextTurn()
  }
  if (removed > 0) ctx.log.info('removed files that a crash left behind', { files: removed })
  await noteUnknownObjects(ctx, stop)
  return removed
}

/**
 * A commit of a server that was killed may be whole in the log and seen by nobody, and be there again after the next crash with
 * whatever it names. Our commit takes its place in the log; one that changes nothing would not get there.
 */
function endUnseenCommits({ db }: Context): void {
  inTidyingTransaction(db, () => void db.sqlite.run('UPDATE site_generation SET sites = sites + 1'))
}

type Freed = Pick<StoredBlob, 'sha256' | 'pack' | 'object'>

/** A content that is referred to again stops being a candidate; one of an open upload is checked next time. */
function free(ctx: Context, candidates: readonly Candidate[]): Freed[] {
  const { db } = ctx
  return inUpkeepTransaction(db, () => {
    const gone: Freed[] = []
    const freeOne = (sha256: string): void => {
      const isNeeded = isReferenced(db, sha256)
      if (!isNeeded && ctx.blobs.isPinned(sha256)) return
      deleteCandidate(db, sha256)
      if (isNeeded) return
      const variants = listVariantsOf(db, sha256)
      const blob = deleteBlob(db, sha256)
      if (blob !== null) gone.push(blob)
      // Nobody could request them since the content became unreachable, so their hour is over too.
      for (const variant of variants) freeOne(variant)
    }
    for (const { sha256 } of candidates) freeOne(sha256)
    noteObjects(ctx, gone)
    return gone
  })
}

/** What the store is to forget, noted with the deletion of the rows. */
function noteObjects(ctx: Context, gone: readonly Freed[]): void {
  for (const { sha256, object } of gone)
    if (object !== null) noteRemoved(ctx.db, fileKey(sha256, object), ctx.now())
  for (const pack of new Set(gone.map((one) => one.pack))) if (pack !== null) noteIfEmpty(ctx, pack)
}

/** One by one: an upload may have stored the same content again meanwhile, with a row and a file. */
async function removeFiles(ctx: Context, gone: readonly Freed[]): Promise<void> {
  for (const { sha256, pack } of gone)
    if (pack === null && !hasBlob(ctx.db, sha256)) await ctx.blobs.removeFiles([sha256])
}
