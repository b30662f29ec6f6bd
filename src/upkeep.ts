import type { Context } from './context.ts'
import { MINUTE_MS } from './domain/durations.ts'
import { removeExpiredOneTimeTokens } from './modules/auth/one-time-tokens.ts'
import { removeExpiredSessions } from './modules/auth/sessions.ts'
import {
  isBackupRunning,
  makeBackupWhenDue,
  stopBackups,
  tellOfBadFolder,
} from './modules/backups/service.ts'
import { collectGarbage, sweepStore } from './modules/deployments/collect.ts'
import { removeExpiredUploads } from './modules/deployments/manifest.ts'
import { resumeVariants, stopVariants } from './modules/deployments/variants.ts'
import { removeOldLogs } from './modules/logs/requests.ts'
import { endTails } from './modules/logs/tail.ts'
import { removeOldRuns } from './modules/runs/service.ts'
import { tellOfLostKey } from './modules/secrets/unreadable.ts'
import { startPipelines } from './pipelines/background.ts'

/** What the server does for itself in the background. Returns how to end it; running work is waited for. */
export function startUpkeep(ctx: Context): () => Promise<void> {
  tellOfBadFolder(ctx)
  tellOfLostKey(ctx)
  const jobs = [
    every(ctx, 'expired sessions', () => removeExpiredSessions(ctx)),
    every(ctx, 'expired links', () => removeExpiredOneTimeTokens(ctx)),
    every(ctx, 'expired uploads', () => removeExpiredUploads(ctx)),
    everyFromNow(ctx, 'compressed forms', () => resumeVariants(ctx)),
    cleanStore(ctx),
    () => stopVariants(ctx),
    every(ctx, 'old runs', () => removeOldRuns(ctx)),
    every(ctx, 'old requests', () => removeOldLogs(ctx)),
    every(ctx, 'backup', () => makeBackupWhenDue(ctx)),
    () => stopBackups(ctx),
    async () => endTails(ctx),
    startPipelines(ctx),
  ]
  return async () => {
    await Promise.all(jobs.map((stop) => stop()))
  }
}

/**
 * What a crash left on the disk goes first; from then on what nothing refers to. Not while a backup reads it: one that
 * begins ends it between two steps.
 */
function cleanStore(ctx: Context): () => Promise<void> {
  let isStopping = false
  const stopping = {
    get aborted() {
      return isStopping || isBackupRunning(ctx)
    },
  }
  let isSwept = false
  const stop = everyFromNow(ctx, 'unused contents', async () => {
    if (stopping.aborted) return
    if (isSwept) await collectGarbage(ctx, stopping)
    else await sweepStore(ctx, stopping)
    isSwept = true
  })
  return () => {
    isStopping = true
    return stop()
  }
}

const ROUND_MS = 10 * MINUTE_MS

/** Runs `work` again and again, never twice at once. A failure is logged and the next round tries again. */
function every(
  ctx: Context,
  name: string,
  work: () => void | Promise<void>,
  isFromNow = false,
): () => Promise<void> {
  let running: Promise<void> | undefined
  const round = async () => {
    try {
      await work()
    } catch (error) {
      ctx.log.error('background work failed', { work: name, error })
    } finally {
      running = undefined
    }
  }
  const start = () => {
    running ??= round()
  }
  const timer = setInterval(start, ROUND_MS)
  if (isFromNow) start()
  return async () => {
    clearInterval(timer)
    await running
  }
}

/** The same, the first time at once. */
const everyFromNow = (ctx: Context, name: string, work: () => Promise<void>) => every(ctx, name, work, true)
