import type { Context } from '../../context.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { invalidField } from '../../domain/errors.ts'
import { isoTime, parseTime } from '../../domain/iso-time.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import type { LoggedRequest } from '../../platform/request-log/row.ts'
import { forgetVisitors } from '../../platform/request-log/store.ts'
import { startOf } from '../../platform/request-log/sums.ts'
import type { Grant } from '../auth/authorize.ts'
import { findProjectById } from '../projects/service.ts'
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
  from?: Text
  to?: Text
}

/** Sums are kept for as long as somebody may compare with last year. */
const KEEP_COUNTS_DAYS = 400
/** About 250 MB: a flood of requests must not fill the disk. */
const MOST_ROWS = 1_000_000
const DELETED_AT_ONCE = 5000

/** Single requests, newest first. No address, query or cookie is among it. Of very many, 10 000 are counted. */
export function listLoggedRequests(ctx: Context, _grant: Grant, query: RequestQuery): Paginated<RequestView> {
  const page = parsePagination(query, {
    // One and the same here: all other lists call it so.
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
    from: parseTime('from', query.from),
    to: parseTime('to', query.to),
  }
  ctx.requestLog.flush()
  const { db } = ctx.requestLog
  return paginated(listRequests(db, filter, page).map(requestView), countRequests(db, filter), page)
}

/** Of all requests that were logged so far; what comes later has a greater one. */
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

/** Forgets what is past its time, and what belonged to projects that are gone. In small steps, so that nobody waits. */
export async function removeOldLogs(ctx: Context): Promise<void> {
  ctx.requestLog.flush()
  const { db } = ctx.requestLog
  const now = ctx.now()
  forgetVisitors(db, startOf(now, DAY_MS))
  deleteOldCounts(db, startOf(now, DAY_MS) - KEEP_COUNTS_DAYS * DAY_MS)
  for (const projectId of listCountedProjects(db))
    if (findProjectById(ctx, projectId) === undefined) deleteProjectLog(db, projectId)
  const before = now - ctx.config.logRetentionDays * DAY_MS
  await inSteps((limit) => deleteRequestsBefore(db, before, limit))
  await inSteps((limit) => deleteRequestsPast(db, MOST_ROWS, limit))
  await db.checkpoint()
}

async function inSteps(remove: (limit: number) => number): Promise<void> {
  while (remove(DELETED_AT_ONCE) === DELETED_AT_ONCE) await nextTurn()
}
