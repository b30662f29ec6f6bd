import type { Context } from '../../../context.ts'
import type { DbOrTx } from '../../../db/open.ts'
import type { Actor } from '../../../domain/actor.ts'
import { invalidChoice } from '../../../domain/errors.ts'
import type { AliasMove } from '../../aliases/moves.ts'
import { publishedAs } from '../../aliases/previews/renew.ts'
import { type AliasRow, pointAlias } from '../../aliases/service.ts'
import type { Project } from '../../projects/service.ts'
import { attachToAlias } from '../../rule-sets/service.ts'
import type { DeploymentRow } from '../queries.ts'
import type { Publication } from './publication.ts'
import { updateDeployment } from './queries.ts'

/** What an upload says of the alias or preview that it names. */
export type Wanted = Pick<Publication, 'alias' | 'preview' | 'ruleSets'>

export type Pointed = { alias: AliasRow | null; published: boolean; move: AliasMove | null }

/** Points the alias or preview of an upload, if it names one, at its deployment. */
export function point(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  { project, deployment, publication }: { project: Project; deployment: DeploymentRow; publication: Wanted },
): Pointed {
  const { alias: name, preview, ruleSets } = publication
  if (name === null) {
    if (ruleSets.names.length + ruleSets.ids.length > 0)
      throw invalidChoice(
        'alias',
        'Rule sets are attached to an alias: name one in the field alias or preview',
      )
    return { alias: null, published: false, move: null }
  }
  const pointing = { project, name, deployment, basePath: deployment.basePath, preview }
  const pointed = pointAlias(ctx, tx, actor, pointing)
  const aliasId = pointed.published ? pointed.alias.id : null
  attachToAlias(ctx, tx, actor, { projectId: project.id, aliasId }, ruleSets)
  if (pointed.alias.expiresAt !== null) markPreview(ctx, tx, pointed.alias, deployment)
  return pointed
}

function markPreview(ctx: Context, tx: DbOrTx, preview: AliasRow, { id }: DeploymentRow): void {
  publishedAs(ctx, preview, id)
  updateDeployment(tx, id, { preview: preview.name })
}
