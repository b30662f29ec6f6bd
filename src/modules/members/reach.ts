import type { Context } from '../../context.ts'
import { decideView } from '../../domain/access.ts'
import { hasAtLeast, type ProjectRole, roleLevel } from '../../domain/roles.ts'
import { resolveVisibility } from '../../domain/visibility.ts'
import { readSettings } from '../settings/read-settings.ts'
import type { User } from '../users/accounts.ts'
import type { Reach } from './model.ts'
import { listGrants, listReachedProjects, type ReachedProject } from './queries.ts'

export type { Reach } from './model.ts'

/**
 * The projects that a person has to do with, and why: the source that gives the role first. Of a global admin these are all.
 * The roles of somebody who is suspended stay, but show them no site. contract 17.6.
 */
export function reachOf(ctx: Context, user: User): Reach[] {
  const grants = Map.groupBy(listGrants(ctx.db.orm, user.id), ({ projectId }) => projectId)
  const isAdmin = user.role === 'admin'
  const isGated = readSettings(ctx).requireProjectMembership.value
  return listReachedProjects(ctx.db.orm, user.id, isAdmin).map((project) => {
    const { projectId, owner, name, displayName, isMember } = project
    const why = sourcesOf(grants.get(projectId) ?? [], isAdmin)
    const role = why[0]?.role ?? null
    const counts = user.suspendedAt === null && (isMember || !isGated)
    const canSeeSite = seesProduction(project, counts ? role : null)
    return { projectId, owner, name, displayName, role, isMember, canSeeSite, why }
  })
}

/** Whether the person has at least the role of a viewer anywhere: others are guests of the sites alone. contract 17.12. */
export const reachesAny = (ctx: Context, userId: string): boolean =>
  listGrants(ctx.db.orm, userId).some(({ role }) => hasAtLeast(role, 'viewer'))

function sourcesOf(grants: readonly { group: string | null; role: ProjectRole }[], isAdmin: boolean) {
  const workspace: Reach['why'] = isAdmin ? [{ kind: 'workspace', name: 'admin', role: 'owner' }] : []
  const granted = grants.map(({ group, role }): Reach['why'][number] => {
    const kind = group !== null ? 'group' : role === 'owner' ? 'owner' : 'direct'
    return { kind, name: group, role }
  })
  return [...granted, ...workspace].sort((a, b) => roleLevel(b.role) - roleLevel(a.role))
}

function seesProduction(project: ReachedProject, role: ProjectRole | null): boolean {
  const visibility = resolveVisibility({
    alias: { isPublic: project.aliasIsPublic, requiredRole: project.aliasRequiredRole, isSpa: null },
    project: { isPublic: project.isPublic, requiredRole: project.requiredRole, isSpa: null },
  })
  return decideView(visibility, role).allowed
}
