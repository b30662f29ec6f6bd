import type { Context } from '../../context.ts'
import { actorRef, audit } from '../../db/audit.ts'
import { type DbOrTx, refuseTaken } from '../../db/open.ts'
import type { Actor } from '../../domain/actor.ts'
import { differingFields } from '../../domain/differing-fields.ts'
import { AppError } from '../../domain/errors.ts'
import { isAliasName, isCommitSha } from '../../domain/names.ts'
import { findDeploymentOfProject } from '../deployments/service.ts'
import type { Project } from '../projects/service.ts'
import { aboutChange } from './about.ts'
import { claimLabel } from './host-labels.ts'
import type { AliasChange } from './model.ts'
import { type AliasMove, tellOfMove } from './moves.ts'
import { type End, endOfPublish, NO_PREVIEW, type PreviewOrder, previewOf } from './previews/renew.ts'
import { type AliasRow, insertAlias, insertHistory, type MoveReason, updateAlias } from './queries.ts'

/** What an alias is pointed at. `basePath` is `''` or a folder such as `/dist`. */
type Pointing = {
  project: Pick<Project, 'id' | 'owner' | 'name'>
  name: string
  deployment: { id: string; commitSha: string; version: number; number: number }
  basePath: string
  reason: MoveReason
}

/** Throws `invalid` for a name that an alias cannot have. contract §5.1. */
export function checkAliasName(name: string): void {
  const message = !isAliasName(name)
    ? 'The name of an alias must be 1 to 64 of A-Z, a-z, 0-9, hyphen and underscore'
    : isCommitSha(name)
      ? 'The name of an alias must not look like a commit SHA'
      : undefined
  if (message !== undefined) throw new AppError('invalid', message, { details: [{ path: 'name', message }] })
}

/**
 * Makes or moves the alias for an upload, with history, host and audit. `published` says whether it now points at the deployment: a
 * locked alias does not move. `move`: what changed; null if it was there already. A preview begins its time anew.
 */
export function pointAlias(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  { preview = NO_PREVIEW, ...upload }: Omit<Pointing, 'reason'> & { preview?: PreviewOrder },
): { alias: AliasRow; published: boolean; move: AliasMove | null } {
  const before = previewOf(tx, upload.project.id, upload.name, preview)
  const pointing = { ...upload, reason: 'publish' as const }
  const end = endOfPublish(ctx, upload.project.id, before, preview)
  if (before !== undefined && end !== null) updateAlias(tx, before.id, end)
  if (before?.isLocked)
    return { alias: before, published: before.deploymentId === pointing.deployment.id, move: null }
  const alias =
    before === undefined
      ? addAlias(ctx, tx, actor, pointing, end ?? {})
      : moveAlias(ctx, tx, actor, before, pointing)
  const move = tellOfMove(ctx, tx, actor, { before, after: alias }, 'publish')
  return { alias, published: true, move }
}

/** True when the change needs `alias:manage`, not just the right to move the alias. */
export const changesSettings = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && SETTINGS.some((key) => key in body)

const SETTINGS = ['isPublic', 'isSpa', 'requiredRole', 'isLocked', 'htmlHandling'] as const

const CHANGED = [...SETTINGS, 'expiresAt'] as const

export type Settings = Partial<Pick<AliasRow, (typeof SETTINGS)[number] | keyof End>>

export function settingsOf(input: AliasChange): Settings {
  const { isPublic, isSpa, requiredRole, isLocked, htmlHandling } = input
  return {
    ...(isPublic === undefined ? {} : { isPublic }),
    ...(isSpa === undefined ? {} : { isSpa }),
    ...(requiredRole === undefined ? {} : { requiredRole }),
    ...(isLocked === undefined ? {} : { isLocked }),
    ...(htmlHandling === undefined ? {} : { htmlHandling }),
  }
}

export function addAlias(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  { project, name, deployment, basePath, reason }: Pointing,
  settings: Settings,
): AliasRow {
  checkAliasName(name)
  const now = ctx.now()
  const alias: AliasRow = {
    id: ctx.newId(),
    projectId: project.id,
    name,
    deploymentId: deployment.id,
    basePath,
    isPublic: null,
    isSpa: null,
    requiredRole: null,
    isLocked: false,
    htmlHandling: null,
    createdAt: now,
    updatedAt: now,
    expiresAt: null,
    expiresIn: null,
    pullRequest: null,
    pullRequestUrl: null,
    ...settings,
  }
  refuseTaken(`${project.owner}/${project.name} already has an alias ${name}`, () => insertAlias(tx, alias))
  claimLabel(ctx, tx, { ref: name, repo: project.name, owner: project.owner }, { aliasId: alias.id })
  addHistory(ctx, tx, actor, alias, { deployment, reason })
  audit(ctx, tx, actor, {
    ...aboutChange('alias.create', alias),
    after: alias,
    undo: reason === 'publish' ? undefined : placeOf(alias),
  })
  return alias
}

/** What undoing a move or a creation needs to know: where the alias pointed. A publish is rolled back instead. */
export type AliasPlace = Pick<AliasRow, 'deploymentId' | 'basePath'>

export const placeOf = ({ deploymentId, basePath }: AliasPlace): AliasPlace => ({ deploymentId, basePath })

export function moveAlias(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  alias: AliasRow,
  { deployment, basePath, reason }: Pick<Pointing, 'deployment' | 'basePath' | 'reason'>,
): AliasRow {
  if (alias.deploymentId === deployment.id && alias.basePath === basePath) return alias
  const from = findDeploymentOfProject(ctx.db, alias.projectId, alias.deploymentId)
  const moved = { ...alias, deploymentId: deployment.id, basePath, updatedAt: ctx.now() }
  updateAlias(tx, alias.id, { deploymentId: deployment.id, basePath, updatedAt: moved.updatedAt })
  addHistory(ctx, tx, actor, moved, { deployment, reason })
  audit(ctx, tx, actor, {
    ...aboutChange('alias.move', alias),
    before: { ...(from === null ? {} : namesOf(from)), ...placeOf(alias) },
    after: {
      ...namesOf(deployment),
      deploymentId: deployment.id,
      basePath,
      reason,
    },
    undo: reason === 'publish' ? undefined : { from: placeOf(alias), to: placeOf(moved) },
  })
  return moved
}

const namesOf = ({ commitSha, version, number }: Pointing['deployment']) => ({ commitSha, version, number })

export function changeSettings(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  alias: AliasRow,
  settings: Settings,
): void {
  const keys = CHANGED.filter((key) => key in settings)
  if (keys.length === 0) return
  updateAlias(tx, alias.id, { ...settings, updatedAt: ctx.now() })
  audit(ctx, tx, actor, {
    ...aboutChange('alias.change', alias),
    before: Object.fromEntries(keys.map((key) => [key, alias[key]])),
    after: settings,
    undo: differingFields(alias, settings),
  })
}

export function addHistory(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  alias: AliasRow,
  { deployment, reason }: Pick<Pointing, 'deployment' | 'reason'>,
): void {
  insertHistory(tx, {
    id: ctx.newId(),
    aliasId: alias.id,
    deploymentId: deployment.id,
    commitSha: deployment.commitSha,
    version: deployment.version,
    number: deployment.number,
    basePath: alias.basePath,
    movedBy: actorRef(actor),
    movedAt: ctx.now(),
    reason,
  })
}
