import type { Paginated, PaginationQuery } from '../../src/domain/pagination.ts'
import type { AuditEntry, AuditQuery } from '../../src/modules/logs/service.ts'
import { expectedFailure, queryOf } from '../frame/page-request.ts'
import type { AuditFilters, AuditList } from './audit-list.ts'

const PER_PAGE = '25'

type Found = Pick<AuditList, 'found' | 'filters' | 'problem'>

/** What the filters in the address of the page find, and the status of the answer. */
export function findAudit(
  request: Request,
  list: (query: AuditQuery) => Paginated<AuditEntry>,
): { list: Found; status: number } {
  const filters = filtersOf(request)
  const paging: PaginationQuery = { page: queryOf(request, 'page'), limit: PER_PAGE }
  try {
    const found = list({ ...filters, to: endOfDay(filters.to), ...paging })
    return { list: { found, filters }, status: 200 }
  } catch (thrown) {
    const { message, status } = expectedFailure(thrown)
    return { list: { found: null, filters, problem: message }, status }
  }
}

function filtersOf(request: Request): AuditFilters {
  const text = (name: string) => queryOf(request, name)?.trim() ?? ''
  return {
    group: text('group'),
    action: text('action'),
    projectId: text('projectId'),
    actorId: text('actorId'),
    from: text('from'),
    to: text('to'),
  }
}

/** A day ends at its last millisecond. */
const endOfDay = (to: string): string => (/^\d{4}-\d{2}-\d{2}$/.test(to) ? `${to}T23:59:59.999Z` : to)
