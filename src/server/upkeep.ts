import type { Context } from '../context.ts'
import { MINUTE_MS } from '../domain/durations.ts'
import { endDuePreviews } from '../modules/aliases/previews/due.ts'
import { removeExpiredDevices } from '../modules/auth/device.ts'
import { removeOldDevices } from '../modules/auth/known-devices.ts'
import { removeExpiredOneTimeTokens } from '../modules/auth/one-time-tokens.ts'
import { removeExpiredSessions } from '../modules/auth/sessions.ts'
import { removeDownloads } from '../modules/backups/leftovers.ts'
import {
  isBackupRunning,
  makeBackupWhenDue,
  stopBackups,
  tellOfBadPlace,
} from '../modules/backups/service.ts'
import { collectGarbage, sweepStore } from '../modules/deployments/collect.ts'
import { removeExpiredUploads } from '../modules/deployments/manifest.ts'
import { resumeVariants, stopVariants } from '../modules/deployments/variants.ts'
import { removeOldClaims } from '../modules/domains/service.ts'
import { removeExpiredInvitations } from '../modules/invitations/service.ts'
import { removeOldLogs } from '../modules/logs/requests.ts'
import { endTails } from '../modules/logs/tail.ts'
import { failMails, startMailing } from '../modules/notices/dispatch.ts'
import { removeOldMails } from '../modules/notices/upkeep.ts'
import { removeDeletedProjects } from '../modules/projects/service.ts'
import { hasLeftReports, resumeReports, stopReports } from '../modules/reports/service.ts'
import { runDueRetention } from '../modules/retention/daily.ts'
import { removeOldRuns } from '../modules/runs/service.ts'
import { removeDeletedSchemas } from '../modules/schemas/service.ts'
import { tellOfLostKey } from '../modules/secrets/unreadable.ts'
import { lookAtDisk } from '../modules/storage/low-disk.ts'
import { removeOldUndoStates } from '../modules/undo/upkeep.ts'
import { startSending } from '../modules/webhooks/dispatch.ts'
import { removeOldDeliveries } from '../modules/webhooks/upkeep.ts'
import { WATCH_MS, watchForHooks } from '../modules/webhooks/watch.ts'
import { endPipelines, resumePipelines } from '../pipelines/background.ts'
import { every, type Work } from './every.ts'
import { loadEndpoints } from './load-endpoints.ts'

/** Starts the server's background work. Returns a function that stops it and waits for running work. */
export function startUpkeep(ctx: Context): () => Promise<void> {
  void tellOfBadPlace(ctx)
  void removeDownloads(ctx.config.dataDir)
  tellOfLostKey(ctx)
  resumePipelines(ctx)
  const jobs = [
    every(ctx, 'expired sessions', (stop) => removeExpiredSessions(ctx, stop)),
    every(ctx, 'expired device codes', (stop) => removeExpiredDevices(ctx, stop)),
    every(ctx, 'expired links', (stop) => removeExpiredOneTimeTokens(ctx, stop)),
    every(ctx, 'expired invitations', (stop) => removeExpiredInvitations(ctx, stop)),
    everyFromNow(ctx, 'old claims of domains', (stop) => removeOldClaims(ctx, stop)),
    every(ctx, 'expired uploads', (stop) => removeExpiredUploads(ctx, stop)),
    every(ctx, 'previews that have ended', (stop) => endDuePreviews(ctx, stop), {
      isFromNow: true,
      roundMs: MINUTE_MS,
    }),
    everyFromNow(ctx, 'deleted projects', (stop) => removeDeletedProjects(ctx, stop)),
    everyFromNow(ctx, 'deleted schemas', (stop) => removeDeletedSchemas(ctx, stop)),
    everyFromNow(ctx, 'compressed forms', () => resumeVariants(ctx)),
    everyFromNow(ctx, 'reports of deployments', () => makeLeftReports(ctx)),
    cleanStore(ctx),
    every(ctx, 'old undo states', (stop) => removeOldUndoStates(ctx, stop)),
    every(ctx, 'old runs', (stop) => removeOldRuns(ctx, stop)),
    every(ctx, 'old requests', (stop) => removeOldLogs(ctx, stop)),
    every(ctx, 'backup', () => makeBackupWhenDue(ctx)),
    startSending(ctx),
    ctx.mail.isConfigured
      ? startMailing(ctx)
      : everyFromNow(ctx, 'mails without a server', () => failMails(ctx)),
    every(ctx, 'old mails', (stop) => removeOldMails(ctx, stop)),
    every(ctx, 'forgotten devices', (stop) => removeOldDevices(ctx, stop)),
    every(ctx, 'old webhook deliveries', (stop) => removeOldDeliveries(ctx, stop)),
    every(ctx, 'events of webhooks', (stop) => watchForHooks(ctx, stop), { roundMs: WATCH_MS }),
    every(ctx, 'retention', (stop) => runDueRetention(ctx, stop), { isFromNow: true, roundMs: MINUTE_MS }),
    every(ctx, 'free disk space', () => lookAtDisk(ctx), { isFromNow: true, roundMs: MINUTE_MS }),
  ]
  return async () => {
    await Promise.all([...jobs.map((stop) => stop()), stopWork(ctx)])
  }
}

/** Stops what requests have begun: all there is before `startUpkeep`. */
export async function stopWork(ctx: Context): Promise<void> {
  endTails(ctx)
  await Promise.all([stopReports(ctx), stopVariants(ctx), stopBackups(ctx), endPipelines(ctx)])
}

/** A report asks the site, for which everything that answers has to be loaded. */
async function makeLeftReports(ctx: Context): Promise<void> {
  if (hasLeftReports(ctx)) await loadEndpoints(ctx)()
  await resumeReports(ctx)
}

/**
 * First removes what a crash left on the disk, later whatever is no longer referenced. Pauses while a backup reads the
 * store: a backup that starts stops this between two steps.
 */
function cleanStore(ctx: Context): () => Promise<void> {
  let isSwept = false
  return everyFromNow(ctx, 'unused contents', async (stop) => {
    const pausing = {
      get aborted() {
        return stop.aborted || isBackupRunning(ctx)
      },
    }
    if (pausing.aborted) return
    if (isSwept) await collectGarbage(ctx, pausing)
    else await sweepStore(ctx, pausing)
    isSwept = true
  })
}

/** The same, with the first run immediately. */
const everyFromNow = (ctx: Context, name: string, work: Work) => every(ctx, name, work, { isFromNow: true })
