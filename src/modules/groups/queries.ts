import { and, asc, eq, sql } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { groupMembers, groups, users } from '../../db/schema.ts'
import { countRows, inPage } from '../../db/select.ts'
import type { Page } from '../../domain/pagination.ts'

export type Group = typeof groups.$inferSelect
export type CountedGroup = Group & { memberCount: number }
type GroupSort = 'name' | 'createdAt'

const counted = {
  id: groups.id,
  name: groups.name,
  description: groups.description,
  createdAt: groups.createdAt,
  updatedAt: groups.updatedAt,
  memberCount: sql<number>`(SELECT count(*) FROM group_members gm WHERE gm.group_id = ${groups.id})`,
}

export function findGroup(db: DbOrTx, id: string): CountedGroup | undefined {
  return db.select(counted).from(groups).where(eq(groups.id, id)).get()
}

/** `search` is a part of the name, in any case. */
export function selectGroups(
  db: DbOrTx,
  search: string | undefined,
  page: Page<GroupSort>,
): { rows: CountedGroup[]; total: number } {
  const where = search === undefined ? undefined : sql`instr(lower(${groups.name}), lower(${search})) > 0`
  const matching = db.select(counted).from(groups).where(where).$dynamic()
  return {
    rows: inPage(matching, page, groups[page.sort], groups.id).all(),
    total: countRows(db, groups, where),
  }
}

export function insertGroup(db: DbOrTx, group: Group): void {
  db.insert(groups).values(group).run()
}

export function updateGroup(db: DbOrTx, id: string, patch: Partial<Omit<Group, 'id' | 'createdAt'>>): void {
  db.update(groups).set(patch).where(eq(groups.id, id)).run()
}

export function deleteGroupRow(db: DbOrTx, id: string): void {
  db.delete(groups).where(eq(groups.id, id)).run()
}

export type GroupMember = { userId: string; email: string; addedAt: number }

/** In the order of their emails; -1 is no limit. */
export function listGroupMembers(
  db: DbOrTx,
  groupId: string,
  { limit, offset } = { limit: -1, offset: 0 },
): GroupMember[] {
  return db
    .select({ userId: users.id, email: users.email, addedAt: groupMembers.addedAt })
    .from(groupMembers)
    .innerJoin(users, eq(users.id, groupMembers.userId))
    .where(eq(groupMembers.groupId, groupId))
    .orderBy(asc(users.email))
    .limit(limit)
    .offset(offset)
    .all()
}

/** The groups of a user, by name. */
export function listGroupsOf(db: DbOrTx, userId: string): { id: string; name: string }[] {
  return db
    .select({ id: groups.id, name: groups.name })
    .from(groupMembers)
    .innerJoin(groups, eq(groups.id, groupMembers.groupId))
    .where(eq(groupMembers.userId, userId))
    .orderBy(asc(groups.name))
    .all()
}

export function insertGroupMember(db: DbOrTx, groupId: string, userId: string, addedAt: number): void {
  db.insert(groupMembers).values({ groupId, userId, addedAt }).run()
}

/** Whether there was such a row. */
export function deleteGroupMember(db: DbOrTx, groupId: string, userId: string): boolean {
  const deleted = db
    .delete(groupMembers)
    .where(and(eq(groupMembers.groupId, groupId), eq(groupMembers.userId, userId)))
    .returning({ userId: groupMembers.userId })
    .all()
  return deleted.length > 0
}
