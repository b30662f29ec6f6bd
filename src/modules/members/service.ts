import type { Context } from '../../context.ts'
import { generationCache } from '../../db/generation.ts'
import type { DbOrTx } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { highestRole, type ProjectRole } from '../../domain/roles.ts'
import {
  deleteMembership,
  deletePermission,
  findMembership,
  findOwnerId,
  findPermission,
  findRoles,
  insertMembership,
  insertOwnershipTransfer,
  insertPermissionIfNone,
  listRoles,
  upsertPermission,
} from './queries.ts'

export { listMemberSites, listOwnedProjects, listProjectIdsOfUser } from './queries.ts'

/** How a user relates to a project: the effective role of all grants, and whether they are a member. */
type Standing = { role: ProjectRole | null; isMember: boolean }

const cache = generationCache<Standing>('access', 50_000)

/** The id of the user who owns a project. */
export const ownerOf = ({ db }: Context, projectId: string): string | undefined =>
  findOwnerId(db.orm, projectId)

/** spec: Permission sources and effective role. Ignores global roles: `domain/access.ts` handles them. */
export function standingOf(ctx: Context, projectId: string, userId: string): Standing {
  return (
    cache.get(ctx.db, `${projectId} ${userId}`, () => loadStanding(ctx, projectId, userId)) ?? {
      role: null,
      isMember: false,
    }
  )
}

const loadStanding = (ctx: Context, projectId: string, userId: string): Standing => ({
  role: highestRole(findRoles(ctx.db, projectId, userId)),
  isMember: findMembership(ctx.db.orm, projectId, userId) !== undefined,
})

/** The effective roles of everybody on the project, for lists. */
export function effectiveRoles(ctx: Context, projectId: string): ReadonlyMap<string, ProjectRole> {
  const roles = new Map<string, ProjectRole>()
  for (const { userId, role } of listRoles(ctx.db, projectId))
    roles.set(userId, highestRole([roles.get(userId), role]) ?? role)
  return roles
}

/** Makes a user the owner of a new project: the permission and the membership row, in the caller's transaction. */
export function makeOwner(ctx: Context, tx: DbOrTx, projectId: string, userId: string): void {
  upsertPermission(tx, projectId, userId, 'owner', ctx.now())
  insertMembership(tx, projectId, userId, ctx.now())
}

/** Self-signup on a site: the membership row, and the role guest unless the user has one. spec: matrix. */
export function joinAsGuest(ctx: Context, tx: DbOrTx, projectId: string, userId: string): void {
  insertMembership(tx, projectId, userId, ctx.now())
  insertPermissionIfNone(tx, projectId, userId, 'guest', ctx.now())
}

/** Gives a direct role, replacing the current one, and membership. Not for the owner, nor with the role `owner`. */
export function giveRole(
  tx: DbOrTx,
  projectId: string,
  userId: string,
  role: ProjectRole,
  grantedAt: number,
): void {
  upsertPermission(tx, projectId, userId, role, grantedAt)
  insertMembership(tx, projectId, userId, grantedAt)
}

/** An accepted invitation: membership with at least `role`; a higher direct role stays. Returns the direct role. */
export function admit(
  ctx: Context,
  tx: DbOrTx,
  projectId: string,
  userId: string,
  role: ProjectRole,
): ProjectRole {
  insertMembership(tx, projectId, userId, ctx.now())
  const held = findPermission(tx, projectId, userId)?.role
  const least = highestRole([held, role]) ?? role
  if (least !== held) upsertPermission(tx, projectId, userId, least, ctx.now())
  return least
}

/**
 * Ends membership and direct role together, when somebody leaves or is removed. Roles by groups remain. Returns what
 * was taken away. Throws 400 for the owner, 404 for somebody with neither.
 */
export function endMembership(tx: DbOrTx, projectId: string, userId: string): { role: ProjectRole | null } {
  const role = findPermission(tx, projectId, userId)?.role ?? null
  if (role === 'owner')
    throw new AppError('invalid', 'The owner cannot leave or be removed: transfer the ownership first')
  if (role === null && findMembership(tx, projectId, userId) === undefined)
    throw new AppError('not_found', 'That user is not a member of the project')
  deletePermission(tx, projectId, userId)
  deleteMembership(tx, projectId, userId)
  return { role }
}

/** The former owner becomes admin, the new one a member. Returns the former owner. Needs no checks before. */
export function changeOwner(ctx: Context, tx: DbOrTx, projectId: string, toUserId: string): string | null {
  const from = findOwnerId(tx, projectId) ?? null
  if (from === toUserId) throw new AppError('invalid', 'That user already owns the project')
  insertOwnershipTransfer(tx, projectId, toUserId, ctx.now())
  return from
}

export const isOwner = (tx: DbOrTx, projectId: string, userId: string): boolean =>
  findOwnerId(tx, projectId) === userId

/** For checks inside a transaction after its own writes: the caches see only committed data. */
export const isTied = (ctx: Context, tx: DbOrTx, projectId: string, userId: string): boolean =>
  findRoles(ctx.db, projectId, userId).length > 0 || findMembership(tx, projectId, userId) !== undefined
