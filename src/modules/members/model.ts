import { type Static, t } from 'elysia'
import type { ProjectAction } from '../../domain/access.ts'
import { orNull } from '../../http/or-null.ts'
import { userView } from '../auth/model.ts'
import { projectRole, userRefFields } from '../projects/model.ts'

export const roleGrantBody = t.Object({ ...userRefFields, role: projectRole })
export const groupGrantBody = t.Object({
  groupId: t.String({
    maxLength: 100,
    error: 'The id of a group',
    examples: ['01a1f95d-adc8-7540-85f5-eb591f10b29b'],
  }),
  role: projectRole,
})

const roleOrNull = orNull(projectRole)

export const userPermissionView = t.Object({
  userId: t.String(),
  email: t.String(),
  role: projectRole,
  isMember: t.Boolean(),
  grantedAt: t.String(),
})
export type UserPermissionView = Static<typeof userPermissionView>

export const groupPermissionView = t.Object({
  groupId: t.String(),
  name: t.String(),
  role: projectRole,
  grantedAt: t.String(),
})
export type GroupPermissionView = Static<typeof groupPermissionView>

/** `me`: the caller's own role. */
export const permissionsView = t.Object({
  users: t.Array(userPermissionView),
  groups: t.Array(groupPermissionView),
  me: t.Object({ role: roleOrNull }),
})
export type PermissionsView = Static<typeof permissionsView>

/** `role` is the effective one of all grants; null for a member without any. */
const memberView = t.Object({
  userId: t.String(),
  email: t.String(),
  role: roleOrNull,
  isOwner: t.Boolean(),
  joinedAt: t.String(),
})
export type MemberView = Static<typeof memberView>

export const membersView = t.Object({ members: t.Array(memberView) })

export const explainQuery = t.Object({
  userId: t.String({ maxLength: 100, error: 'The id of a user' }),
})

/** Where a role comes from. For a group, with its id and name. */
const sourceView = t.Object({
  kind: t.Union([t.Literal('global_role'), t.Literal('permission'), t.Literal('group')]),
  role: projectRole,
  groupId: t.Optional(t.String()),
  name: t.Optional(t.String()),
  grantedAt: orNull(t.String()),
})
export type RoleSource = Static<typeof sourceView>

/** What a person may do on a project, and why. `site` says what they get on the project's hosts. */
export const explanationView = t.Object({
  user: userView,
  effectiveRole: roleOrNull,
  sources: t.Array(sourceView),
  membership: t.Object({ isMember: t.Boolean(), joinedAt: orNull(t.String()) }),
  settings: t.Object({
    requireProjectMembership: t.Object({ value: t.Boolean(), source: t.String() }),
    isPublic: t.Boolean(),
    requiredRole: projectRole,
  }),
  site: t.Object({ passesGate: t.Boolean(), mayView: t.Boolean(), reason: t.String() }),
  actions: t.Array(
    t.Object({ action: t.Unsafe<ProjectAction>(t.String()), allowed: t.Boolean(), reason: t.String() }),
  ),
})
export type Explanation = Static<typeof explanationView>

/** A project that a person has to do with: `why` has every source of the role, the one that gives it first. contract 17.6. */
export const reachView = t.Object({
  projectId: t.String({ format: 'uuid' }),
  owner: t.String(),
  name: t.String(),
  displayName: t.String(),
  role: roleOrNull,
  isMember: t.Boolean(),
  canSeeSite: t.Boolean(),
  why: t.Array(
    t.Object({
      kind: t.Union([t.Literal('direct'), t.Literal('group'), t.Literal('owner'), t.Literal('workspace')]),
      name: orNull(t.String()),
      role: projectRole,
    }),
  ),
})
export type Reach = Static<typeof reachView>
