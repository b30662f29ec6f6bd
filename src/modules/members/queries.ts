import { and, asc, eq, type InferColumnsDataTypes, type SQL, sql } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import {
  aliases,
  groupMembers,
  groupPermissions,
  groups,
  memberships,
  ownershipTransfers,
  permissions,
  projects,
  users,
} from '../../db/schema.ts'
import { prepared } from '../../db/statements.ts'
import type { ProjectRole } from '../../domain/roles.ts'

/** Every role that the user has on the project, directly or by a group. On the hot path, so without drizzle. */
export function findRoles(db: Db, projectId: string, userId: string): ProjectRole[] {
  return prepared<{ role: ProjectRole }>(
    db,
    `SELECT role FROM permissions WHERE project_id = ? AND user_id = ?
       UNION ALL
       SELECT gp.role FROM group_permissions gp JOIN group_members gm ON gm.group_id = gp.group_id
       WHERE gp.project_id = ? AND gm.user_id = ?`,
  )
    .all(projectId, userId, projectId, userId)
    .map(({ role }) => role)
}

/** The roles of everybody who has one on the project: as many rows for a user as there are sources. */
export function listRoles(db: Db, projectId: string): { userId: string; role: ProjectRole }[] {
  return prepared<{ userId: string; role: ProjectRole }>(
    db,
    `SELECT user_id AS userId, role FROM permissions WHERE project_id = ?1
       UNION
       SELECT gm.user_id, gp.role FROM group_permissions gp JOIN group_members gm ON gm.group_id = gp.group_id
       WHERE gp.project_id = ?1`,
  ).all(projectId)
}

export function findMembership(
  db: DbOrTx,
  projectId: string,
  userId: string,
): { joinedAt: number } | undefined {
  return db
    .select({ joinedAt: memberships.joinedAt })
    .from(memberships)
    .where(membershipOf(projectId, userId))
    .get()
}

export function insertMembership(db: DbOrTx, projectId: string, userId: string, joinedAt: number): void {
  db.insert(memberships).values({ projectId, userId, joinedAt }).onConflictDoNothing().run()
}

export function upsertPermission(
  db: DbOrTx,
  projectId: string,
  userId: string,
  role: ProjectRole,
  grantedAt: number,
): void {
  db.insert(permissions)
    .values({ projectId, userId, role, grantedAt })
    .onConflictDoUpdate({ target: [permissions.projectId, permissions.userId], set: { role, grantedAt } })
    .run()
}

export function insertPermissionIfNone(
  db: DbOrTx,
  projectId: string,
  userId: string,
  role: ProjectRole,
  grantedAt: number,
): void {
  db.insert(permissions).values({ projectId, userId, role, grantedAt }).onConflictDoNothing().run()
}

type DirectPermission = { role: ProjectRole; grantedAt: number }

export function findPermission(db: DbOrTx, projectId: string, userId: string): DirectPermission | undefined {
  return db
    .select({ role: permissions.role, grantedAt: permissions.grantedAt })
    .from(permissions)
    .where(permissionOf(projectId, userId))
    .get()
}

export function findOwnerId(db: DbOrTx, projectId: string): string | undefined {
  return db
    .select({ userId: permissions.userId })
    .from(permissions)
    .where(and(eq(permissions.projectId, projectId), eq(permissions.role, 'owner')))
    .get()?.userId
}

type PermissionRow = {
  userId: string
  email: string
  role: ProjectRole
  isMember: boolean
  grantedAt: number
}

export function listPermissions(db: DbOrTx, projectId: string): PermissionRow[] {
  return db
    .select({
      userId: users.id,
      email: users.email,
      role: permissions.role,
      grantedAt: permissions.grantedAt,
      joinedAt: memberships.joinedAt,
    })
    .from(permissions)
    .innerJoin(users, eq(users.id, permissions.userId))
    .leftJoin(
      memberships,
      and(eq(memberships.projectId, permissions.projectId), eq(memberships.userId, permissions.userId)),
    )
    .where(eq(permissions.projectId, projectId))
    .orderBy(asc(users.email))
    .all()
    .map(({ joinedAt, ...row }) => ({ ...row, isMember: joinedAt !== null }))
}

