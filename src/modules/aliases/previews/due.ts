import type { Context } from '../../../context.ts'
import type { Db, DbOrTx } from '../../../db/open.ts'
import { inTidyingTransaction } from '../../../db/tidying.ts'
import { MINUTE_MS } from '../../../domain/durations.ts'
import { GO_ON, type Stop } from '../../../platform/in-steps.ts'
import { nextTurn } from '../../../platform/next-turn.ts'
import { onePer } from '../../../platform/one-per.ts'
import { findAlias } from '../queries.ts'
import { endPreview } from './end.ts'
import { findFirstDue, findNextEnd } from './queries.ts'

/** Whether a preview has reached its end and is still there. Asks the database only after something was written. */
export const isAnyDue = (ctx: Context): boolean => nextEnd(ctx.db) <= ctx.now()

type Known = { writes: number; at: number }
const known = new WeakMap<Db, Known>()

function nextEnd(db: Db): number {
  // What a transaction wrote so far is not counted yet.
  if (db.sqlite.inTransaction) return findNextEnd(db)
  const last = known.get(db)
  if (last?.writes === db.writes) return last.at
  const at = findNextEnd(db)
  known.set(db, { writes: db.writes, at })
  return at
}

/** Ends the previews whose end has passed, each in a transaction of its own. Others get their turn in between. */
export async function endDuePreviews(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  while (!stop.aborted && isAnyDue(ctx)) {
    inTidyingTransaction(ctx.db, (tx) => endFirstDue(ctx, tx))
    await nextTurn()
  }
}

/** The same in the caller's transaction, which is about to use the name or the deployments of one. */
export function endDuePreviewsIn(ctx: Context, tx: DbOrTx): void {
  while (isAnyDue(ctx)) endFirstDue(ctx, tx)
}

function endFirstDue(ctx: Context, tx: DbOrTx): void {
  const id = isAnyDue(ctx) ? findFirstDue(ctx.db) : undefined
  const preview = id === undefined ? undefined : findAlias(tx, id)
  if (preview !== undefined) endPreview(ctx, tx, { kind: 'operator' }, preview, 'expired')
}

/** How long requests do not try again after previews could not be ended: a locked database would hold up each. */
const REST_MS = MINUTE_MS

type Ending = { running: Promise<void> | undefined; restUntil: number }
const endings = onePer((_: Context): Ending => ({ running: undefined, restUntil: 0 }))

/** For what answers from the records of aliases: waits until those that have ended are gone. Usually one comparison. */
export function withoutDuePreviews(ctx: Context): Promise<void> | undefined {
  if (!isAnyDue(ctx) || ctx.db.log.refusal() !== null) return undefined
  const ending = endings(ctx)
  if (ending.restUntil > ctx.now()) return undefined
  ending.running ??= endOrRest(ctx, ending)
  return ending.running
}

async function endOrRest(ctx: Context, ending: Ending): Promise<void> {
  try {
    await endDuePreviews(ctx)
  } catch (error) {
    ending.restUntil = ctx.now() + REST_MS
    ctx.log.error('previews could not be ended', { error })
  } finally {
    ending.running = undefined
  }
}
