import type { Context } from '../../../context.ts'
import { actorRef, audit } from '../../../db/audit.ts'
import type { DbOrTx } from '../../../db/open.ts'
import type { Actor } from '../../../domain/actor.ts'
import { isCompressedSize } from '../../../domain/content-type.ts'
import { titleOf } from '../../../domain/deployment-name.ts'
import { isRoutingFile } from '../../../domain/routing/compile.ts'
import type { StagedBlob } from '../../../platform/blob-store.ts'
import { claimVersionLabels } from '../../aliases/host-labels.ts'
import { endDuePreviewsIn } from '../../aliases/previews/due.ts'
import type { Project } from '../../projects/service.ts'
import { beginReport, shownBefore } from '../../reports/begin.ts'
import { insertBlobs } from '../blob-queries.ts'
import type { DeploymentRow } from '../queries.ts'
import { compileRouting } from '../routing/compile.ts'
import type { UploadedFile } from '../upload/files.ts'
import { insertWaiting } from '../variants/queries.ts'
import { recordChecks, type SentChecks } from './checks.ts'
import { type Plan, planPublish } from './plan.ts'
import type { Publication } from './publication.ts'
import {
  addToCounts,
  type DeploymentPatch,
  findGivenVersion,
  findNewestVersion,
  insertAssets,
  insertCandidates,
  insertDeployment,
  type NewAsset,
  replaceContents,
  updateDeployment,
} from './queries.ts'
import { releaseOrWait } from './release.ts'
import { tellOfPublish } from './tell.ts'

export type { Publication } from './publication.ts'

export type Recorded = {
  project: Project
  /** The version that the upload made, added to or found. */
  deployment: DeploymentRow
  released: ReturnType<typeof releaseOrWait>
  assets: NewAsset[]
  /** It has files that are to be compressed. */
  isWaiting: boolean
}

type ToRecord = { files: readonly UploadedFile[]; publication: Publication; checks: SentChecks | null }

/**
 * Writes the rows of one upload, in its transaction: contents, version, files, hosts, alias and audit. Throws as
 * `planPublish` does.
 */
export function recordPublication(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  project: Project,
  { files, publication, checks }: ToRecord,
  stored: readonly StagedBlob[],
): Recorded {
  endDuePreviewsIn(ctx, tx)
  const shown = shownBefore(ctx, tx, project.id, publication.alias)
  recordBlobs(ctx, files, stored)
  const before = findNewestVersion(tx, project.id, publication.commitSha)
  const plan = planPublish(ctx, before, { files, below: replacedBelow(publication) })
  const { deployment, assets, fresh } = recordVersion(ctx, tx, { actor, project, publication }, plan, files)
  const isWaiting = fresh.some(({ sizeBytes }) => isCompressedSize(sizeBytes))
  if (isWaiting) insertWaiting(ctx.db, [deployment.id])
  if (plan.kind === 'new' || files.some(({ path }) => isRoutingFile(path))) compileRouting(ctx, deployment.id)
  audit(ctx, tx, actor, {
    action: ACTIONS[plan.kind],
    target: { kind: 'deployment', id: deployment.id, name: deployment.commitSha },
    projectId: project.id,
    after: {
      commitSha: deployment.commitSha,
      version: deployment.version,
      number: deployment.number,
      branch: publication.branch,
      files: files.length,
    },
  })
  recordChecks(ctx, { plan, deploymentId: deployment.id, below: replacedBelow(publication), sent: checks })
  beginReport(ctx, tx, deployment, { shown, leftOut: publication.leftOut ?? null })
  const released = releaseOrWait(ctx, tx, actor, { project, deployment, publication })
  const { alias, move } = released.waiting === null ? released : { alias: null, move: null }
  tellOfPublish(ctx, tx, actor, { project, deployment, alias, move, isNew: plan.kind === 'new' })
  return { project, deployment, assets, isWaiting, released }
}

const ACTIONS = {
  new: 'deployment.create',
  into: 'deployment.add_files',
  none: 'deployment.publish_again',
} satisfies Record<Plan['kind'], string>

/** What an upload replaces, as `planPublish` wants it. */
export const replacedBelow = ({
  append,
  basePath,
}: Pick<Publication, 'append' | 'basePath'>): string | null => (append ? null : (basePath ?? ''))

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

