import type { Caller, Context } from '../../../context.ts'
import type { DbOrTx } from '../../../db/open.ts'
import { AppError } from '../../../domain/errors.ts'
import { aliasView, findAliasByName } from '../../aliases/service.ts'
import type { Release } from '../../releases/model.ts'
import { reportSummary } from '../../reports/begin.ts'
import { uploadNotes } from '../publish/notes.ts'
import { findNewestVersion } from '../publish/queries.ts'
import { startFolders } from '../publish/question.ts'
import type { Publication } from '../publish/record.ts'
import { releaseAgain } from '../publish/release.ts'
import type { Published } from '../publish.ts'
import { findDeployment } from '../queries.ts'
import { routingSummary } from '../routing/summary.ts'
import { deploymentView } from '../service.ts'
import type { Manifest } from './parse.ts'
import { findUpload, noteDeployment, releaseOf, type UploadRow } from './queries.ts'
import { asReleasing, whenReleased } from './releasing.ts'

/** The response to a delta upload. Its files are those of its manifest, so they are not repeated. */
export type Delivered = Omit<Published, 'assets' | 'unwrapped'>

/** Another request published the upload while this one was in progress. */
export class PublishedMeanwhile extends Error {}

/**
 * Answers a repeated request with the current state: proxies and clients repeat a PUT whose response was lost. An alias
 * that was moved meanwhile stays where it is.
 */
export async function publishedBefore(ctx: Context, caller: Caller, { id }: UploadRow): Promise<Delivered> {
  await whenReleased(ctx, id)
  const upload = findUpload(ctx.db.orm, id)
  if (upload === undefined)
    throw new AppError('not_found', 'There is no such upload: send the manifest again')
  const { projectId, manifest, deploymentId } = upload
  const { publication } = JSON.parse(manifest) as Manifest
  const release = await releaseBefore(ctx, caller, upload, publication)
  const deployment =
    deploymentId === null
      ? findNewestVersion(ctx.db.orm, projectId, publication.commitSha)
      : findDeployment(ctx.db.orm, deploymentId)
  if (deployment === undefined)
    throw new AppError(
      'not_found',
      'This upload was published, but its deployment has been deleted: send the manifest again',
    )
  const alias = publication.alias === null ? undefined : findAliasByName(ctx, projectId, publication.alias)
  return {
    projectId,
    deployment: deploymentView(ctx, deployment),
    published: alias?.deploymentId === deployment.id,
    alias: alias === undefined ? null : aliasView(ctx, alias),
    notes: uploadNotes(ctx, projectId, deployment.id, alias ?? null),
    routing: routingSummary(ctx, deployment.id),
    release: release ?? {
      status:
        publication.alias === null ? 'none' : alias?.deploymentId === deployment.id ? 'moved' : 'overtaken',
      alias: publication.alias,
      checks: [],
    },
    ask: release?.status === 'asked' ? { startPages: startFolders(ctx, deployment) } : null,
    report: reportSummary(ctx, deployment),
  }
}

/** Null for an upload from before releases were noted. */
async function releaseBefore(
  ctx: Context,
  caller: Caller,
  upload: UploadRow,
  publication: Publication,
): Promise<Release | null> {
  const { id, projectId, deploymentId } = upload
  const known = releaseOf(upload)
  if (known?.status !== 'undecided' || deploymentId === null)
    return known?.status === 'undecided' ? null : known
  const note = (tx: DbOrTx, release: Release) => noteDeployment(tx, id, deploymentId, release)
  const again = releaseAgain(ctx, caller, { projectId, deploymentId, publication }, note)
  return (await asReleasing(ctx, id, again)).release
}
