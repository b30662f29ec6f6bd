import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { differingFields } from '../../domain/differing-fields.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { ProjectRole } from '../../domain/roles.ts'
import type { Grant } from '../auth/authorize.ts'
import { getGroupRow } from '../groups/service.ts'
import { projectOf } from '../projects/service.ts'
import { getAccount, type UserRef } from '../users/accounts.ts'
import type { GroupPermissionView, MemberView, PermissionsView, UserPermissionView } from './model.ts'
import {
  deleteGroupPermission,
  deletePermission,
  findGroupPermission,
  findOwnerId,
  findPermission,
  listGroupPermissions,
  listMemberRows,
  listPermissions,
  upsertGroupPermission,
} from './queries.ts'
import { effectiveRoles, endMembership, giveRole } from './service.ts'
import { tieOf } from './tie.ts'

export type { GroupPermissionView, MemberView, PermissionsView } from './model.ts'

/** Every direct role and every group's on the project. contract §4. */
export function getPermissions(ctx: Context, grant: Grant): PermissionsView {
  const { id } = projectOf(ctx, grant)
  return {
    users: listPermissions(ctx.db.orm, id).map(withIsoTime),
    groups: listGroupPermissions(ctx.db.orm, id).map(withIsoTime),
    me: { role: grant.role },
  }
}

/** Gives a user a direct role, replacing the current one, and membership. Throws 400 for the owner or `owner`. */
export function grantRole(
  ctx: Context,
  grant: Grant,
  input: UserRef & { role: ProjectRole },
): UserPermissionView {
  const { role } = input
  refuseOwnerRole(role)
  return inTransaction(ctx.db, (tx) => {
    const { id } = projectOf(ctx, grant, tx)
    const user = getAccount(tx, input)
    const was = tieOf(tx, id, user.id)
    const before = findPermission(tx, id, user.id)
    if (before?.role === 'owner') throw ownerKeepsRole()
    const grantedAt = ctx.now()
    giveRole(tx, id, user.id, role, grantedAt)
    audit(ctx, tx, grant.actor, {
      action: 'permission.grant',
      target: { kind: 'user', id: user.id, name: user.email },
      projectId: id,
      before: before && { role: before.role },
      after: { role },
      undo: differingFields(was, tieOf(tx, id, user.id)),
    })
    return withIsoTime({ userId: user.id, email: user.email, role, isMember: true, grantedAt })
  })
}

/** Takes the direct role away, but not the membership or roles by groups. Throws 400 for the owner, 404 without. */
export function revokeRole(ctx: Context, grant: Grant, userId: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const { id } = projectOf(ctx, grant, tx)
    const before = findPermission(tx, id, userId)
    if (before === undefined) throw new AppError('not_found', 'That user has no direct role on the project')
    if (before.role === 'owner') throw ownerKeepsRole()
    const was = tieOf(tx, id, userId)
    deletePermission(tx, id, userId)
    audit(ctx, tx, grant.actor, {
      action: 'permission.revoke',
      target: targetOf(tx, userId),
      projectId: id,
      before: { role: before.role },
      undo: differingFields(was, tieOf(tx, id, userId)),
    })
  })
}

/**
 * Gives a group a role, replacing its current one. This does not make its members members of the project. Throws 400
 * for `owner`, 404 for an unknown group.
 */
export function grantGroupRole(
  ctx: Context,
  grant: Grant,
  { groupId, role }: { groupId: string; role: ProjectRole },
): GroupPermissionView {
  refuseOwnerRole(role)
  return inTransaction(ctx.db, (tx) => {
    const { id } = projectOf(ctx, grant, tx)
    const { name } = getGroupRow(tx, groupId)
    const before = findGroupPermission(tx, id, groupId)
    const grantedAt = ctx.now()
    upsertGroupPermission(tx, id, groupId, role, grantedAt)
    audit(ctx, tx, grant.actor, {
      action: 'permission.grant',
      target: { kind: 'group', id: groupId, name },
      projectId: id,
      before,
      after: { role },
      undo: differingFields({ role: before?.role ?? null }, { role }),
    })
    return withIsoTime({ groupId, name, role, grantedAt })
  })
}

/** Takes the role of a group away; direct roles of its members remain. Throws 404 when it has none. */
export function revokeGroupRole(ctx: Context, grant: Grant, groupId: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const { id } = projectOf(ctx, grant, tx)
    const before = findGroupPermission(tx, id, groupId)
    if (before === undefined) throw new AppError('not_found', 'That group has no role on the project')
    deleteGroupPermission(tx, id, groupId)
    audit(ctx, tx, grant.actor, {
      action: 'permission.revoke',
      target: { kind: 'group', id: groupId, name: getGroupRow(tx, groupId).name },
      projectId: id,
      before,
      undo: { before: { role: before.role }, after: { role: null } },
    })
  })
}

/** Everybody with a membership row. */
export function listMembers(ctx: Context, grant: Grant): MemberView[] {
  const { id } = projectOf(ctx, grant)
  const ownerId = findOwnerId(ctx.db.orm, id)
  const roles = effectiveRoles(ctx, id)
  return listMemberRows(ctx.db.orm, id).map(({ joinedAt, ...row }) => ({
    ...row,
    role: roles.get(row.userId) ?? null,
    isOwner: row.userId === ownerId,
    joinedAt: isoTime(joinedAt),
  }))
}

/** Removes membership and direct role. Throws 400 for the owner, 404 for somebody with neither. */
export function removeMember(ctx: Context, grant: Grant, userId: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const { id } = projectOf(ctx, grant, tx)
    const was = tieOf(tx, id, userId)
    const before = endMembership(tx, id, userId)
    audit(ctx, tx, grant.actor, {
      action: 'member.remove',
      target: targetOf(tx, userId),
      projectId: id,
      before,
      undo: differingFields(was, tieOf(tx, id, userId)),
    })
  })
}

export const targetOf = (tx: DbOrTx, userId: string) => ({
  kind: 'user',
  id: userId,
  name: getAccount(tx, { userId }).email,
})

function refuseOwnerRole(role: ProjectRole): void {
  if (role !== 'owner') return
  const message = 'A project has one owner, and a group cannot be the owner: transfer the ownership instead'
  throw new AppError('invalid', message, { details: [{ path: 'role', message }] })
}

export const ownerKeepsRole = () =>
  new AppError('invalid', "The owner's access cannot be changed: transfer the ownership first")

const withIsoTime = <T extends { grantedAt: number }>(
  row: T,
): Omit<T, 'grantedAt'> & { grantedAt: string } => ({
  ...row,
  grantedAt: isoTime(row.grantedAt),
})