type Publish = { actor: Actor; project: Project; publication: Publication }
/** `assets` are the files of the upload, `fresh` those that the version did not have. */
type Versioned = { deployment: DeploymentRow; assets: NewAsset[]; fresh: readonly NewAsset[] }

function recordVersion(
  ctx: Context,
  tx: DbOrTx,
  publish: Publish,
  plan: Plan,
  files: readonly UploadedFile[],
): Versioned {
  if (plan.kind === 'new') return addVersion(ctx, tx, publish, plan, files)
  const { version, known } = plan
  const patch = patchOf(publish.publication, version)
  updateDeployment(tx, version.id, patch)
  const assets = files.map((file) => ({ ...file, id: known.get(file.path)?.id ?? ctx.newId() }))
  if (plan.kind === 'into') addInto(ctx, tx, version.id, known, assets)
  return { deployment: { ...version, ...patch }, assets, fresh: plan.kind === 'into' ? assets : [] }
}

/** Takes as long as there are files in the upload. */
function addInto(
  ctx: Context,
  tx: DbOrTx,
  id: string,
  known: ReadonlyMap<string, NewAsset>,
  assets: readonly NewAsset[],
): void {
  const added = assets.filter(({ path }) => !known.has(path))
  insertAssets(ctx.db, id, added)
  replaceContents(
    ctx.db,
    assets.filter(({ path, sha256 }) => known.has(path) && known.get(path)?.sha256 !== sha256),
  )
  const bytes = sizeOf(assets) - sizeOf([...known.values()])
  addToCounts(tx, id, { files: added.length, bytes }, ctx.now())
}

/** Numbers go on behind those of versions that were deleted. */
function addVersion(
  ctx: Context,
  tx: DbOrTx,
  { actor, project, publication }: Publish,
  { before, kept }: Extract<Plan, { kind: 'new' }>,
  files: readonly UploadedFile[],
): Versioned {
  const { commitSha } = publication
  const given = findGivenVersion(ctx.db, project.id, commitSha)
  const assets = files.map((file) => ({ ...file, id: ctx.newId() }))
  const all = [...kept.map((asset) => ({ ...asset, id: ctx.newId() })), ...assets]
  const made: DeploymentRow = {
    ...saidBefore(before),
    ...patchOf(publication, before),
    id: ctx.newId(),
    projectId: project.id,
    commitSha,
    version: Math.max(before?.version ?? 0, given) + 1,
    number: 0,
    icon: null,
    preview: null,
    fileCount: all.length,
    totalSize: sizeOf(all),
    revision: 1,
    wasShown: false,
    createdBy: actorRef(actor),
    createdAt: ctx.now(),
    updatedAt: ctx.now(),
  }
  const deployment = { ...made, number: insertDeployment(ctx.db, tx, made) }
  insertAssets(ctx.db, deployment.id, all)
  claimVersionLabels(ctx, tx, project, deployment, before?.id)
  return { deployment, assets, fresh: all }
}

/** What a version says of its commit holds for the next one too, unless its upload says otherwise. */
const saidBefore = (before: DeploymentRow | undefined) => ({
  branch: before?.branch ?? null,
  description: before?.description ?? null,
  title: before?.title ?? null,
  workflowName: before?.workflowName ?? null,
  workflowRunId: before?.workflowRunId ?? null,
  committedAt: before?.committedAt ?? null,
  tags: before?.tags ?? null,
  baseSha: before?.baseSha ?? null,
})

const sizeOf = (assets: readonly NewAsset[]): number =>
  assets.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

/**
 * The fields that this upload gives; the others keep the values of the version `before`. An upload that names no folder and
 * replaces everything is served from the top.
 */
function patchOf(
  publication: Publication,
  before: DeploymentRow | undefined,
): DeploymentPatch & { basePath: string } {
  const { branch, description, workflowName, workflowRunId, committedAt, tags, baseSha } = publication
  const basePath = publication.basePath ?? (publication.append ? (before?.basePath ?? '') : '')
  return {
    basePath,
    ...(branch === null ? {} : { branch }),
    ...(description === null ? {} : { description, title: titleOf(description) }),
    ...(workflowName === null ? {} : { workflowName }),
    ...(workflowRunId === null ? {} : { workflowRunId }),
    ...(committedAt === null ? {} : { committedAt }),
    ...(tags === null ? {} : { tags: JSON.stringify(tags) }),
    ...(baseSha ? { baseSha } : {}),
  }
}