const groupPermissionColumns = {
  groupId: groups.id,
  name: groups.name,
  role: groupPermissions.role,
  grantedAt: groupPermissions.grantedAt,
}
type GroupPermissionRow = InferColumnsDataTypes<typeof groupPermissionColumns>

export function listGroupPermissions(db: DbOrTx, projectId: string): GroupPermissionRow[] {
  return db
    .select(groupPermissionColumns)
    .from(groupPermissions)
    .innerJoin(groups, eq(groups.id, groupPermissions.groupId))
    .where(eq(groupPermissions.projectId, projectId))
    .orderBy(asc(groups.name))
    .all()
}

/** The groups that give the user a role on the project. */
export function listGroupPermissionsOfUser(
  db: DbOrTx,
  projectId: string,
  userId: string,
): GroupPermissionRow[] {
  return db
    .select(groupPermissionColumns)
    .from(groupPermissions)
    .innerJoin(groups, eq(groups.id, groupPermissions.groupId))
    .innerJoin(groupMembers, eq(groupMembers.groupId, groups.id))
    .where(and(eq(groupPermissions.projectId, projectId), eq(groupMembers.userId, userId)))
    .orderBy(asc(groups.name))
    .all()
}

type MemberRow = { userId: string; email: string; joinedAt: number }

export function listMemberRows(db: DbOrTx, projectId: string): MemberRow[] {
  return db
    .select({ userId: users.id, email: users.email, joinedAt: memberships.joinedAt })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(memberships.projectId, projectId))
    .orderBy(asc(users.email))
    .all()
}

export function deleteMembership(db: DbOrTx, projectId: string, userId: string): void {
  db.delete(memberships).where(membershipOf(projectId, userId)).run()
}

export function deletePermission(db: DbOrTx, projectId: string, userId: string): void {
  db.delete(permissions).where(permissionOf(projectId, userId)).run()
}

/** A trigger swaps the roles of the two and makes the new owner a member. */
export function insertOwnershipTransfer(db: DbOrTx, projectId: string, toUserId: string, at: number): void {
  db.insert(ownershipTransfers).values({ projectId, toUserId, at }).run()
}

export function findGroupPermission(
  db: DbOrTx,
  projectId: string,
  groupId: string,
): { role: ProjectRole } | undefined {
  return db
    .select({ role: groupPermissions.role })
    .from(groupPermissions)
    .where(permissionOfGroup(projectId, groupId))
    .get()
}

export function upsertGroupPermission(
  db: DbOrTx,
  projectId: string,
  groupId: string,
  role: ProjectRole,
  grantedAt: number,
): void {
  db.insert(groupPermissions)
    .values({ projectId, groupId, role, grantedAt })
    .onConflictDoUpdate({
      target: [groupPermissions.projectId, groupPermissions.groupId],
      set: { role, grantedAt },
    })
    .run()
}

export function deleteGroupPermission(db: DbOrTx, projectId: string, groupId: string): void {
  db.delete(groupPermissions).where(permissionOfGroup(projectId, groupId)).run()
}

export const listRolesOfGroup = (
  db: DbOrTx,
  groupId: string,
): { projectId: string; groupId: string; role: ProjectRole; grantedAt: number }[] =>
  db.select().from(groupPermissions).where(eq(groupPermissions.groupId, groupId)).all()

/** Every project on which the user has a role, directly or by a group. */
export function listProjectIdsOfUser(db: Db, userId: string): string[] {
  return prepared<{ id: string }>(
    db,
    `SELECT project_id AS id FROM permissions WHERE user_id = ?1
       UNION SELECT gp.project_id FROM group_permissions gp JOIN group_members gm ON gm.group_id = gp.group_id
       WHERE gm.user_id = ?1`,
  )
    .all(userId)
    .map(({ id }) => id)
}

export function listOwnedProjects(db: DbOrTx, userId: string): { owner: string; name: string }[] {
  return db
    .select({ owner: projects.owner, name: projects.name })
    .from(permissions)
    .innerJoin(projects, eq(projects.id, permissions.projectId))
    .where(and(eq(permissions.userId, userId), eq(permissions.role, 'owner')))
    .orderBy(asc(projects.owner), asc(projects.name))
    .all()
}

