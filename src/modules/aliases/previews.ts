import type { Context } from '../../context.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTimeOrNull } from '../../domain/iso-time.ts'
import type { Grant } from '../auth/authorize.ts'
import { projectOf } from '../projects/service.ts'
import type { PreviewView } from './model.ts'
import { endPreview } from './previews/end.ts'
import { countPreviews, listPublished } from './previews/queries.ts'
import { refuseNoPreview } from './previews/renew.ts'
import { findAliasOfProject } from './queries.ts'
import { aliasView, refuseInUse } from './service.ts'

export type { PreviewView } from './model.ts'

/** The previews of a project, the soonest end first. */
export function listPreviews(ctx: Context, grant: Grant): PreviewView[] {
  return listPublished(ctx.db, projectOf(ctx, grant).id).map(({ aliasId, deployments, lastPublishedAt }) => ({
    ...aliasView(ctx, { id: aliasId }),
    deployments,
    lastPublishedAt: isoTimeOrNull(lastPublishedAt),
  }))
}

/** Ends a preview by hand. Throws 404, 409 for an alias that is none, and for one that a domain needs. */
export function closePreview(ctx: Context, grant: Grant, name: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const alias = findAliasOfProject(tx, projectOf(ctx, grant, tx).id, name)
    if (alias === undefined) throw new AppError('not_found', 'The project has no such preview')
    refuseNoPreview(alias)
    refuseInUse(ctx, alias)
    endPreview(ctx, tx, grant.actor, alias, 'closed')
  })
}

export const previewCount = (ctx: Context): number => countPreviews(ctx.db, ctx.now())
