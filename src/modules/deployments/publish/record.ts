import type { Context } from '../../../context.ts'
import { actorRef, audit } from '../../../db/audit.ts'
import type { DbOrTx } from '../../../db/open.ts'
import type { Actor } from '../../../domain/actor.ts'
import { invalidChoice } from '../../../domain/errors.ts'
import { deploymentRef } from '../../../domain/hostname.ts'
import type { StagedBlob } from '../../../platform/blob-store.ts'
import { claimLabel } from '../../aliases/host-labels.ts'
import type { AliasMove } from '../../aliases/moves.ts'
import { type AliasRow, pointAlias } from '../../aliases/service.ts'
import type { Project } from '../../projects/service.ts'
import { attachToAlias, type RuleSetChoice } from '../../rule-sets/service.ts'
import { insertBlobs } from '../blob-queries.ts'
import { type DeploymentRow, recountDeployment } from '../queries.ts'
import { compileRouting } from '../routing/compile.ts'
import { refuseClash, tooManyFiles, type UploadedFile } from '../upload/files.ts'
import { insertWaiting } from '../variants/queries.ts'
import {
  type DeploymentPatch,
  findDeploymentBySha,
  insertAssets,
  insertCandidates,
  insertDeployment,
  listPaths,
  type NewAsset,
  replaceContents,
  updateDeployment,
} from './queries.ts'
import { tellOfPublish } from './tell.ts'

/** The fields of an upload; null where a field is not given. contract §5.2. */
export type Publication = {
  owner: string
  repo: string
  /** Lower case. */
  commitSha: string
  branch: string | null
  description: string | null
  workflowName: string | null
  workflowRunId: string | null
  /** Milliseconds since 1970. */
  committedAt: number | null
  tags: readonly string[] | null
  /** For a project that this upload creates. */
  isPublic: boolean
  alias: string | null
  /** `''`, or a folder such as `/dist`. */
  basePath: string | null
  ruleSets: RuleSetChoice
}

export type Recorded = {
  project: Project
  deployment: Pick<DeploymentRow, 'id' | 'commitSha'>
  alias: AliasRow | null
  published: boolean
  assets: NewAsset[]
}

/**
 * Writes the rows of one upload, in its transaction: contents, deployment, files, host, alias and audit. Files of an
 * earlier upload to the same SHA stay unless this one has the same path. Throws `invalid` for paths that clash,
 * `too_large` when the deployment would have too many files.
 */
export function recordPublication(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  project: Project,
  { files, publication }: { files: readonly UploadedFile[]; publication: Publication },
  stored: readonly StagedBlob[],
): Recorded {
  recordBlobs(ctx, files, stored)
  const before = findDeploymentBySha(tx, project.id, publication.commitSha)
  const deployment = before ?? addDeployment(ctx, tx, actor, project, publication)
  const assets = recordAssets(ctx, deployment, before !== undefined, files)
  updateDeployment(tx, deployment.id, patchOf(publication))
  recountDeployment(tx, deployment.id, ctx.now())
  compileRouting(ctx, deployment.id)
  insertWaiting(ctx.db, [deployment.id])
  audit(ctx, tx, actor, {
    action: before === undefined ? 'deployment.create' : 'deployment.add_files',
    target: { kind: 'deployment', id: deployment.id, name: deployment.commitSha },
    projectId: project.id,
    after: { commitSha: deployment.commitSha, branch: publication.branch, files: files.length },
  })
  const { move, ...pointed } = point(ctx, tx, actor, project, deployment, publication)
  const told = { project, deployment, alias: pointed.alias, move, isNew: before === undefined }
  tellOfPublish(ctx, tx, actor, told)
  return { project, deployment, assets, ...pointed }
}

/** Rows for contents only, such as those of an interrupted delta upload. `files` says which are used. */
export function recordBlobs(
  ctx: Context,
  files: readonly UploadedFile[],
  stored: readonly StagedBlob[],
): void {
  insertBlobs(ctx, stored)
  const used = new Set(files.map(({ sha256 }) => sha256))
  // Contents replaced by a later file of the same path, or left out after all.
  insertCandidates(
    ctx.db,
    stored.flatMap(({ sha256 }) => (used.has(sha256) ? [] : [sha256])),
  )
}

function addDeployment(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  project: Project,
  publication: Publication,
): DeploymentRow {
  const now = ctx.now()
  const { commitSha } = publication
  const deployment: DeploymentRow = {
    id: ctx.newId(),
    projectId: project.id,
    commitSha,
    branch: null,
    description: null,
    workflowName: null,
    workflowRunId: null,
    committedAt: null,
    tags: null,
    basePath: '',
    // Counted once the files are stored.
    fileCount: 0,
    totalSize: 0,
    version: 0,
    createdBy: actorRef(actor),
    createdAt: now,
    updatedAt: now,
  }
  insertDeployment(tx, deployment)
  const wanted = { ref: deploymentRef(commitSha), repo: project.name, owner: project.owner }
  claimLabel(ctx, tx, wanted, { deploymentId: deployment.id })
  return deployment
}

function recordAssets(
  ctx: Context,
  deployment: DeploymentRow,
  hasFiles: boolean,
  files: readonly UploadedFile[],
): NewAsset[] {
  const known = new Map(hasFiles ? listPaths(ctx.db, deployment.id).map((row) => [row.path, row]) : [])
  const added = files.filter(({ path }) => !known.has(path))
  if (known.size + added.length > ctx.config.maxDeploymentFiles) throw tooManyFiles(ctx)
  refuseClash([...known.keys(), ...added.map(({ path }) => path)])
  const assets = files.map((file) => ({ ...file, id: known.get(file.path)?.id ?? ctx.newId() }))
  insertAssets(
    ctx.db,
    deployment.id,
    assets.filter(({ path }) => !known.has(path)),
  )
  replaceContents(
    ctx.db,
    assets.filter(({ path, sha256 }) => known.has(path) && known.get(path)?.sha256 !== sha256),
  )
  return assets
}

/** The fields that this upload gives; the others keep the values of an earlier upload. */
function patchOf(publication: Publication): DeploymentPatch {
  const { branch, description, workflowName, workflowRunId, committedAt, tags, basePath } = publication
  return {
    ...(branch === null ? {} : { branch }),
    ...(description === null ? {} : { description }),
    ...(workflowName === null ? {} : { workflowName }),
    ...(workflowRunId === null ? {} : { workflowRunId }),
    ...(committedAt === null ? {} : { committedAt }),
    ...(tags === null ? {} : { tags: JSON.stringify(tags) }),
    ...(basePath === null ? {} : { basePath }),
  }
}

function point(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  project: Project,
  deployment: DeploymentRow,
  { alias: name, basePath, ruleSets }: Publication,
): { alias: AliasRow | null; published: boolean; move: AliasMove | null } {
  if (name === null) {
    if (ruleSets.names.length + ruleSets.ids.length > 0)
      throw invalidChoice('alias', 'Rule sets are attached to an alias: name one in the field alias')
    return { alias: null, published: false, move: null }
  }
  const pointing = { project, name, deployment, basePath: basePath ?? deployment.basePath }
  const pointed = pointAlias(ctx, tx, actor, pointing)
  const aliasId = pointed.published ? pointed.alias.id : null
  attachToAlias(ctx, tx, actor, { projectId: project.id, aliasId }, ruleSets)
  return pointed
}
