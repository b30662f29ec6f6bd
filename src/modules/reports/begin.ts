import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { findAliasByName } from '../aliases/service.ts'
import { type DeploymentRow, findDeployment } from '../deployments/service.ts'
import type { ReportSummary } from './model.ts'
import { findReport, replaceReport } from './queries.ts'

const MAIN_ALIAS = 'production'

/** What an alias showed before an upload. */
export type ShownBefore = { alias: string; id: string | null; sha: string | null }

/** To be asked before the upload moves anything. `alias` is the one that it names. */
export function shownBefore(ctx: Context, tx: DbOrTx, projectId: string, alias: string | null): ShownBefore {
  const name = alias ?? MAIN_ALIAS
  const found = findAliasByName(ctx, projectId, name)
  const shown = found === undefined ? undefined : findDeployment(tx, found.deploymentId)
  return { alias: found?.name ?? name, id: shown?.id ?? null, sha: shown?.commitSha ?? null }
}

/** Notes, in the transaction of an upload, that its report is to be made. */
export function beginReport(
  ctx: Context,
  tx: DbOrTx,
  deployment: Pick<DeploymentRow, 'id'>,
  { shown, leftOut }: { shown: ShownBefore; leftOut: readonly string[] },
): void {
  replaceReport(tx, {
    deploymentId: deployment.id,
    uploadId: ctx.newId(),
    alias: shown.alias,
    shownId: shown.id,
    shownSha: shown.sha,
    leftOut: JSON.stringify(leftOut),
    status: 'running',
    made: null,
    createdAt: ctx.now(),
    completedAt: null,
  })
}

/** For the answer of an upload. A deployment that was published before there were reports has none, which has failed. */
export function reportSummary(
  ctx: Context,
  { id, projectId }: Pick<DeploymentRow, 'id' | 'projectId'>,
): ReportSummary {
  return {
    status: findReport(ctx.db.orm, id)?.status ?? 'failed',
    url: `${ctx.adminUrl()}/api/deployments/${id}/report`,
    pageUrl: `${ctx.adminUrl()}/projects/${projectId}/deployments/${id}/report`,
  }
}
