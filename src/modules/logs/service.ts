import type { Context } from '../../context.ts'
import { isoTime, parseTime } from '../../domain/iso-time.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import type { Grant } from '../auth/authorize.ts'
import type { AuditEntry } from './model.ts'
import { type AuditRow, selectAudit } from './queries.ts'

export type { AuditEntry } from './model.ts'

type AuditQuery = PaginationQuery & {
  action?: string | undefined
  projectId?: string | undefined
  actorId?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/** Newest first. `from` and `to` are ISO 8601 times, both included. */
export function listAudit(ctx: Context, _grant: Grant, query: AuditQuery): Paginated<AuditEntry> {
  const page = parsePagination(query, {
    // Both names mean the same; all other lists use `createdAt`.
    sortable: ['at', 'createdAt'] as const,
    defaultSort: 'at',
    defaultOrder: 'desc',
  })
  const filter = {
    action: query.action || undefined,
    projectId: query.projectId || undefined,
    actorId: query.actorId || undefined,
    from: parseTime('from', query.from),
    to: parseTime('to', query.to),
  }
  const { rows, total } = selectAudit(ctx.db.orm, filter, page)
  return paginated(rows.map(toEntry), total, page)
}

const toEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  at: isoTime(row.at),
  actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
  credential: row.credential,
  ip: row.ip,
  action: row.action,
  target: { kind: row.targetKind, id: row.targetId, name: row.targetName },
  projectId: row.projectId,
  before: fromJson(row.before),
  after: fromJson(row.after),
})

const fromJson = (text: string | null): unknown => (text === null ? null : JSON.parse(text, withIsoTimes))

/** The log stores rows with times in milliseconds; the API shows all times in ISO 8601. contract §2. */
const withIsoTimes = (key: string, value: unknown): unknown =>
  key.endsWith('At') && isTime(value) ? isoTime(value) : value

/** Any other number, such as one in a pipeline's config, is very unlikely to be a time of this century. */
const isTime = (value: unknown): value is number =>
  typeof value === 'number' && value > Date.UTC(2001) && value < Date.UTC(2200)
