import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction, refuseTaken } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { differingFields } from '../../domain/differing-fields.ts'
import { AppError } from '../../domain/errors.ts'
import { given, isEmpty } from '../../domain/given.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import type { Grant } from '../auth/authorize.ts'
import { type GroupRole, groupRolesOf } from '../members/group-roles.ts'
import { getAccount } from '../users/accounts.ts'
import type { GroupChange, GroupMemberView, GroupView, NewGroup } from './model.ts'
import {
  type CountedGroup,
  deleteGroupMember,
  deleteGroupRow,
  findGroup,
  type Group,
  type GroupMember,
  insertGroup,
  insertGroupMember,
  listGroupMembers,
  selectGroups,
  updateGroup,
} from './queries.ts'

export type { GroupMemberView, GroupView } from './model.ts'
export { findGroup, listGroupsOf } from './queries.ts'

export function listGroups(
  ctx: Context,
  _grant: Grant,
  query: PaginationQuery & { search?: string | undefined },
): Paginated<GroupView> {
  const page = parsePagination(query, {
    sortable: ['name', 'createdAt'] as const,
    defaultSort: 'name',
    defaultOrder: 'asc',
  })
  const { rows, total } = selectGroups(ctx.db.orm, query.search || undefined, page)
  return paginated(rows.map(toView), total, page)
}

/** The group, or 404. Also for services that give a group a role. */
export function getGroupRow(db: DbOrTx, id: string): CountedGroup {
  const group = findGroup(db, id)
  if (group === undefined) throw new AppError('not_found', 'There is no such group')
  return group
}

export function getGroup(ctx: Context, _grant: Grant, id: string): GroupView {
  return toView(getGroupRow(ctx.db.orm, id))
}

/** Makes an empty group. Throws 409 if the name is taken. */
export function createGroup(ctx: Context, grant: Grant, input: NewGroup): GroupView {
  const now = ctx.now()
  const group: Group = {
    id: ctx.newId(),
    name: input.name.trim(),
    description: input.description ?? null,
    createdAt: now,
    updatedAt: now,
  }
  inTransaction(ctx.db, (tx) => {
    refuseTaken(taken(group.name), () => insertGroup(tx, group))
    audit(ctx, tx, grant.actor, {
      action: 'group.create',
      target: targetOf(group),
      after: group,
      undo: group,
    })
  })
  return toView({ ...group, memberCount: 0 })
}

/** Renames or describes a group; fields left out stay as they are. Throws 404, or 409 if the name is taken. */
export function changeGroup(ctx: Context, grant: Grant, id: string, change: GroupChange): GroupView {
  if (isEmpty(given(change))) return toView(getGroupRow(ctx.db.orm, id))
  return inTransaction(ctx.db, (tx) => {
    const { name, description } = getGroupRow(tx, id)
    const before = { name, description }
    const after = {
      name: change.name?.trim() ?? name,
      description: change.description === undefined ? description : change.description,
    }
    refuseTaken(taken(after.name), () => updateGroup(tx, id, { ...after, updatedAt: ctx.now() }))
    audit(ctx, tx, grant.actor, {
      action: 'group.change',
      target: targetOf({ id, name }),
      before,
      after,
      undo: differingFields(before, after),
    })
    return toView(getGroupRow(tx, id))
  })
}

/** Deletes the group. Its members lose the roles it gave them at once. Throws 404. */
export function deleteGroup(ctx: Context, grant: Grant, id: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    removeGroup(ctx, tx, grant, id)
  })
}

/** All of a group, so that it can come back. */
export type RemovedGroup = {
  group: Group
  members: { userId: string; addedAt: number }[]
  roles: GroupRole[]
}

/** The same in the caller's transaction. */
export function removeGroup(ctx: Context, tx: DbOrTx, grant: Grant, id: string): void {
  const before = getGroupRow(tx, id)
  const { memberCount: _, ...group } = before
  const undo: RemovedGroup = {
    group,
    members: listGroupMembers(tx, id).map(({ userId, addedAt }) => ({ userId, addedAt })),
    roles: groupRolesOf(tx, id),
  }
  deleteGroupRow(tx, id)
  audit(ctx, tx, grant.actor, { action: 'group.delete', target: targetOf(before), before, undo })
}

export function listMembersOfGroup(ctx: Context, _grant: Grant, id: string): GroupMemberView[] {
  getGroupRow(ctx.db.orm, id)
  return listGroupMembers(ctx.db.orm, id).map(memberView)
}

/** The same in pages: a group may have very many. */
export function listMemberPage(
  ctx: Context,
  _grant: Grant,
  id: string,
  { page, limit }: { page: number; limit: number },
): Paginated<GroupMemberView> {
  const { memberCount } = getGroupRow(ctx.db.orm, id)
  const rows = listGroupMembers(ctx.db.orm, id, { limit, offset: (page - 1) * limit })
  return paginated(rows.map(memberView), memberCount, { page, limit })
}

/** Throws 404 for an unknown group or user, 409 for somebody who is already a member. */
export function addGroupMember(ctx: Context, grant: Grant, id: string, userId: string): GroupMemberView {
  return inTransaction(ctx.db, (tx) => {
    const group = getGroupRow(tx, id)
    const user = getAccount(tx, { userId })
    const addedAt = ctx.now()
    refuseTaken(`${user.email} is already in the group ${group.name}`, () =>
      insertGroupMember(tx, id, userId, addedAt),
    )
    const after = { userId, email: user.email }
    audit(ctx, tx, grant.actor, {
      action: 'group.add-member',
      target: targetOf(group),
      after,
      undo: { userId },
    })
    return { userId, email: user.email, addedAt: isoTime(addedAt) }
  })
}

/** Removes a user, who loses the group's roles at once. Throws 404 for an unknown group or a user who is not in it. */
export function removeGroupMember(ctx: Context, grant: Grant, id: string, userId: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const group = getGroupRow(tx, id)
    if (!deleteGroupMember(tx, id, userId)) throw new AppError('not_found', 'That user is not in the group')
    const before = { userId, email: getAccount(tx, { userId }).email }
    audit(ctx, tx, grant.actor, {
      action: 'group.remove-member',
      target: targetOf(group),
      before,
      undo: { userId },
    })
  })
}

export const taken = (name: string): string => `There is already a group called ${name}`

const toView = ({ id, name, description, memberCount, createdAt }: CountedGroup): GroupView => ({
  id,
  name,
  description,
  memberCount,
  createdAt: isoTime(createdAt),
})

const memberView = ({ addedAt, ...rest }: GroupMember): GroupMemberView => ({
  ...rest,
  addedAt: isoTime(addedAt),
})

export const targetOf = ({ id, name }: { id: string; name: string }) => ({ kind: 'group', id, name })
