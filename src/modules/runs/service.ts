import type { Context } from '../../context.ts'
import type { Db } from '../../db/open.ts'
import { inTransaction } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import { isRecent } from '../../domain/recent.ts'
import { onePer } from '../../platform/one-per.ts'
import type { Grant } from '../auth/authorize.ts'
import { projectOf } from '../projects/service.ts'
import type { RunView } from './model.ts'
import {
  countRuns,
  deleteRunsBefore,
  deleteRunsPast,
  findRunRow,
  insertRun,
  listProjectsWithRuns,
  listRunRows,
  type RunRow,
} from './queries.ts'

/** A run that ended. `steps` is JSON of each step's input and output, or null; secrets are masked already. */
export type NewRun = Omit<RunRow, 'id'>

export type { RunView } from './model.ts'

/** A run that is on its way to the database for so long at most: a log does not get a commit for each line. */
const FLUSH_MS = 250
const MOST_WAITING = 1000
const KEEP_NEWEST = 10_000
const KEEP_MS = 30 * DAY_MS
/** Between upkeeps a busy project is pruned each time it has had so many runs more. */
const PRUNE_EVERY = 5000
const MAX_PATH = 2000

/**
 * Of a flood no more successes than these are kept in each quarter of a second and project: they would push each other out
 * anyway, and cost as much as the requests. Failures are all kept, and runs with the detail of their steps.
 */
const MOST_SUCCESSES = 2000
const FLOOD_MS = 250

type Waiting = {
  runs: RunRow[]
  timer: Timer | undefined
  sincePruned: Map<string, number>
  /** Successes by project, and since when they are counted. */
  floods: Map<string, { since: number; count: number }>
}
const waitingOf = onePer(
  (_: Context): Waiting => ({ runs: [], timer: undefined, sincePruned: new Map(), floods: new Map() }),
)

/** Keeps a run for the log, soon. A crash may lose the last quarter of a second of it. */
export function recordRun(ctx: Context, run: NewRun): void {
  const waiting = waitingOf(ctx)
  if (isFlooded(waiting, run)) return
  waiting.runs.push({ ...run, id: ctx.newId(), path: run.path.slice(0, MAX_PATH) })
  if (waiting.runs.length >= MOST_WAITING) {
    flushRuns(ctx)
    return
  }
  if (waiting.timer !== undefined) return
  waiting.timer = setTimeout(() => flushRuns(ctx), FLUSH_MS)
  waiting.timer.unref()
}

function isFlooded({ floods }: Waiting, { projectId, status, steps, startedAt }: NewRun): boolean {
  if (status >= 400 || steps !== null) return false
  const flood = floods.get(projectId)
  if (flood === undefined || !isRecent(flood.since, startedAt, FLOOD_MS)) {
    floods.set(projectId, { since: startedAt, count: 1 })
    return false
  }
  flood.count += 1
  return flood.count > MOST_SUCCESSES
}

/** Writes what waits: before a reader looks, and before the database is closed. A failure is logged. */
export function flushRuns(ctx: Context): void {
  const waiting = waitingOf(ctx)
  clearTimeout(waiting.timer)
  waiting.timer = undefined
  const runs = waiting.runs.splice(0)
  if (runs.length === 0) return
  try {
    inRelaxedTransaction(ctx.db, () => {
      for (const run of runs) insertRun(ctx.db, run)
      pruneBusy(ctx.db, waiting.sincePruned, runs)
    })
  } catch (error) {
    ctx.log.error('the run log could not be written', { runs: runs.length, error })
  }
}

function pruneBusy(db: Db, sincePruned: Map<string, number>, runs: readonly RunRow[]): void {
  for (const { projectId } of runs) sincePruned.set(projectId, (sincePruned.get(projectId) ?? 0) + 1)
  for (const [projectId, count] of sincePruned) {
    if (count < PRUNE_EVERY) continue
    deleteRunsPast(db, projectId, KEEP_NEWEST)
    sincePruned.delete(projectId)
  }
}

/** Keeps of each project the last 10 000 runs, and none for longer than 30 days. */
export function removeOldRuns(ctx: Context): void {
  flushRuns(ctx)
  inTransaction(ctx.db, () => {
    deleteRunsBefore(ctx.db, ctx.now() - KEEP_MS)
    for (const projectId of listProjectsWithRuns(ctx.db)) deleteRunsPast(ctx.db, projectId, KEEP_NEWEST)
  })
}

/** How a run ended, by its status: answered, refused for what was sent, or broken. */
export const RUN_OUTCOMES = { answered: [0, 400], refused: [400, 500], failed: [500, 1000] } as const
export type RunOutcome = keyof typeof RUN_OUTCOMES

type RunQuery = PaginationQuery & {
  ruleId?: string | undefined
  status?: string | undefined
  outcome?: RunOutcome | undefined
}

export function listRuns(ctx: Context, grant: Grant, query: RunQuery): Paginated<RunView> {
  const page = parsePagination(query, {
    // One and the same here: all other lists call it so.
    sortable: ['startedAt', 'createdAt'],
    defaultSort: 'startedAt',
    defaultOrder: 'desc',
  })
  flushRuns(ctx)
  const filter = {
    projectId: projectOf(ctx, grant).id,
    ruleId: query.ruleId || undefined,
    status: query.status ? Number(query.status) : undefined,
    between: query.outcome && RUN_OUTCOMES[query.outcome],
  }
  return paginated(listRunRows(ctx.db.orm, filter, page).map(toView), countRuns(ctx.db.orm, filter), page)
}

export function getRun(ctx: Context, grant: Grant, id: string): RunView {
  flushRuns(ctx)
  const row = findRunRow(ctx.db.orm, projectOf(ctx, grant).id, id)
  if (row === undefined) throw new AppError('not_found', 'There is no such run, or it is too old')
  return toView(row)
}

function toView({ projectId: _, steps, startedAt, ...run }: RunRow): RunView {
  return {
    ...run,
    steps: steps === null ? null : JSON.parse(steps),
    startedAt: isoTime(startedAt),
  }
}
