import type { Caller, Context } from '../../src/context.ts'
import { recentErrors } from '../../src/modules/analytics/recent-errors.ts'
import { mayDo } from '../../src/modules/auth/authorize.ts'
import { unreleasedProjects } from '../../src/modules/deployments/latest.ts'
import { domainTroubles } from '../../src/modules/domains/trouble.ts'
import type { HealthPoint } from './home.ts'

/** The problems of each project that the caller may see, by project id. An empty list means there are none. */
export function projectHealth(
  ctx: Context,
  caller: Caller,
  projectIds: readonly string[],
): (projectId: string) => HealthPoint[] {
  const errors = recentErrors(ctx, projectIds)
  const domains = domainTroubles(ctx, projectIds)
  const unreleased = unreleasedProjects(ctx, projectIds)
  return (projectId) => {
    const failed = mayDo(ctx, caller, 'analytics:read', projectId) ? (errors.get(projectId) ?? 0) : 0
    const { unproven = 0, uncertified = 0 } = domains.get(projectId) ?? {}
    return [
      ...(failed === 0
        ? []
        : [point('bad', `${failed} ${failed === 1 ? 'error' : 'errors'} in a day`, 'errors')]),
      ...(uncertified === 0 ? [] : [point('bad', 'Certificate missing', 'domains')]),
      ...(unproven === 0 ? [] : [point('warn', 'Domain not verified', 'domains')]),
      ...(unreleased.has(projectId) ? [point('warn', 'Newest not live', 'deployments')] : []),
    ]
  }
}

const point = (tone: HealthPoint['tone'], label: string, page: HealthPoint['page']): HealthPoint => ({
  tone,
  label,
  page,
})
