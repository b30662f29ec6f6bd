import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { leavingReferences } from '../../db/leaving-references.ts'
import { type DbOrTx, inTransaction, refuseTaken } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { tidying } from '../../db/tidying.ts'
import { differingFields } from '../../domain/differing-fields.ts'
import { AppError } from '../../domain/errors.ts'
import { given, isEmpty } from '../../domain/given.ts'
import { GO_ON, inSteps, type Stop, whileAnswerWaits } from '../../platform/in-steps.ts'
import { authorize, type Grant } from '../auth/authorize.ts'
import { changeOwner, isTied, makeOwner } from '../members/service.ts'
import { getUserRow, type UserRef } from '../users/accounts.ts'
import type { NewProject, ProjectChange, ProjectView } from './model.ts'
import {
  deleteProjectRow,
  deleteSomeOf,
  findNames,
  findProject,
  findProjectByName,
  insertProject,
  listRemovedProjects,
  type Project,
  type ProjectNames,
  updateProject,
} from './queries.ts'
import { viewFor } from './view.ts'

export {
  allNames,
  listProjectNames,
  listProjects,
  mayDoSomewhere,
  pageOfProjects,
  readableProjectIds,
} from './list.ts'
export type { ProjectView } from './model.ts'
export type { Project, ProjectNames } from './queries.ts'
export { primaryUrl } from './view.ts'

export function getProject(ctx: Context, grant: Grant): ProjectView {
  return viewFor(ctx, grant.caller, projectOf(ctx, grant))
}

/** Creates a project and makes the caller its only owner. Throws 409 when owner/name is taken. */
export function createProject(ctx: Context, grant: Grant, input: NewProject): ProjectView {
  if (grant.actor.kind !== 'user')
    throw new AppError('forbidden', 'Only a signed-in person can own a project')
  const ownerId = grant.actor.user.id
  const project = inTransaction(ctx.db, (tx) => addProject(ctx, tx, grant.actor, input, ownerId))
  return viewFor(ctx, grant.caller, project)
}

/** The same inside a larger transaction: when a global key uploads to a new owner/repo. */
export function addProject(
  ctx: Context,
  tx: DbOrTx,
  actor: Grant['actor'],
  input: NewProject,
  ownerId: string,
): Project {
  const now = ctx.now()
  const project: Project = {
    id: ctx.newId(),
    owner: input.owner,
    name: input.name,
    displayName: input.displayName ?? input.name,
    isPublic: input.isPublic ?? false,
    allowPublicSignup: input.allowPublicSignup ?? false,
    requiredRole: input.requiredRole ?? 'guest',
    isSpa: input.isSpa ?? null,
    privateSiteResponse: null,
    htmlHandling: null,
    indexing: 'production',
    createdAt: now,
    updatedAt: now,
    previewDays: 7,
  }
  refuseTaken(`${input.owner}/${input.name} already exists`, () => insertProject(tx, project))
  makeOwner(ctx, tx, project.id, ownerId)
  audit(ctx, tx, actor, {
    action: 'project.create',
    target: targetOf(project),
    projectId: project.id,
    after: project,
  })
  return project
}

export function changeProject(ctx: Context, grant: Grant, change: ProjectChange): ProjectView {
  const patch = given(change)
  if (isEmpty(patch)) return getProject(ctx, grant)
  inTransaction(ctx.db, (tx) => {
    const before = projectOf(ctx, grant, tx)
    updateProject(tx, before.id, { ...patch, updatedAt: ctx.now() })
    audit(ctx, tx, grant.actor, {
      action: 'project.change',
      target: targetOf(before),
      projectId: before.id,
      before: Object.fromEntries(Object.keys(patch).map((key) => [key, before[key as keyof Project]])),
      after: patch,
      undo: differingFields(before, patch),
    })
  })
  return getProject(ctx, grant)
}

const REMOVED_AT_ONCE = 250

/**
 * Deletes the project and everything in it. With the first commit all of it is gone for everybody. The rows are then
 * deleted in steps, so that nobody waits; `removeDeletedProjects` finishes what is left when the answer is due, or by a
 * crash. Contents that nothing else refers to are freed after the grace time.
 */
