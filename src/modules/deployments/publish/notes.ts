import type { Context } from '../../../context.ts'
import type { AliasRow } from '../../aliases/service.ts'
import { findProjectById, type Project } from '../../projects/service.ts'
import type { UploadNote } from '../model.ts'
import { findDeployment } from '../queries.ts'
import { listSomeFolders } from './queries.ts'
import { hasStartPage, type Shown } from './question.ts'

export type { UploadNote } from '../model.ts'

/** What the sender of an upload may not expect of what was just published. `alias` is the named one. contract 12.9. */
export function uploadNotes(
  ctx: Context,
  projectId: string,
  deploymentId: string,
  alias: AliasRow | null,
): UploadNote[] {
  const project = findProjectById(ctx, projectId)
  const basePath = findDeployment(ctx.db.orm, deploymentId)?.basePath
  // Deleted since.
  if (project === undefined || basePath === undefined) return []
  return [
    ...(alias === null ? [] : startPageNotes(ctx, alias)),
    ...nestedNotes(ctx, { deploymentId, basePath }),
    ...privateNotes(ctx, project, alias),
  ]
}

function startPageNotes(ctx: Context, alias: AliasRow): UploadNote[] {
  if (hasStartPage(ctx, alias)) return []
  const folder = alias.basePath === '' ? '' : ` in ${alias.basePath}/`
  return [
    {
      code: 'NO_START_PAGE',
      message: `What the alias ${alias.name} serves has no index.html${folder}, so its address alone shows no page.`,
      path: null,
    },
  ]
}

function nestedNotes(ctx: Context, shown: Shown): UploadNote[] {
  if (hasStartPage(ctx, shown)) return []
  const above = `${shown.basePath}/`.slice(1)
  const [folder, other] = listSomeFolders(ctx.db, shown.deploymentId, above)
  if (folder === undefined || other !== undefined) return []
  if (!hasStartPage(ctx, { ...shown, basePath: `/${above}${folder}` })) return []
  return [
    {
      code: 'NESTED_FOLDER',
      message: `There is no index.html at the top, but one in the folder ${folder}, so the site is below /${folder}/. Publish what is in that folder: unwrap=true (svc deploy --unwrap) takes the folder away.`,
      path: `${above}${folder}`,
    },
  ]
}

/** An alias that is public shows what was published to everybody, whatever the project is. */
function privateNotes(ctx: Context, project: Project, alias: AliasRow | null): UploadNote[] {
  if (project.isPublic || alias?.isPublic === true) return []
  const role = alias?.requiredRole ?? project.requiredRole
  return [
    {
      code: 'PRIVATE_PROJECT',
      message: `${project.owner}/${project.name} is private: only people with the role ${role} or a higher one in it, who are signed in, can see the site. A project admin makes it public in its settings, ${ctx.adminUrl()}/projects/${project.id}/settings, or with PATCH /api/projects/${project.id} { "isPublic": true }.`,
      path: null,
    },
  ]
}
