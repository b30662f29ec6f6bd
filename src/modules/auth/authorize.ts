import type { Caller, Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { type Action, type Asker, type Denial, decideAccess, roleOfAsker } from '../../domain/access.ts'
import type { Actor, UserActor } from '../../domain/actor.ts'
import { AppError, invalidField } from '../../domain/errors.ts'
import type { ProjectRole } from '../../domain/roles.ts'
import { standingOf } from '../members/service.ts'
import { isProjectThere } from '../projects/removed.ts'
import { asOfNow, refuseSuspended } from './caller.ts'

/**
 * Proof that access was checked. Services that change or show something take one. `authorize` makes them, and for the
 * operator of the machine `operatorGrant`.
 * `role` is the actor's role on the project; null for workspace actions.
 */
export type Grant = { actor: Actor; caller: Caller; projectId: string | null; role: ProjectRole | null }

/**
 * The project that the request is about: its id, or null when it does not exist. Undefined for workspace actions, unless
 * a list is filtered by a project.
 * `isUnnamed`: the request names no project, so there is nothing to hide and the input is invalid.
 */
export type About = { projectId: string | null; isUnnamed?: boolean } | undefined

/** Returns the grant, or throws 401, 403 or 404. `isRead`: GET and HEAD. */
export function authorize(
  ctx: Context,
  caller: Caller,
  action: Action,
  about: About,
  isRead: boolean,
): Grant {
  const projectId = about?.projectId ?? null
  const decision = decideAccess({
    action,
    asker: askerOf(caller, projectId, about === undefined),
    isRead,
    role: roleOn(ctx, caller.actor, projectId),
    exists: about === undefined || (projectId !== null && isProjectThere(ctx.db, projectId)),
  })
  if (!decision.allowed && decision.denial === 'hidden' && about?.isUnnamed) throw unnamedError()
  if (!decision.allowed) throw denialError(decision.denial, decision.reason)
  return { actor: caller.actor, caller, projectId, role: decision.role }
}

/**
 * Checks again, in the transaction that writes, or before what was read is shown. The role may have been taken away, or
 * the session or key may have ended, while the request waited for the network, a password hash or a long read.
 */
export function authorizeAgain(
  ctx: Context,
  { caller, projectId }: Grant,
  action: Action,
  isRead = false,
): Grant {
  const about = projectId === null ? undefined : { projectId }
  const currentCaller = asOfNow(ctx, caller)
  refuseSuspended(currentCaller)
  return authorize(ctx, currentCaller, action, about, isRead)
}

/** True when `authorize` would grant it. Used to leave out what a list may not show. */
export function mayDo(
  ctx: Context,
  caller: Caller,
  action: Action,
  projectId: string,
  isRead = true,
): boolean {
  const asker = askerOf(caller, projectId)
  return decideAccess({ action, asker, isRead, role: roleOn(ctx, caller.actor, projectId), exists: true })
    .allowed
}

/** The caller's role when they look at the project's sites; null for visitors without one. */
export const roleOnSite = (ctx: Context, caller: Caller, projectId: string): ProjectRole | null =>
  roleOfAsker(askerOf(caller, projectId), roleOn(ctx, caller.actor, projectId))

/** What was found by id, if it belongs to the project of the grant; undefined if it belongs to another. */
export const within = <T extends { projectId: string }>(grant: Grant, found: T | undefined): T | undefined =>
  found?.projectId === grant.projectId ? found : undefined

/** For routes that name a row in the path: the project that it belongs to. */
export const aboutRow = (
  ctx: Context,
  id: string | undefined,
  find: (db: DbOrTx, id: string) => { projectId: string } | undefined,
): { projectId: string | null } => ({
  projectId: (id === undefined ? undefined : find(ctx.db.orm, id)?.projectId) ?? null,
})

/** The person of a grant. Only a session gives access to an account. */
export function personOf({ actor }: Grant): UserActor {
  if (actor.kind !== 'user') throw new AppError('forbidden', 'Sign in to manage an account')
  return actor
}

/** The grant for the command line and the first start: both have access to the data directory itself. */
export const operatorGrant = (projectId: string | null = null): Grant => ({
  actor: { kind: 'operator' },
  caller: { actor: { kind: 'operator' }, site: null, refused: null },
  projectId,
  role: 'owner',
})

function askerOf({ actor, site }: Caller, projectId: string | null, namesNone = false): Asker {
  if (actor.kind === 'key') {
    const covers = actor.key.isGlobal || (projectId !== null && actor.key.projectId === projectId)
    return { kind: 'key', isGlobal: actor.key.isGlobal, covers }
  }
  if (actor.kind === 'cli') return { kind: 'cli', globalRole: actor.user.role }
  if (actor.kind !== 'user') return { kind: actor.kind }
  const isOwn = namesNone || site?.projectId === projectId
  const place = site === null ? 'admin_host' : isOwn ? 'own_site' : 'other_site'
  return { kind: 'user', globalRole: actor.user.role, place }
}

function roleOn(ctx: Context, actor: Actor, projectId: string | null): ProjectRole | null {
  return 'user' in actor && projectId !== null ? standingOf(ctx, projectId, actor.user.id).role : null
}

const unnamedError = (): AppError => invalidField('projectId', 'The id of the project, as text')

export function denialError(denial: Denial, reason: string): AppError {
  if (denial === 'unauthenticated') return new AppError('unauthenticated', reason)
  if (denial === 'hidden') return new AppError('not_found', reason)
  if (denial === 'admin_host_only') return new AppError('forbidden', reason, { code: 'ADMIN_HOST_ONLY' })
  return new AppError('forbidden', reason)
}
