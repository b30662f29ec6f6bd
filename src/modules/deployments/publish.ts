import type { Caller, Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { type BlobStage, withContents } from '../../platform/blob-store.ts'
import { type AliasView, aliasView } from '../aliases/service.ts'
import type { Project } from '../projects/service.ts'
import { withinQuota } from '../quotas/check.ts'
import type { Release } from '../releases/model.ts'
import { reportSummary } from '../reports/begin.ts'
import type { ReportSummary } from '../reports/model.ts'
import { scheduleReport } from '../reports/work.ts'
import { openStage } from './blob-queries.ts'
import { commitStaged } from './commit-staged.ts'
import { requireUploadProject } from './publish/access.ts'
import { readSentChecks } from './publish/checks.ts'
import { type UploadNote, uploadNotes } from './publish/notes.ts'
import { type Question, startFolders } from './publish/question.ts'
import { type Publication, type Recorded, recordPublication } from './publish/record.ts'
import { type Released, releaseRecorded } from './publish/release.ts'
import { type RoutingSummary, routingSummary } from './routing/summary.ts'
import { type AssetView, assetView, type DeploymentView, deploymentView } from './service.ts'
import { asUpload } from './upload/activity.ts'
import type { UploadOrder } from './upload/fields.ts'
import { checksToRead, splitChecks, type UploadedFile, unwrap } from './upload/files.ts'
import { scheduleVariants } from './variants.ts'

/** What was received: the staged files, and the fields of the upload, which are complete only at its end. */
type Received = { files: readonly UploadedFile[]; order: UploadOrder }

/** What is published of it. */
type Publishing = {
  files: readonly UploadedFile[]
  publication: Publication
  checks: UploadedFile | null
}

export type Published = {
  projectId: string
  deployment: DeploymentView
  /** An alias was named and now points here; a locked alias does not move. */
  published: boolean
  /** The named alias. */
  alias: AliasView | null
  /** What the sender may not expect. */
  notes: UploadNote[]
  /** What its routing files say, in the folder that its host serves. */
  routing: RoutingSummary
  /** What became of the alias that it named. */
  release: Release
  /** What is unclear, where that held the alias back. */
  ask: Question | null
  /** Where it is said what the upload did to the site. */
  report: ReportSummary
  /** The folder around everything that was taken away because the sender asked for it. */
  unwrapped: string | null
  /** The files of this upload. Most upload responses do not include them. */
  assets: () => AssetView[]
}

/**
 * Every upload goes through here: `receive` stages the contents; then one transaction makes the version of the commit and
 * moves the alias, unless its release is checked first. A failure leaves nothing behind: no row, no file, no content (but see
 * `commitStaged`).
 */
export async function publish(
  ctx: Context,
  caller: Caller,
  receive: (stage: BlobStage) => Promise<Received>,
): Promise<Published> {
  return asUpload(ctx, () => publishReceived(ctx, caller, receive))
}

async function publishReceived(
  ctx: Context,
  caller: Caller,
  receive: (stage: BlobStage) => Promise<Received>,
): Promise<Published> {
  const stage = openStage(ctx)
  try {
    const { files: all, order: publication } = await receive(stage)
    const { files: received, checks: sent } = splitChecks(all)
    const { files, unwrapped } = publication.unwrap
      ? unwrap(ctx, received)
      : { files: received, unwrapped: null }
    const checks = checksToRead(sent, publication.basePath, unwrapped)
    const published = await commitUpload(ctx, caller, stage, { files, publication, checks }, (tx) =>
      requireUploadProject(ctx, tx, caller, publication),
    )
    return { ...published, unwrapped }
  } catch (error) {
    await stage.discard()
    throw error
  }
}

/**
 * Seals the stage and publishes what was received. `allowedProject` checks access again, in the transaction; `onRecorded` ends
 * it, and the one of a checked release, which is null until then. The caller discards the stage when this fails.
 */
export async function commitUpload(
  ctx: Context,
  caller: Caller,
  stage: BlobStage,
  received: Publishing,
  allowedProject: (tx: DbOrTx) => Project,
  onRecorded: (tx: DbOrTx, deploymentId: string, release: Release | null) => void = () => {},
): Promise<Published> {
  const stored = await stage.seal()
  const checks = await readSentChecks(ctx, received.checks, stored)
  const record = (tx: DbOrTx) => {
    const project = allowedProject(tx)
    const made = withinQuota(ctx, project.id, bytesOf(received.files), () =>
      recordPublication(ctx, tx, caller.actor, project, { ...received, checks }, stored),
    )
    onRecorded(tx, made.deployment.id, made.released.waiting === null ? made.released.release : null)
    return made
  }
  const recorded = await withContents(ctx, () => commitStaged(ctx.db, stage, record))
  if (recorded.isWaiting) scheduleVariants(ctx, recorded.deployment.id)
  const released = await releaseRecorded(
    ctx,
    caller,
    { ...recorded, publication: received.publication },
    (tx, release) => onRecorded(tx, recorded.deployment.id, release),
  )
  // Only now does the alias show what the report is about.
  scheduleReport(ctx, recorded.deployment.id)
  return viewOf(ctx, recorded, released)
}

const bytesOf = (files: readonly UploadedFile[]): number =>
  files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

function viewOf(
  ctx: Context,
  { project, deployment, assets }: Recorded,
  { alias, published, release }: Released,
): Published {
  const at = { owner: project.owner, repo: project.name, commitSha: deployment.commitSha }
  return {
    projectId: project.id,
    deployment: deploymentView(ctx, deployment),
    published,
    alias: alias === null ? null : aliasView(ctx, alias),
    notes: uploadNotes(ctx, project.id, deployment.id, alias),
    routing: routingSummary(ctx, deployment.id),
    release,
    ask: release.status === 'asked' ? { startPages: startFolders(ctx, deployment) } : null,
    report: reportSummary(ctx, deployment),
    unwrapped: null,
    assets: () => assets.map((asset) => assetView(ctx, asset, at)),
  }
}
