import type { Context } from '../../context.ts'
import { CHECKS_FILE, checksFileAt } from '../../domain/checks-file.ts'
import { type Check, checksAlias } from '../../domain/release-checks.ts'
import { findDeploymentChecks } from './deployment-checks.ts'
import { findProjectChecks } from './queries.ts'

type Asked = { startPage: boolean; checks: readonly Check[] }

/** What is checked before an alias shows a deployment: what the project says, and what its checks file says. Null: nothing. */
export function checksOf(
  ctx: Context,
  projectId: string,
  deployment: { id: string; basePath: string },
  alias: string,
): Asked | null {
  const ofFile =
    findDeploymentChecks(ctx.db, deployment.id, checksFileAt(deployment.basePath)) ??
    findDeploymentChecks(ctx.db, deployment.id, CHECKS_FILE)
  const applying = [findProjectChecks(ctx.db, projectId), ofFile].filter(
    (found) => found !== null && checksAlias(found, alias),
  )
  if (applying.length === 0) return null
  return {
    startPage: applying.some((found) => found?.startPage),
    checks: applying.flatMap((found) => found?.checks ?? []),
  }
}
