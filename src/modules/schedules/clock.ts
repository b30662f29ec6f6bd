import type { Context } from '../../context.ts'
import { groupCommit } from '../../db/group-commit.ts'
import { inTurns } from '../../db/log-sync.ts'
import { asUpkeep } from '../../db/tidying.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import { messageOf } from '../../domain/errors.ts'
import { onePer } from '../../platform/one-per.ts'
import { ownerOf } from '../members/service.ts'
import { claimDue, endRun, type Fired, findNextDueAt, hasDue, type RunEnd, settleLeft } from './claims.ts'
import { scheduleRunCounts } from './counts.ts'
import { scheduleDuty } from './duty.ts'
import { Places } from './places.ts'

/** The clock may be set, and timers do not notice; while nothing is scheduled, nothing looks. */
const LOOK_AGAIN_MS = MINUTE_MS
/** The disk is full, or the object store away. */
const RETRY_MS = 5_000
const STOP_MS = 1_000

/** Fires what is due: one timer to the next time, and a claim that is durable before the run begins. */
class ScheduleClock {
  readonly #ctx: Context
  /** The runs of this process that have not ended. */
  readonly #running = new Map<string, Promise<void>>()
  readonly #places = new Places()
  readonly #turn = inTurns(() => this.#fireDue())
  #timer: ReturnType<typeof setTimeout> | undefined
  #settled: Promise<void> | undefined
  #isStopped = false

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /** Marks what an earlier server left, and fires from now on. Never rejects. */
  async start(): Promise<void> {
    try {
      this.#settled ??= this.#settle()
      await this.#settled
      await this.#turn()
    } catch (error) {
      this.#retry(error)
    }
  }

  /** After a change of schedules. */
  async changed(): Promise<void> {
    if (!scheduleDuty(this.#ctx).isOn || this.#isStopped) return
    await this.start()
  }

  /** Fires what is due, and waits until it has run. For tests with a clock that stands still. */
  async fireAndWait(): Promise<void> {
    await this.start()
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  /** Runs what is claimed, when there is room. */
  begin(fired: Fired): void {
    this.#running.set(fired.id, this.#perform(fired))
  }

  /** What is running has a moment to end; after that it is interrupted. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await Promise.race([Promise.all(this.#running.values()), Bun.sleep(STOP_MS)])
  }

  /** Once, before anything is fired: what is due later was not missed. */
  async #settle(): Promise<void> {
    const { db } = this.#ctx
    const own = new Set(this.#running.keys())
    const now = this.#ctx.now()
    try {
      const interrupted = await asUpkeep(db, () => groupCommit(db, () => settleLeft(db, now, own)))
      scheduleRunCounts(this.#ctx).interrupted += interrupted
    } catch (error) {
      this.#settled = undefined
      throw error
    }
  }

  async #fireDue(): Promise<void> {
    if (this.#isStopped) return
    const { db } = this.#ctx
    const now = this.#ctx.now()
    if (hasDue(db, now)) {
      const { fired, skipped } = await groupCommit(db, () => claimDue(db, now, this.#places.room))
      scheduleRunCounts(this.#ctx).skipped += skipped
      for (const one of fired) this.begin(one)
    }
    this.#arm()
  }

  #arm(): void {
    clearTimeout(this.#timer)
    if (this.#isStopped) return
    const now = this.#ctx.now()
    const next = findNextDueAt(this.#ctx.db, now)
    if (next !== null) this.#after(Math.min(next - now, LOOK_AGAIN_MS))
  }

  #after(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.start(), ms)
    this.#timer.unref()
  }

  #retry(error: unknown): void {
    if (this.#isStopped) return
    this.#ctx.log.warn('schedules could not be fired; trying again', { error: messageOf(error) })
    this.#after(RETRY_MS)
  }

  async #perform(fired: Fired): Promise<void> {
    const { projectId } = fired
    const leave = await this.#places.take({ projectId, ownerId: ownerOf(this.#ctx, projectId) ?? projectId })
    const startedAt = performance.now()
    const outcome = await scheduleDuty(this.#ctx)
      .perform(fired)
      .catch((error: unknown) => ({ status: 'failed' as const, error: messageOf(error) }))
    const durationMs = Math.round((performance.now() - startedAt) * 1000) / 1000
    leave()
    scheduleRunCounts(this.#ctx)[outcome.status] += 1
    await this.#note(fired, { ...outcome, durationMs })
    this.#running.delete(fired.id)
    void this.changed()
  }

  /** Until it is noted, the schedule does not run again. */
  async #note(fired: Fired, end: RunEnd): Promise<void> {
    const { db, log } = this.#ctx
    for (;;) {
      try {
        await asUpkeep(db, () => groupCommit(db, () => endRun(db, fired, end, this.#ctx.now())))
        return
      } catch (error) {
        // Then the next start finds it unfinished.
        if (this.#isStopped) return
        log.warn('the end of a scheduled run could not be noted; trying again', { error: messageOf(error) })
        await Bun.sleep(RETRY_MS)
      }
    }
  }
}

export const clockOf = onePer((ctx: Context) => new ScheduleClock(ctx))
