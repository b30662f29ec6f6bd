import type { Context } from '../../../context.ts'
import { ICON_BYTES, iconPaths } from '../../../domain/icon-links.ts'
import { findContent } from '../browse/queries.ts'

const USUAL = ['/favicon.ico', '/favicon.svg', '/favicon.png']

/**
 * The path of the icon of what a deployment shows from the folder `basePath` on: of those that its start page names the
 * first that it holds, else a usual one, else null. contract 17.2.
 */
export function findIcon(ctx: Context, deploymentId: string, basePath: string): string | null {
  const path = (plain: string) => `${basePath}${plain}`.slice(1)
  const isThere = (plain: string) => findContent(ctx.db, deploymentId, path(plain)) !== null
  const found = [...namedBy(ctx, deploymentId, path('/index.html')), ...USUAL].find(isThere)
  return found === undefined ? null : path(found)
}

function namedBy(ctx: Context, deploymentId: string, startPage: string): string[] {
  const blob = findContent(ctx.db, deploymentId, startPage)
  if (blob === null) return []
  const bytes = ctx.blobs.readPartSync(blob, 0, Math.min(blob.sizeBytes, ICON_BYTES))
  return iconPaths(new Uint8Array(bytes).buffer)
}