const named = {
  projectId: projects.id,
  owner: projects.owner,
  name: projects.name,
  displayName: projects.displayName,
}
type NamedProject = InferColumnsDataTypes<typeof named>

/** A project that a person has to do with, and what decides whether they see its `production`. */
export type ReachedProject = NamedProject & ProjectVisibilityRow & { isMember: boolean }
type ProjectVisibilityRow = {
  isPublic: boolean
  requiredRole: ProjectRole
  /** Of the alias `production`; null: it inherits, or there is none. */
  aliasIsPublic: boolean | null
  aliasRequiredRole: ProjectRole | null
}

/** The projects on which the user has a role, directly or by a group, or a membership; with `all` every project. */
export function listReachedProjects(db: DbOrTx, userId: string, all: boolean): ReachedProject[] {
  const mine = sql`${projects.id} IN (
    SELECT project_id FROM permissions WHERE user_id = ${userId}
    UNION SELECT project_id FROM memberships WHERE user_id = ${userId}
    UNION SELECT gp.project_id FROM group_permissions gp JOIN group_members gm ON gm.group_id = gp.group_id
      WHERE gm.user_id = ${userId})`
  return db
    .select({
      ...named,
      isPublic: projects.isPublic,
      requiredRole: projects.requiredRole,
      aliasIsPublic: aliases.isPublic,
      aliasRequiredRole: aliases.requiredRole,
      joinedAt: memberships.joinedAt,
    })
    .from(projects)
    .leftJoin(aliases, and(eq(aliases.projectId, projects.id), eq(aliases.name, 'production')))
    .leftJoin(memberships, and(eq(memberships.projectId, projects.id), eq(memberships.userId, userId)))
    .where(all ? undefined : mine)
    .orderBy(asc(projects.owner), asc(projects.name))
    .all()
    .map(({ joinedAt, ...row }) => ({ ...row, isMember: joinedAt !== null }))
}

/** Every role of the user on any project; `group`: the name of the group that gives it, null for a direct one. */
export function listGrants(
  db: DbOrTx,
  userId: string,
): { projectId: string; group: string | null; role: ProjectRole }[] {
  const direct = db
    .select({ projectId: permissions.projectId, role: permissions.role })
    .from(permissions)
    .where(eq(permissions.userId, userId))
    .all()
    .map((row) => ({ ...row, group: null }))
  const byGroups = db
    .select({ projectId: groupPermissions.projectId, group: groups.name, role: groupPermissions.role })
    .from(groupPermissions)
    .innerJoin(groups, eq(groups.id, groupPermissions.groupId))
    .innerJoin(groupMembers, eq(groupMembers.groupId, groups.id))
    .where(eq(groupMembers.userId, userId))
    .orderBy(asc(groups.name))
    .all()
  return [...direct, ...byGroups]
}

type MemberSite = NamedProject & { isOwner: boolean; joinedAt: number }

/** The projects that the user is a member of. */
export function listMemberSites(db: DbOrTx, userId: string): MemberSite[] {
  return db
    .select({
      ...named,
      isOwner: sql<number>`coalesce(${permissions.role} = 'owner', 0)`,
      joinedAt: memberships.joinedAt,
    })
    .from(memberships)
    .innerJoin(projects, eq(projects.id, memberships.projectId))
    .leftJoin(
      permissions,
      and(eq(permissions.projectId, memberships.projectId), eq(permissions.userId, memberships.userId)),
    )
    .where(eq(memberships.userId, userId))
    .orderBy(asc(projects.owner), asc(projects.name))
    .all()
    .map((row) => ({ ...row, isOwner: row.isOwner === 1 }))
}

const permissionOf = (projectId: string, userId: string): SQL | undefined =>
  and(eq(permissions.projectId, projectId), eq(permissions.userId, userId))

const membershipOf = (projectId: string, userId: string): SQL | undefined =>
  and(eq(memberships.projectId, projectId), eq(memberships.userId, userId))

const permissionOfGroup = (projectId: string, groupId: string): SQL | undefined =>
  and(eq(groupPermissions.projectId, projectId), eq(groupPermissions.groupId, groupId))
