import type { Context } from '../../context.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { FindingList } from '../../domain/deploy-report/finding-list.ts'
import type { LeftOutPaths } from '../../domain/deploy-report/left-out.ts'
import { AppError } from '../../domain/errors.ts'
import { BackgroundQueue } from '../../platform/background-queue.ts'
import { onePer } from '../../platform/one-per.ts'
import { whenNoUpload } from '../deployments/upload/activity.ts'
import { compareFiles } from './compare.ts'
import { findAll } from './findings.ts'
import { findInPages } from './page-findings.ts'
import {
  type Ended,
  endReport,
  findReport,
  listFilesAfter,
  listRunning,
  type ReportedFile,
  type ReportRow,
} from './queries.ts'
import { reportedSite } from './site.ts'
import type { Made } from './view.ts'

const PAGE = 500
/** How long the thread is kept, and how long others have it then: a site under load keeps most of its speed. */
const SLICE_MS = 2
const REST_MS = 5

/** One per context: makes one report at a time, once the server's upkeep has taken up what is left. */
const workOf = onePer((ctx: Context): { queue: BackgroundQueue; isUp: boolean } => {
  const queue: BackgroundQueue = new BackgroundQueue((deploymentId) => report(ctx, queue, deploymentId))
  return { queue, isUp: false }
})

/** Makes the report of a deployment in the background. Returns at once. */
export function scheduleReport(ctx: Context, deploymentId: string): void {
  const { queue, isUp } = workOf(ctx)
  if (isUp) queue.add(deploymentId)
}

/** Whether an earlier process left reports. */
export const hasLeftReports = (ctx: Context): boolean => listRunning(ctx.db, '', 1).length > 0

/** Queues what an earlier process did not finish. */
export function resumeReports(ctx: Context): Promise<void> {
  const work = workOf(ctx)
  work.isUp = true
  return work.queue.addAll((after) => listRunning(ctx.db, after, PAGE))
}

/** Resolves when no report is left to make. */
export const waitForReports = (ctx: Context): Promise<void> => workOf(ctx).queue.wait()

/** Ends after the current piece. `resumeReports` begins the report again. */
export const stopReports = (ctx: Context): Promise<void> => workOf(ctx).queue.stop()

class Stopped extends Error {}

async function report(ctx: Context, queue: BackgroundQueue, deploymentId: string): Promise<void> {
  const row = findReport(ctx.db.orm, deploymentId)
  if (row?.status !== 'running') return
  try {
    const made = await make(ctx, row, () => queue.isStopped)
    if (made !== null) end(ctx, row, { status: 'complete', made: JSON.stringify(made) })
  } catch (error) {
    if (error instanceof Stopped) return
    if (error instanceof AppError && error.code === 'CONTENT_UNREACHABLE') {
      ctx.log.warn('the report of a deployment waits', { deploymentId, reason: error.message })
      return
    }
    ctx.log.error('the report of a deployment could not be made', { deploymentId, error })
    end(ctx, row, { status: 'failed', made: null })
  }
}

const end = (ctx: Context, row: ReportRow, ended: Omit<Ended, 'completedAt'>): void =>
  inRelaxedTransaction(ctx.db, () => endReport(ctx.db, row, { ...ended, completedAt: ctx.now() }))

/** Gives others their turn, waits for uploads, and throws `Stopped` when the server stops. */
type Pause = () => Promise<void>

/** Null when the deployment is gone. */
async function make(ctx: Context, row: ReportRow, isStopped: () => boolean): Promise<Made | null> {
  const pause = pauseOf(ctx, isStopped)
  const files = await listFiles(ctx, row.deploymentId, pause)
  const before = row.shownId === null ? [] : await listFiles(ctx, row.shownId, pause)
  const site = reportedSite(ctx, row)
  if (site === undefined) return null
  const leftOut = JSON.parse(row.leftOut) as LeftOutPaths
  const found = new FindingList()
  const reported = { files, leftOut, site }
  found.countAtLeast('left-out', leftOut.counts['left-out'])
  found.countAtLeast('secret-left-out', leftOut.counts['secret-left-out'])
  for await (const finding of findAll(ctx, reported)) {
    if (finding !== null) found.add(finding)
    await pause()
  }
  const { truncated } = await findInPages(ctx, files, site, { found: found.add, pause })
  return {
    ...compareFiles(contentsOf(before), contentsOf(files)),
    findings: found.kept,
    kinds: found.counts,
    truncated,
  }
}

const contentsOf = (files: readonly ReportedFile[]) =>
  new Map(files.map(({ path, sha256 }) => [path, sha256]))

async function listFiles(ctx: Context, deploymentId: string, pause: Pause): Promise<ReportedFile[]> {
  const files: ReportedFile[] = []
  for (let after = ''; ; ) {
    const page = listFilesAfter(ctx.db, deploymentId, after, PAGE)
    files.push(...page)
    const last = page.at(-1)
    if (last === undefined) return files
    after = last.path
    await pause()
  }
}

function pauseOf(ctx: Context, isStopped: () => boolean): Pause {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < SLICE_MS) return
    await Bun.sleep(REST_MS)
    await whenNoUpload(ctx)
    if (isStopped()) throw new Stopped()
    since = performance.now()
  }
}
