import type { Caller, Context } from '../../../context.ts'
import type { DbOrTx } from '../../../db/open.ts'
import { AppError } from '../../../domain/errors.ts'
import { authorize } from '../../auth/authorize.ts'
import { asOfNow, callerOf, refuseSuspended } from '../../auth/caller.ts'
import {
  aboutProjectName,
  addProject,
  findProjectById,
  mayDoSomewhere,
  type Project,
} from '../../projects/service.ts'
import { findFirstAdmin, findUser } from '../../users/accounts.ts'
import { findNewestVersion } from './queries.ts'

/** The project that an upload names. */
export type UploadTarget = { owner: string; repo: string; commitSha?: string | undefined }

/** The caller, checked before the body is read: 401 for anonymous callers, 403 for a session on a site. */
export function uploaderOf(ctx: Context, request: Request): Caller {
  const caller = callerOf(ctx, request)
  const { actor, site } = caller
  if (actor.kind === 'anonymous' || (actor.kind === 'user' && site !== null))
    authorize(ctx, caller, 'deployment:create', { projectId: null }, false)
  return caller
}

/**
 * Throws 403 or 404 unless the caller may publish there. Returns the project; undefined if it does not exist and a
 * global key, or an upload that makes its project, may create it. contract §5.2 and 17.3.
 */
export function authorizeUpload(
  ctx: Context,
  caller: Caller,
  target: UploadTarget,
  makesProject = false,
): Project | undefined {
  const { projectId } = aboutProjectName(ctx, target.owner, target.repo)
  const { actor } = caller
  if (makesProject) return authorizeNew(ctx, caller, target, projectId)
  if (projectId === null && actor.kind === 'key' && actor.key.isGlobal) return undefined
  return authorizeUploadTo(ctx, caller, projectId)
}

/**
 * Who may not see the project of that name learns no more than that it cannot be made. A second click on one form finds the
 * project that the first one made, by the commit of the form.
 */
function authorizeNew(
  ctx: Context,
  caller: Caller,
  { owner, repo, commitSha }: UploadTarget,
  projectId: string | null,
): Project | undefined {
  authorize(ctx, caller, 'project:create', undefined, false)
  if (projectId === null) return undefined
  const isSame = commitSha !== undefined && findNewestVersion(ctx.db.orm, projectId, commitSha) !== undefined
  if (!isSame) throw new AppError('conflict', `${owner}/${repo} already exists`)
  return authorizeUploadTo(ctx, caller, projectId)
}

/** The same for a project by id; null for one that does not exist. */
export function authorizeUploadTo(ctx: Context, caller: Caller, projectId: string | null): Project {
  authorize(ctx, caller, 'deployment:create', { projectId }, false)
  const project = projectId === null ? undefined : findProjectById(ctx, projectId)
  if (project === undefined) throw new AppError('not_found', 'There is no such project')
  return project
}

/** Whether there is any project that the caller may publish to. */
export function mayUploadSomewhere(ctx: Context, caller: Caller): boolean {
  const { actor } = caller
  if (!('user' in actor)) return actor.kind !== 'anonymous'
  return actor.user.role === 'admin' || mayDoSomewhere(ctx, caller, 'deployment:create')
}

/**
 * Checks again, in the transaction that publishes: the upload may have taken minutes. Creates the project if a global
 * key uploads to a new owner/repo; its owner is the person who made the key, else the first admin.
 */
export function requireUploadProject(
  ctx: Context,
  tx: DbOrTx,
  caller: Caller,
  target: UploadTarget & { isPublic: boolean; makesProject?: boolean },
): Project {
  const project = authorizeUpload(ctx, callerNow(ctx, caller), target, target.makesProject)
  if (project !== undefined) return project
  const { owner, repo: name, isPublic } = target
  return addProject(ctx, tx, caller.actor, { owner, name, isPublic }, ownerOfNew(ctx, caller))
}

/** The caller with their current role. Throws 401 if the key or session ended during the upload. */
export function callerNow(ctx: Context, caller: Caller): Caller {
  const currentCaller = asOfNow(ctx, caller)
  if (currentCaller.actor.kind !== 'anonymous') return currentCaller
  refuseSuspended(currentCaller)
  throw new AppError(
    'unauthenticated',
    'The API key or the session ended during the upload; nothing was kept',
  )
}

function ownerOfNew(ctx: Context, { actor }: Caller): string {
  if (actor.kind === 'user') return actor.user.id
  const maker = actor.kind === 'key' ? actor.key.createdBy : null
  const db = ctx.db.orm
  const owner = (maker === null ? undefined : findUser(db, maker)) ?? findFirstAdmin(db)
  if (owner === undefined)
    throw new AppError('conflict', 'A project needs an owner: set up the first admin, then upload again')
  return owner.id
}
