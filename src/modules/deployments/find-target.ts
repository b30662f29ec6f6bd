import type { Context } from '../../context.ts'
import { parseDeploymentNumber } from '../../domain/deployment-name.ts'
import { isUuid } from '../../domain/uuid.ts'
import { findAliasByName } from '../aliases/service.ts'
import { type DeploymentRow, findDeployment, findDeploymentByNumber } from './queries.ts'

/**
 * The deployment of a project that `target` names: by its id, as what an alias of exactly that name shows, or by its number;
 * looked for in this order. `#12` is always the number. Undefined if the project has none such. contract 17.1, 17.4.
 */
export function findTarget(ctx: Context, projectId: string, target: string): DeploymentRow | undefined {
  const found = findById(ctx, target) ?? findShown(ctx, projectId, target)
  return found?.projectId === projectId ? found : findByNumber(ctx, projectId, target)
}

const findById = (ctx: Context, target: string): DeploymentRow | undefined =>
  isUuid(target) ? findDeployment(ctx.db.orm, target) : undefined

function findShown(ctx: Context, projectId: string, target: string): DeploymentRow | undefined {
  const alias = findAliasByName(ctx, projectId, target)
  return alias && findDeployment(ctx.db.orm, alias.deploymentId)
}

function findByNumber(ctx: Context, projectId: string, target: string): DeploymentRow | undefined {
  const number = parseDeploymentNumber(target.replace(/^#/, ''))
  return number === undefined ? undefined : findDeploymentByNumber(ctx.db.orm, projectId, number)
}
