import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { Grant } from '../auth/authorize.ts'
import { getProject } from '../projects/service.ts'
import type { CdnView, Purged } from './model.ts'
import { countPurges, findLastPurge, insertPurge } from './queries.ts'
import { purgeWakerOf } from './wake.ts'

export type { CdnView } from './model.ts'

/** The cache in front of the sites, and what it was told last. */
export const getCdn = (ctx: Context, _grant: Grant): CdnView => cdnState(ctx)

export function cdnState(ctx: Context): CdnView {
  const last = findLastPurge(ctx.db)
  return {
    kind: ctx.config.cdnKind,
    ...countPurges(ctx.db),
    lastPurge: last && {
      at: isoTime(last.at),
      keys: JSON.parse(last.keys) as string[],
      status: last.status,
    },
  }
}

/** Makes the CDN forget everything of a project. Throws 409 without one. */
export function purgeProject(ctx: Context, grant: Grant): Purged {
  const { id, owner, name } = getProject(ctx, grant)
  if (ctx.config.cdnKind === null)
    throw new AppError('conflict', 'There is no CDN to purge: the operator can set CDN_KIND', {
      code: 'CDN_NOT_CONFIGURED',
    })
  const keys = [`p-${id}`]
  inTransaction(ctx.db, (tx) => {
    for (const key of keys) insertPurge(ctx.db, key)
    audit(ctx, tx, grant.actor, {
      action: 'cdn.purge',
      target: { kind: 'project', id, name: `${owner}/${name}` },
      projectId: id,
      after: { keys },
    })
  })
  purgeWakerOf(ctx).afterCommit()
  return { keys }
}
