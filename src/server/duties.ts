import type { Context } from '../context.ts'
import { checkpointApart, keepCheckpointed } from '../db/checkpoint.ts'
import { watchOtherWriters } from '../db/generation.ts'
import { scheduleDuty } from '../modules/schedules/duty.ts'
import { startSchedules } from '../modules/schedules/start.ts'
import { keepReserve, type Reserve } from '../platform/reserve.ts'
import { performer } from './perform-schedules.ts'

/** Background work waits until the first visitors have been served. */
const UPKEEP_DELAY_MS = 5_000

/**
 * Starts what a server that may write its workspace does beside answering. Returns a function that stops it and waits for
 * running work: what cannot be stopped ends with the process, and keeps nothing else from ending.
 */
export async function startDuties(ctx: Context): Promise<() => Promise<void>> {
  const reserve = reserveFor(ctx)
  ctx.db.reserve = reserve
  scheduleDuty(ctx).perform = performer(ctx)
  const stopSchedules = await startSchedules(ctx)
  const stopUpkeep = upkeepAfter(UPKEEP_DELAY_MS, ctx)
  const stopPurging = await purging(ctx)
  const stopWatching = watchOtherWriters(ctx.db)
  const stopCheckpoints = ctx.db.log.isOfDisk ? keepCheckpointed(ctx.db) : async () => {}
  const failed = (error: unknown) => ctx.log.error('some work could not be stopped', { error })
  return async () => {
    stopWatching()
    const ends = [stopSchedules(), stopUpkeep(), stopPurging(), stopCheckpoints(), reserve.stop()]
    await Promise.all(ends.map((end) => end.catch(failed)))
  }
}

/** With the log copied into the database while there is room: on a full disk it can then begin anew. */
const reserveFor = ({ config, db, log }: Context): Reserve =>
  keepReserve(config.dataDir, {
    made: () => void (db.log.isOfDisk && checkpointApart(db.file)),
    failed: (error) => log.warn('the reserve for a full disk could not be made', { error }),
  })

/** Sends what the CDN is to forget. Not with the other upkeep: a change waits at most a second. */
async function purging(ctx: Context): Promise<() => Promise<void>> {
  if (ctx.config.cdnKind === null) return async () => {}
  const { startPurging } = await import('../modules/cdn/dispatch.ts')
  return startPurging(ctx)
}

/** Loads and starts the background work a little later. Returns a function that stops all of it. */
function upkeepAfter(delayMs: number, ctx: Context): () => Promise<void> {
  let started: Promise<() => Promise<void>> | undefined
  const timer = setTimeout(() => {
    started = import('./upkeep.ts').then(({ startUpkeep }) => startUpkeep(ctx))
  }, delayMs)
  return async () => {
    clearTimeout(timer)
    const { stopWork } = await import('./upkeep.ts')
    const stop = await started
    await (stop === undefined ? stopWork(ctx) : stop())
  }
}
