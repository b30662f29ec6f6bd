import type { Context } from '../../context.ts'
import { invalidField } from '../../domain/errors.ts'
import { parseTime } from '../../domain/iso-time.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import type { Grant } from '../auth/authorize.ts'
import { AUDIT_GROUPS, actionsOfGroup, isAuditGroup } from './actions.ts'
import { entryViews } from './entries.ts'
import type { AuditEntry } from './model.ts'
import { selectActors, selectActorsOf, selectAudit } from './queries.ts'

export { AUDIT_GROUPS } from './actions.ts'
export type { AuditEntry } from './model.ts'

export type AuditQuery = PaginationQuery & {
  action?: string | undefined
  projectId?: string | undefined
  actorId?: string | undefined
  group?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/** Newest first. `from` and `to` are ISO 8601 times, both included. */
export function listAudit(ctx: Context, grant: Grant, query: AuditQuery): Paginated<AuditEntry> {
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
    actions: actionsOf(query.group),
    from: parseTime('from', query.from),
    to: parseTime('to', query.to),
  }
  const { rows, total } = selectAudit(ctx.db.orm, filter, page)
  return paginated(entryViews(ctx, grant.caller, rows), total, page)
}

/** Those of one project, for who may read its log. */
export const listProjectAudit = (ctx: Context, grant: Grant, query: AuditQuery): Paginated<AuditEntry> =>
  listAudit(ctx, grant, { ...query, projectId: grant.projectId ?? '' })

function actionsOf(group: string | undefined): string[] | undefined {
  if (!group) return undefined
  if (isAuditGroup(group)) return actionsOfGroup(group)
  throw invalidField('group', `One of ${AUDIT_GROUPS.join(', ')}`)
}

/** Who has changed something, for people to choose from. */
export const listActors = (ctx: Context, _grant: Grant): { id: string; name: string | null }[] =>
  selectActors(ctx.db, MAX_ACTORS)

/** The same within one project, by its newest changes. */
export const listProjectActors = (ctx: Context, grant: Grant): { id: string; name: string | null }[] =>
  selectActorsOf(ctx.db, grant.projectId ?? '', NEWEST_CHANGES)

const MAX_ACTORS = 200
const NEWEST_CHANGES = 1_000
