import type { Context } from '../../../context.ts'
import type { AliasRow } from '../../aliases/service.ts'
import { findContent } from '../browse/queries.ts'
import type { DeploymentRow } from '../queries.ts'
import { listStartPages } from './queries.ts'

/** A folder of a deployment that is shown; `basePath` is `''` or such as `/dist`. */
export type Shown = { deploymentId: string; basePath: string }

/** What is unclear before an alias moves: folders with a start page, such as `dist/`; none if there is none anywhere. */
export type Question = { startPages: string[] }

const MAX_LEVELS = 3
const MAX_FOLDERS = 100

export const hasStartPage = (ctx: Context, { deploymentId, basePath }: Shown): boolean =>
  findContent(ctx.db, deploymentId, `${basePath}/index.html`.slice(1)) !== null

/**
 * What to ask before the alias shows the deployment; null if it has a start page, or if there is none anywhere and the alias
 * shows none now. contract 17.3.
 */
export function questionOf(
  ctx: Context,
  alias: AliasRow | undefined,
  deployment: Pick<DeploymentRow, 'id' | 'basePath'>,
): Question | null {
  if (hasStartPage(ctx, { deploymentId: deployment.id, basePath: deployment.basePath })) return null
  const startPages = startFolders(ctx, deployment)
  const losesOne = alias !== undefined && hasStartPage(ctx, alias)
  return startPages.length > 0 || losesOne ? { startPages } : null
}

/** The folders below that which is served that have a start page, the shallowest first. */
export function startFolders(
  ctx: Context,
  { id, basePath }: Pick<DeploymentRow, 'id' | 'basePath'>,
): string[] {
  const above = basePath === '' ? '' : `${basePath.slice(1)}/`
  const levelOf = (folder: string) => folder.slice(above.length).split('/').length - 1
  return listStartPages(ctx.db, id, above)
    .map((path) => path.slice(0, path.lastIndexOf('/') + 1))
    .filter((folder) => levelOf(folder) <= MAX_LEVELS)
    .sort((a, b) => levelOf(a) - levelOf(b) || (a < b ? -1 : 1))
    .slice(0, MAX_FOLDERS)
}
