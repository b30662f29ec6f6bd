import type { Context } from '../../../context.ts'
import { AppError } from '../../../domain/errors.ts'
import { aliasView, findAliasByName } from '../../aliases/service.ts'
import { uploadNotes } from '../publish/notes.ts'
import { findDeploymentBySha } from '../publish/queries.ts'
import type { Published } from '../publish.ts'
import { routingSummary } from '../routing/summary.ts'
import { deploymentView } from '../service.ts'
import type { Manifest } from './parse.ts'
import type { UploadRow } from './queries.ts'

/** The response to a delta upload. Its files are those of its manifest, so they are not repeated. */
export type Delivered = Omit<Published, 'assets' | 'unwrapped'>

/** Another request published the upload while this one was in progress. */
export class PublishedMeanwhile extends Error {}

/**
 * Answers a repeated request with the current state: proxies and clients repeat a PUT whose response was lost. An alias
 * that was moved meanwhile stays where it is.
 */
export function publishedBefore(ctx: Context, { projectId, manifest }: UploadRow): Delivered {
  const { publication } = JSON.parse(manifest) as Manifest
  const deployment = findDeploymentBySha(ctx.db.orm, projectId, publication.commitSha)
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
  }
}
