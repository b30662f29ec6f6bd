import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import type { Grant } from '../auth/authorize.ts'
import { findTarget } from '../deployments/find-target.ts'
import type { DeploymentRow } from '../deployments/service.ts'

/** The deployment of the project that `target` names: an id, an alias or a number. Throws 404. */
export function requireTarget(ctx: Context, { projectId }: Grant, target: string): DeploymentRow {
  const found = projectId === null ? undefined : findTarget(ctx, projectId, target)
  if (found === undefined)
    throw new AppError('not_found', 'The project has no such deployment, alias or number')
  return found
}
