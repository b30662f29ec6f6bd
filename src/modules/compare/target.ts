import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { findAliasByName } from '../aliases/service.ts'
import { type Grant, within } from '../auth/authorize.ts'
import { type DeploymentRow, findDeployment } from '../deployments/service.ts'

/** The deployment that a TARGET of the project names: an id or an alias. Throws 404. */
export function requireTarget(ctx: Context, grant: Grant, target: string): DeploymentRow {
  const id =
    within(grant, findDeployment(ctx.db.orm, target))?.id ??
    (grant.projectId === null ? undefined : findAliasByName(ctx, grant.projectId, target)?.deploymentId)
  const found = id === undefined ? undefined : within(grant, findDeployment(ctx.db.orm, id))
  if (found === undefined)
    throw new AppError('not_found', 'The project has no such deployment to compare with')
  return found
}
