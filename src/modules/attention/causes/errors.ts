import { DAY_MS } from '../../../domain/durations.ts'
import { findFailures } from '../../analytics/failures.ts'
import { recentErrors } from '../../analytics/recent-errors.ts'
import type { ProjectCause } from '../cause.ts'

/** All projects are looked at with each view of the first page, and strangers can make many requests fail. */
const LOOKED_AT = 100

/** Requests that the server or a backend failed in the last day: one item a project. */
export const failedRequests: ProjectCause = (ctx, projectIds) =>
  [...recentErrors(ctx, projectIds)].map(([projectId, errors]) => {
    const span = {
      projectId,
      from: ctx.now() - DAY_MS,
      to: ctx.now() + 1,
      statuses: { from: 500, to: 599 },
      newest: LOOKED_AT,
    }
    const [worst] = findFailures(ctx, span)
    const counted = `${errors} ${errors === 1 ? 'request' : 'requests'} failed in the last 24 hours`
    return {
      code: 'errors',
      severity: 'error',
      projectId,
      message:
        worst === undefined ? `${counted}.` : `${counted}, most of them ${worst.method} ${worst.path}.`,
      href: `/projects/${projectId}/errors`,
      needs: 'analytics:read',
      at: worst?.lastAt ?? ctx.now(),
    }
  })
