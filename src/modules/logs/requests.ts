import type { Context } from '../../context.ts'
import type { LoggedRequest } from '../../db/request-log/row.ts'
import { deleteVisitors, forgetSalts } from '../../db/request-log/store.ts'
import { startOf } from '../../db/request-log/sums.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { invalidField } from '../../domain/errors.ts'
import { isoTime, parseTime } from '../../domain/iso-time.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import { GO_ON, inSteps, type Stop } from '../../platform/in-steps.ts'
import type { Grant } from '../auth/authorize.ts'
import { findProjectById, projectOf } from '../projects/service.ts'
import type { RequestView } from './model.ts'
import {
  countRequests,
  deleteOldCounts,
  deleteProjectLog,
  deleteRequestsBefore,
  deleteRequestsPast,
  findNewestId,
  listCountedProjects,
  listRequests,
} from './requests-queries.ts'

export type { RequestView } from './model.ts'

type Text = string | undefined
type RequestQuery = PaginationQuery & {
  projectId?: Text
  host?: Text
  path?: Text
  method?: Text
  status?: Text
  bots?: Text
  place?: Text
  from?: Text
  to?: Text
}

/** Sums are kept long enough to compare with last year. */
const KEEP_COUNTS_DAYS = 400
/** About 250 MB: a flood of requests must not fill the disk. */
const MAX_ROWS = 1_000_000
const DELETED_AT_ONCE = 2000

/** Single requests, newest first, without addresses, queries or cookies. Counts 10 000 at most. */
export function listLoggedRequests(ctx: Context, _grant: Grant, query: RequestQuery): Paginated<RequestView> {
  const page = parsePagination(query, {
    // Both names mean the same; all other lists use `createdAt`.
    sortable: ['at', 'createdAt'] as const,
    defaultSort: 'at',
    defaultOrder: 'desc',
  })
  const filter = {
    projectId: query.projectId || undefined,
    host: query.host?.toLowerCase() || undefined,
    path: query.path || undefined,
    method: query.method?.toUpperCase() || undefined,
    status: parseStatus(query.status),
    isBot: parseBots(query.bots),
    ofProject: parsePlace(query.place),
    from: parseTime('from', query.from),
    to: parseTime('to', query.to),
  }
  ctx.requestLog.flush()
  const { db } = ctx.requestLog
  return paginated(listRequests(db, filter, page).map(requestView), countRequests(db, filter), page)
}

/** The same of the project of the grant. */
export const listRequestsOfProject = (
  ctx: Context,
  grant: Grant,
  query: RequestQuery,
): Paginated<RequestView> =>
  listLoggedRequests(ctx, grant, { ...query, projectId: projectOf(ctx, grant).id, place: 'all' })

/** The id of the newest request so far; later requests have greater ids. */
export function newestRequestId(ctx: Context, _grant: Grant): string {
  ctx.requestLog.flush()
  return String(findNewestId(ctx.requestLog.db))
}

export const requestView = (row: LoggedRequest): RequestView => ({
  ...row,
  id: String(row.id),
  at: isoTime(row.at),
})

/** `404` or `4xx`. */
export function parseStatus(text: Text): { from: number; to: number } | undefined {
  if (text === undefined || text === '') return undefined
  const [, hundreds, rest] = /^([1-5])(\d\d|xx)$/i.exec(text) ?? []
  if (hundreds === undefined || rest === undefined)
    throw invalidField('status', 'Give a status such as 404, or a class such as 4xx')
  const from = Number(hundreds) * 100
  return /\d/.test(rest) ? { from: Number(text), to: Number(text) } : { from, to: from + 99 }
}

export function parseBots(text: Text): boolean | undefined {
  if (text === undefined || text === '') return undefined
  if (text === 'true' || text === 'false') return text === 'true'
  throw invalidField('bots', 'true or false')
}

/** Whether a project answered it; undefined: whoever did. */
export function parsePlace(text: Text): boolean | undefined {
  if (text === undefined || text === '' || text === 'all') return undefined
  if (text === 'sites' || text === 'admin') return text === 'sites'
  throw invalidField('place', 'sites, admin or all')
}

/** Removes old entries, and those of deleted projects. Works in small steps, so that nobody waits. */
export async function removeOldLogs(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  ctx.requestLog.flush()
  const { db } = ctx.requestLog
  const now = ctx.now()
  const today = startOf(now, DAY_MS)
  const remove = (some: (limit: number) => number) => inSteps(stop, () => some(DELETED_AT_ONCE) > 0)
  forgetSalts(db, today)
  await remove((limit) => deleteVisitors(db, today, limit))
  await remove((limit) => deleteOldCounts(db, today - KEEP_COUNTS_DAYS * DAY_MS, limit))
  for (const projectId of listCountedProjects(db)) {
    const isGone = findProjectById(ctx, projectId) === undefined
    await remove((limit) => (isGone ? deleteProjectLog(db, projectId, limit) : 0))
  }
  const before = now - ctx.config.logRetentionDays * DAY_MS
  await remove((limit) => deleteRequestsBefore(db, before, limit))
  await remove((limit) => deleteRequestsPast(db, MAX_ROWS, limit))
  await db.checkpoint()
}
