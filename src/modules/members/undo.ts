import { audit } from '../../db/audit.ts'
import { differingFields } from '../../domain/differing-fields.ts'
import type { ProjectRole } from '../../domain/roles.ts'
import { findGroup, getGroupRow } from '../groups/service.ts'
import { projectOf } from '../projects/service.ts'
import { cannotUndo, refuseChanged, type Undoing, undoKind } from '../undo/kind.ts'
import { findUser } from '../users/accounts.ts'
import { groupRoleOn } from './group-roles.ts'
import { grantGroupRole, ownerKeepsRole, revokeGroupRole, targetOf } from './permissions.ts'
import {
  deleteMembership,
  deletePermission,
  findMembership,
  insertMembership,
  upsertPermission,
} from './queries.ts'
import { type Tie, tieOf } from './tie.ts'

type TieChange = { before: Partial<Tie>; after: Partial<Tie> }
type RoleChange = { before: { role: ProjectRole | null }; after: { role: ProjectRole | null } }

/** Role and membership of a person; for a group, its role. */
export const permissionChange = undoKind<TieChange>({
  needs: 'permission:manage',
  undo(undoing, state) {
    const { tx, targetId } = undoing
    if (findUser(tx, targetId) !== undefined) return undoTie(undoing, state)
    if (findGroup(tx, targetId) === undefined) throw cannotUndo('the person or the group is gone')
    undoGroupRole(undoing, state as RoleChange)
  },
})

function undoTie({ ctx, tx, grant, targetId: userId }: Undoing, { before, after }: TieChange): void {
  const { id: projectId } = projectOf(ctx, grant, tx)
  const was = tieOf(tx, projectId, userId)
  if (was.role === 'owner') throw ownerKeepsRole()
  refuseChanged(was, after)
  const is: Tie = { ...was, ...before }
  if (is.role === null) deletePermission(tx, projectId, userId)
  else if (is.role !== was.role) upsertPermission(tx, projectId, userId, is.role, ctx.now())
  if (!is.isMember) deleteMembership(tx, projectId, userId)
  else if (findMembership(tx, projectId, userId) === undefined)
    insertMembership(tx, projectId, userId, ctx.now())
  audit(ctx, tx, grant.actor, {
    action: is.role !== null ? 'permission.grant' : is.isMember ? 'permission.revoke' : 'member.remove',
    target: targetOf(tx, userId),
    projectId,
    before: { role: was.role },
    ...(is.role === null ? {} : { after: { role: is.role } }),
    undo: differingFields(was, is),
  })
}

function undoGroupRole({ ctx, tx, grant, targetId: groupId }: Undoing, { before, after }: RoleChange): void {
  const { id: projectId } = projectOf(ctx, grant, tx)
  getGroupRow(tx, groupId)
  refuseChanged({ role: groupRoleOn(tx, projectId, groupId) }, after)
  if (before.role === null) revokeGroupRole(ctx, grant, groupId)
  else grantGroupRole(ctx, grant, { groupId, role: before.role })
}
