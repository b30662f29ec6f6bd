import type { Context } from '../../context.ts'
import type { Db } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import { isRecent } from '../../domain/recent.ts'
import { GO_ON, inSteps, type Stop } from '../../platform/in-steps.ts'
import { onePer } from '../../platform/one-per.ts'
import { type Grant, mayDo } from '../auth/authorize.ts'
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

/**
 * A run that ended. `steps` is JSON of each step's input and output, or null; secrets are already masked. `namesSecret`:
 * whether the pipeline names a secret, which what is not known to does.
 */
export type NewRun = Omit<RunRow, 'id' | 'namesSecret' | 'trigger' | 'scheduleId'> & {
  namesSecret?: boolean
  trigger?: RunRow['trigger']
  scheduleId?: string | null
}

export type { RunView } from './model.ts'

/** The longest that a run waits to be written: one commit per line of the log would be too expensive. */
const FLUSH_MS = 250
const MAX_WAITING = 1000
const KEEP_NEWEST = 10_000
const KEEP_MS = 30 * DAY_MS
/** Between upkeeps, a busy project is pruned after this many new runs. */
const PRUNE_EVERY = 5000
const REMOVED_AT_ONCE = 500
const MAX_PATH = 2000

/**
 * The most successes kept per project in a quarter of a second. In a flood they would push each other out anyway, and
 * cost as much as the requests. All failures are kept, and runs with the detail of their steps.
 */
const MAX_SUCCESSES = 2000
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

const DEFAULTS = { namesSecret: true, trigger: 'request', scheduleId: null } as const

/** Queues a run for the log. A crash may lose the last quarter of a second. */
export function recordRun(ctx: Context, run: NewRun): void {
  const waiting = waitingOf(ctx)
  if (isFlooded(waiting, run)) return
  waiting.runs.push({ ...DEFAULTS, ...run, id: ctx.newId(), path: run.path.slice(0, MAX_PATH) })
  if (waiting.runs.length >= MAX_WAITING) {
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
  return flood.count > MAX_SUCCESSES
}

/** Writes what is queued: before a read, and before the database is closed. Failures are logged. */
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
    deleteRunsPast(db, projectId, KEEP_NEWEST, 2 * PRUNE_EVERY)
    sincePruned.delete(projectId)
  }
}

/** Keeps the last 10 000 runs of each project, and none for longer than 30 days. */
export async function removeOldRuns(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  flushRuns(ctx)
  const { db } = ctx
  const remove = (some: () => number) =>
    inSteps(stop, () => inRelaxedTransaction(db, some) === REMOVED_AT_ONCE)
  const before = ctx.now() - KEEP_MS
  await remove(() => deleteRunsBefore(db, before, REMOVED_AT_ONCE))
  for (const projectId of listProjectsWithRuns(db))
    await remove(() => deleteRunsPast(db, projectId, KEEP_NEWEST, REMOVED_AT_ONCE))
}

/** How a run ended, by its status: answered, refused because of its input, or failed. */
export const RUN_OUTCOMES = { answered: [0, 400], refused: [400, 500], failed: [500, 1000] } as const
export type RunOutcome = keyof typeof RUN_OUTCOMES

type RunQuery = PaginationQuery & {
  ruleId?: string | undefined
  status?: string | undefined
  outcome?: RunOutcome | undefined
}

export function listRuns(ctx: Context, grant: Grant, query: RunQuery): Paginated<RunView> {
  const page = parsePagination(query, {
    // Both names mean the same; all other lists use `createdAt`.
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
  const maySee = maySeeAll(ctx, grant)
  const runs = listRunRows(ctx.db.orm, filter, page).map((row) => toView(row, maySee))
  return paginated(runs, countRuns(ctx.db.orm, filter), page)
}

export function getRun(ctx: Context, grant: Grant, id: string): RunView {
  flushRuns(ctx)
  const row = findRunRow(ctx.db.orm, projectOf(ctx, grant).id, id)
  if (row === undefined) throw new AppError('not_found', 'There is no such run, or it is too old')
  return toView(row, maySeeAll(ctx, grant))
}

/** Inputs and outputs of a pipeline that names a secret may hold it in another form than is masked. contract 12.8. */
const maySeeAll = (ctx: Context, { caller, projectId }: Grant): boolean =>
  projectId !== null && mayDo(ctx, caller, 'secret:read', projectId)

function toView(
  { projectId: _, namesSecret, steps, startedAt, ...run }: RunRow,
  maySeeSecrets: boolean,
): RunView {
  const traces: object[] | null = steps === null ? null : JSON.parse(steps)
  return {
    ...run,
    steps: namesSecret && !maySeeSecrets ? (traces?.map(withoutValues) ?? null) : traces,
    startedAt: isoTime(startedAt),
  }
}

const withoutValues = (trace: object) => ({ ...trace, input: null, output: null, redacted: true })
