import type { Context } from '../../context.ts'
import { inUpkeepTransaction } from '../../db/tidying.ts'
import { listTargets, replaceTargets } from './queries.ts'
import { WAYS } from './request.ts'

/**
 * From now on each change leaves its keys for exactly the addresses of the settings. Without a CDN there are none, and
 * nothing is left of an earlier one. Before the first request.
 */
export function openTargets(ctx: Context): void {
  const { cdnKind } = ctx.config
  const urls = cdnKind === null ? [] : [...new Set(WAYS[cdnKind].urls(ctx.config))]
  const known = listTargets(ctx.db).map(({ url }) => url)
  const isSame = known.length === urls.length && urls.every((url) => known.includes(url))
  if (!isSame) inUpkeepTransaction(ctx.db, () => replaceTargets(ctx.db, urls))
}
