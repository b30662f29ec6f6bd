import { t } from 'elysia'
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

const roleOrNull = t.Union([projectRole, t.Null()])

export const userPermissionView = t.Object({
  userId: t.String(),
  email: t.String(),
  role: projectRole,
  isMember: t.Boolean(),
  grantedAt: t.String(),
})

export const groupPermissionView = t.Object({
  groupId: t.String(),
  name: t.String(),
  role: projectRole,
  grantedAt: t.String(),
})

export const permissionsView = t.Object({
  users: t.Array(userPermissionView),
  groups: t.Array(groupPermissionView),
  me: t.Object({ role: roleOrNull }),
})

export const membersView = t.Object({
  members: t.Array(
    t.Object({
      userId: t.String(),
      email: t.String(),
      role: roleOrNull,
      isOwner: t.Boolean(),
      joinedAt: t.String(),
    }),
  ),
})

export const explainQuery = t.Object({
  userId: t.String({ maxLength: 100, error: 'The id of a user' }),
})

export const explanationView = t.Object({
  user: t.Object({ id: t.String(), email: t.String(), role: t.String() }),
  effectiveRole: roleOrNull,
  sources: t.Array(
    t.Object({
      kind: t.Union([t.Literal('global_role'), t.Literal('permission'), t.Literal('group')]),
      role: projectRole,
      groupId: t.Optional(t.String()),
      name: t.Optional(t.String()),
      grantedAt: t.Union([t.String(), t.Null()]),
    }),
  ),
  membership: t.Object({ isMember: t.Boolean(), joinedAt: t.Union([t.String(), t.Null()]) }),
  settings: t.Object({
    requireProjectMembership: t.Object({ value: t.Boolean(), source: t.String() }),
    isPublic: t.Boolean(),
    requiredRole: projectRole,
  }),
  site: t.Object({ passesGate: t.Boolean(), mayView: t.Boolean(), reason: t.String() }),
  actions: t.Array(t.Object({ action: t.String(), allowed: t.Boolean(), reason: t.String() })),
})