export async function deleteProject(ctx: Context, grant: Grant): Promise<void> {
  const id = tidying(ctx.db, () =>
    leavingReferences(ctx.db, (tx) => {
      const project = projectOf(ctx, grant, tx)
      deleteProjectRow(ctx.db, project.id, ctx.now())
      audit(ctx, tx, grant.actor, {
        action: 'project.delete',
        target: targetOf(project),
        projectId: project.id,
        before: project,
      })
      return project.id
    }),
  )
  // The deletion is committed, whatever happens to the rows that nobody sees any more.
  await removeProject(ctx, id, whileAnswerWaits()).catch((error) =>
    ctx.log.error('a deleted project is not yet removed', { project: id, error }),
  )
}

export async function removeDeletedProjects(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  for (const id of listRemovedProjects(ctx.db)) await removeProject(ctx, id, stop)
}

async function removeProject(ctx: Context, id: string, stop: Stop): Promise<void> {
  const removeSome = () => deleteSomeOf(ctx.db, id, REMOVED_AT_ONCE)
  await inSteps(stop, () => inRelaxedTransaction(ctx.db, removeSome))
}

/**
 * Makes somebody with a role (also by a group) or a membership the only owner; the former owner becomes admin. Throws
 * 404 for an unknown user, 400 for one without role and membership. spec: States and transitions.
 */
export function transferOwnership(ctx: Context, grant: Grant, to: UserRef): ProjectView {
  inTransaction(ctx.db, (tx) => {
    const project = projectOf(ctx, grant, tx)
    // Of two concurrent transfers, the second is no longer made by the owner.
    authorize(ctx, grant.caller, 'ownership:transfer', { projectId: project.id }, false)
    const user = getUserRow(tx, to)
    if (!isTied(ctx, tx, project.id, user.id))
      throw new AppError(
        'invalid',
        `${user.email} has no role on the project: grant one or invite them first`,
      )
    if (user.suspendedAt !== null)
      throw new AppError('invalid', `${user.email} is suspended: let them back in first`)
    const from = changeOwner(ctx, tx, project.id, user.id)
    audit(ctx, tx, grant.actor, {
      action: 'project.transfer',
      target: targetOf(project),
      projectId: project.id,
      before: { ownerId: from },
      after: { ownerId: user.id, owner: user.email },
    })
  })
  return getProject(ctx, grant)
}

/** The project of a grant. Throws 404 when it was deleted meanwhile. */
export function projectOf(ctx: Context, grant: Grant, db: DbOrTx = ctx.db.orm): Project {
  const project = grant.projectId === null ? undefined : findProject(db, grant.projectId)
  if (project === undefined) throw new AppError('not_found', 'There is no such project')
  return project
}

/** For routes that name a project. `id` undefined: the request names none although it must. */
export const aboutProject = (
  ctx: Context,
  id: string | undefined,
): { projectId: string | null; isUnnamed: boolean } => ({
  projectId: (id === undefined ? undefined : findProject(ctx.db.orm, id)?.id) ?? null,
  isUnnamed: id === undefined,
})

export const aboutProjectName = (
  ctx: Context,
  owner: string | undefined,
  name: string | undefined,
): { projectId: string | null } => ({
  projectId: findProjectByName(ctx.db.orm, owner ?? '', name ?? '')?.id ?? null,
})

/** The project that the filters of a list name, if they do. */
export const aboutFilters = (
  ctx: Context,
  { projectId, owner, repo }: Record<string, string | undefined>,
): { projectId: string | null } | undefined => {
  if (projectId) return aboutProject(ctx, projectId)
  return owner && repo ? aboutProjectName(ctx, owner, repo) : undefined
}

/** A project by id, for services that already have the id. */
export const findProjectById = (ctx: Context, id: string): Project | undefined => findProject(ctx.db.orm, id)

/** Its names alone, for whoever asks at each request. */
export const findProjectNames = ({ db }: Context, id: string): ProjectNames | null => findNames(db, id)

/** Whether strangers may sign up on the project's sites (behind the gate). */
export const allowsSignup = (ctx: Context, projectId: string): boolean =>
  findProject(ctx.db.orm, projectId)?.allowPublicSignup ?? false

const targetOf = ({ id, owner, name }: Project) => ({ kind: 'project', id, name: `${owner}/${name}` })
