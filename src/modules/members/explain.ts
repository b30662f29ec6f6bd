import type { Context } from '../../context.ts'
import { decideAccess, decideView, PROJECT_ACTIONS, type ProjectAction } from '../../domain/access.ts'
import type { SessionUser } from '../../domain/actor.ts'
import { isoTimeOrNull } from '../../domain/iso-time.ts'
import type { ProjectRole } from '../../domain/roles.ts'
import type { Grant } from '../auth/authorize.ts'
import { type Project, projectOf } from '../projects/service.ts'
import { readSettings } from '../settings/read-settings.ts'
import { getUserRow, publicUser, type User } from '../users/accounts.ts'
import type { Explanation, RoleSource } from './model.ts'
import { findMembership, findPermission, listGroupPermissionsOfUser } from './queries.ts'
import { standingOf } from './service.ts'

export type { Explanation } from './model.ts'

/** Uses the same rules that decide access, and reports everything they look at. Throws 404 for an unknown user. */
export function explainAccess(ctx: Context, grant: Grant, userId: string): Explanation {
  const project = projectOf(ctx, grant)
  const account = getUserRow(ctx.db.orm, { userId })
  const user = publicUser(account)
  const effectiveRole = decide(ctx, project.id, account, 'site:view').role
  const joinedAt = findMembership(ctx.db.orm, project.id, userId)?.joinedAt ?? null
  const gate = readSettings(ctx).requireProjectMembership
  return {
    user,
    effectiveRole,
    sources: sourcesOf(ctx, project.id, user),
    membership: { isMember: joinedAt !== null, joinedAt: isoTimeOrNull(joinedAt) },
    settings: {
      requireProjectMembership: gate,
      isPublic: project.isPublic,
      requiredRole: project.requiredRole,
    },
    site: explainSite(project, effectiveRole, !gate.value || joinedAt !== null),
    actions: (Object.keys(PROJECT_ACTIONS) as ProjectAction[]).map((action) => {
      const { allowed, reason } = decide(ctx, project.id, account, action)
      return { action, allowed, reason }
    }),
  }
}

/** Decides as on the admin host, where roles apply in full. */
const decide = (ctx: Context, projectId: string, user: User, action: ProjectAction) =>
  decideAccess({
    action,
    asker:
      user.suspendedAt === null
        ? { kind: 'user', globalRole: user.role, place: 'admin_host' }
        : { kind: 'suspended' },
    isRead: false,
    role: standingOf(ctx, projectId, user.id).role,
    exists: true,
  })

function explainSite(project: Project, role: ProjectRole | null, passesGate: boolean): Explanation['site'] {
  const { allowed, reason } = decideView(project, passesGate ? role : null)
  const refusal = 'The gate refuses the visitor, who is not a member; '
  return { passesGate, mayView: allowed, reason: passesGate ? reason : refusal + reason }
}

function sourcesOf(ctx: Context, projectId: string, user: SessionUser): RoleSource[] {
  const direct = findPermission(ctx.db.orm, projectId, user.id)
  return [
    ...(user.role === 'admin'
      ? [{ kind: 'global_role', role: 'owner', name: user.role, grantedAt: null } as const]
      : []),
    ...(direct === undefined
      ? []
      : [{ kind: 'permission', role: direct.role, grantedAt: isoTimeOrNull(direct.grantedAt) } as const]),
    ...listGroupPermissionsOfUser(ctx.db.orm, projectId, user.id).map(
      ({ grantedAt, ...group }) =>
        ({ kind: 'group', ...group, grantedAt: isoTimeOrNull(grantedAt) }) as const,
    ),
  ]
}
