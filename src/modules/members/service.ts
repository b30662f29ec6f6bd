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
  upsertPermission,
} from './queries.ts'

export { listMemberSites, listOwnedProjects, listProjectIdsOfUser } from './queries.ts'

/** What ties a user to a project: the effective role of all grants, and the membership row. */
type Standing = { role: ProjectRole | null; isMember: boolean }

const cache = generationCache<Standing>('access', 50_000)

/** spec: Permission sources and effective role. Global roles are not looked at here: `domain/access.ts` does. */
export function standingOf(ctx: Context, userId: string, projectId: string): Standing {
  return (
    cache.get(ctx.db, `${userId} ${projectId}`, () => loadStanding(ctx, userId, projectId)) ?? {
      role: null,
      isMember: false,
    }
  )
}

const loadStanding = (ctx: Context, userId: string, projectId: string): Standing => ({
  role: highestRole(findRoles(ctx.db, userId, projectId)),
  isMember: findMembership(ctx.db.orm, projectId, userId) !== undefined,
})

/** Makes a user the owner of a new project: the permission and the membership row, in the caller's transaction. */
export function makeOwner(ctx: Context, tx: DbOrTx, projectId: string, userId: string): void {
  upsertPermission(tx, projectId, userId, 'owner', ctx.now())
  insertMembership(tx, projectId, userId, ctx.now())
}

/** Self-signup on a site: the membership row, and the role guest unless the user holds a direct one. spec: matrix. */
export function joinAsGuest(ctx: Context, tx: DbOrTx, projectId: string, userId: string): void {
  insertMembership(tx, projectId, userId, ctx.now())
  insertPermissionIfNone(tx, projectId, userId, 'guest', ctx.now())
}

/** A direct grant: replaces the direct role and makes the user a member. Never of the owner, never to `owner`. */
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

/** An accepted invitation: a member with at least `role`; a higher direct role stays. Returns the direct role held then. */
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
 * Ends membership and direct role together: somebody leaves, or is removed. Roles by groups remain. Returns what was
 * taken away. Throws 400 for the owner, 404 for somebody with neither.
 */
export function endMembership(tx: DbOrTx, projectId: string, userId: string): { role: ProjectRole | null } {
  const role = findPermission(tx, projectId, userId)?.role ?? null
  if (role === 'owner')
    throw new AppError('invalid', 'The owner cannot leave or be removed: transfer the ownership first')
  if (role === null && findMembership(tx, projectId, userId) === undefined)
    throw new AppError('not_found', 'That user is no member of the project')
  deletePermission(tx, projectId, userId)
  deleteMembership(tx, projectId, userId)
  return { role }
}

/** The former owner becomes admin, the new one a member. Returns the former. Both need not be checked before. */
export function changeOwner(ctx: Context, tx: DbOrTx, projectId: string, toUserId: string): string | null {
  const from = findOwnerId(tx, projectId) ?? null
  if (from === toUserId) throw new AppError('invalid', 'That user owns the project already')
  insertOwnershipTransfer(tx, projectId, toUserId, ctx.now())
  return from
}

export const isOwner = (tx: DbOrTx, projectId: string, userId: string): boolean =>
  findOwnerId(tx, projectId) === userId

/** For deciding inside a transaction that changed something: the caches see only what is committed. */
export const isTied = (ctx: Context, tx: DbOrTx, projectId: string, userId: string): boolean =>
  findRoles(ctx.db, userId, projectId).length > 0 || findMembership(tx, projectId, userId) !== undefined
