import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction, refuseTaken } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import type { Grant } from '../auth/authorize.ts'
import { getAccount } from '../users/accounts.ts'
import type { GroupChange, GroupMemberView, GroupView, NewGroup } from './model.ts'
import {
  type CountedGroup,
  deleteGroupMember,
  deleteGroupRow,
  findGroup,
  type Group,
  insertGroup,
  insertGroupMember,
  listGroupMembers,
  selectGroups,
  updateGroup,
} from './queries.ts'

export type { GroupMemberView, GroupView } from './model.ts'

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

/** The group, or 404. For services that give a group a role, too. */
export function getGroupRow(db: DbOrTx, id: string): CountedGroup {
  const group = findGroup(db, id)
  if (group === undefined) throw new AppError('not_found', 'There is no such group')
  return group
}

export function getGroup(ctx: Context, _grant: Grant, id: string): GroupView {
  return toView(getGroupRow(ctx.db.orm, id))
}

/** Makes an empty group. Throws 409 for a name that is taken. */
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
    audit(ctx, tx, grant.actor, { action: 'group.create', target: targetOf(group.id), after: group })
  })
  return toView({ ...group, memberCount: 0 })
}

/** Renames or describes a group; what is left out stays. Throws 404, or 409 for a name that is taken. */
export function changeGroup(ctx: Context, grant: Grant, id: string, change: GroupChange): GroupView {
  return inTransaction(ctx.db, (tx) => {
    const { name, description } = getGroupRow(tx, id)
    const before = { name, description }
    const after = {
      name: change.name?.trim() ?? name,
      description: change.description === undefined ? description : change.description,
    }
    refuseTaken(taken(after.name), () => updateGroup(tx, id, { ...after, updatedAt: ctx.now() }))
    audit(ctx, tx, grant.actor, { action: 'group.change', target: targetOf(id), before, after })
    return toView(getGroupRow(tx, id))
  })
}

/** Deletes the group. Its members lose at once what they had by it. Throws 404. */
export function deleteGroup(ctx: Context, grant: Grant, id: string): void {
  inTransaction(ctx.db, (tx) => {
    const before = getGroupRow(tx, id)
    deleteGroupRow(tx, id)
    audit(ctx, tx, grant.actor, { action: 'group.delete', target: targetOf(id), before })
  })
}

export function listMembersOfGroup(ctx: Context, _grant: Grant, id: string): GroupMemberView[] {
  getGroupRow(ctx.db.orm, id)
  return listGroupMembers(ctx.db.orm, id).map(({ addedAt, ...rest }) => ({
    ...rest,
    addedAt: isoTime(addedAt),
  }))
}

/** Throws 404 for an unknown group or user, 409 for a member. */
export function addGroupMember(ctx: Context, grant: Grant, id: string, userId: string): GroupMemberView {
  return inTransaction(ctx.db, (tx) => {
    const group = getGroupRow(tx, id)
    const user = getAccount(tx, { userId })
    const addedAt = ctx.now()
    refuseTaken(`${user.email} is in the group ${group.name} already`, () =>
      insertGroupMember(tx, id, userId, addedAt),
    )
    audit(ctx, tx, grant.actor, { action: 'group.add-member', target: targetOf(id), after: { userId } })
    return { userId, email: user.email, addedAt: isoTime(addedAt) }
  })
}

/** Takes a user out; what they had by the group ends at once. Throws 404 for an unknown group or somebody not in it. */
export function removeGroupMember(ctx: Context, grant: Grant, id: string, userId: string): void {
  inTransaction(ctx.db, (tx) => {
    getGroupRow(tx, id)
    if (!deleteGroupMember(tx, id, userId)) throw new AppError('not_found', 'That user is not in the group')
    audit(ctx, tx, grant.actor, { action: 'group.remove-member', target: targetOf(id), before: { userId } })
  })
}

const taken = (name: string): string => `There is a group called ${name} already`

const toView = ({ id, name, description, memberCount, createdAt }: CountedGroup): GroupView => ({
  id,
  name,
  description,
  memberCount,
  createdAt: isoTime(createdAt),
})

const targetOf = (id: string) => ({ kind: 'group', id })
