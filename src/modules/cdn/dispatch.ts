import { type CdnKind, MAX_CDN_URLS } from '../../config/cdn.ts'
import type { Context } from '../../context.ts'
import { shipped } from '../../db/shipped.ts'
import { inUpkeepTransaction } from '../../db/tidying.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { onePer } from '../../platform/one-per.ts'
import { Sender } from '../../platform/outbox/sender.ts'
import { purgeCounts } from './counts.ts'
import {
  findNextDueAt,
  listDuePurges,
  listDueTargets,
  type Purge,
  settleFailed,
  settleSent,
  type Target,
  updateTarget,
} from './queries.ts'
import { type Outcome, sendPurge } from './send.ts'
import { purgeWakerOf } from './wake.ts'

const KEYS_A_REQUEST = 30
/** A follower that was behind, or a fetch on its way, may have stored the old answer in between. */
const AGAIN_MS = 6_000
const WAITS_MS = [1, 5, 30, 120, 600, 900].map((seconds) => seconds * 1000)
const GIVE_UP_MS = DAY_MS
/** Triggers write what is to be purged, and wake nobody. */
const LOOK_MS = 250

/** What is sent is one request to one target. */
type Turn = { id: string; target: Target }

const senderOf = onePer(
  (ctx: Context) =>
    new Sender<Turn>({
      name: 'purge',
      now: ctx.now,
      log: ctx.log,
      waker: purgeWakerOf(ctx),
      shipped: () => shipped(ctx),
      atOnce: MAX_CDN_URLS,
      listDue: (apart) =>
        listDueTargets(ctx.db, ctx.now(), apart.map(Number)).map((target) => ({
          id: String(target.id),
          target,
        })),
      nextDueAt: () => findNextDueAt(ctx.db, ctx.now()),
      receiverOf: ({ target }) => target.url,
      attempt: ({ target }, stop) => attempt(ctx, target, stop),
    }),
)

/** Sends purges from now on. Returns a function that stops it; what is under way then is sent again. */
export function startPurging(ctx: Context): () => Promise<void> {
  const stop = senderOf(ctx).start()
  const timer = setInterval(() => purgeWakerOf(ctx).afterCommit(), LOOK_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await stop()
  }
}

/** Sends all that is due. For tests with a clock that stands still. */
export const sendDuePurges = (ctx: Context): Promise<void> => senderOf(ctx).sendDue()

async function attempt(ctx: Context, target: Target, stop: AbortSignal): Promise<(() => void) | undefined> {
  const kind = ctx.config.cdnKind
  const startedAt = ctx.now()
  const purges = listDuePurges(ctx.db, target.id, startedAt, KEYS_A_REQUEST)
  if (kind === null || purges.length === 0) return undefined
  // The list may have keys of a change that is newer than the turn.
  await shipped(ctx)
  const outcome = await send(ctx, kind, target, purges, stop)
  // Nobody knows whether it arrived: it is sent again after the start.
  if (stop.aborted && outcome.status === null) return undefined
  return () => settle(ctx, target, purges, { startedAt, outcome })
}

const send = (ctx: Context, kind: CdnKind, target: Target, purges: readonly Purge[], stop: AbortSignal) =>
  sendPurge(
    ctx,
    kind,
    target,
    purges.map(({ key }) => key),
    stop,
  )

function settle(
  ctx: Context,
  target: Target,
  purges: readonly Purge[],
  { startedAt, outcome }: { startedAt: number; outcome: Outcome },
): void {
  const now = ctx.now()
  const { error, status, retryAfterMs } = outcome
  const waitsUntil = error === null ? 0 : now + retryAfterMs
  const givenUp = inUpkeepTransaction(ctx.db, () => {
    updateTarget(ctx.db, target.id, { at: now, keys: purges.map(({ key }) => key), status, waitsUntil })
    if (error !== null)
      return settleFailed(ctx.db, target.id, purges, {
        now,
        notBefore: waitsUntil,
        waitsMs: WAITS_MS,
        giveUpMs: GIVE_UP_MS,
      })
    settleSent(ctx.db, target.id, purges, { againAt: startedAt + AGAIN_MS, now })
    return 0
  })
  purgeCounts(ctx)[error === null ? 'ok' : 'failed'] += 1
  purgeCounts(ctx).given_up += givenUp
  if (error !== null)
    ctx.log.warn('the CDN was not told', { host: new URL(target.url).host, why: error, givenUp })
}
