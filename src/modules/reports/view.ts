import type { Context } from '../../context.ts'
import { FINDING_KINDS, type Finding } from '../../domain/deploy-report/findings.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { Grant } from '../auth/authorize.ts'
import { routingSummary } from '../deployments/routing/summary.ts'
import { type DeploymentRow, findDeployment, requireDeployment } from '../deployments/service.ts'
import type { ReportView } from './model.ts'
import { findReport, isWaitingForForms, listSaved, type ReportRow } from './queries.ts'

/** What is stored of a report that is complete. */
export type Made = Pick<ReportView, 'files' | 'paths' | 'kinds' | 'truncated'> & { findings: Finding[] }

/** Throws 404 for a deployment that the caller may not see, or that was published before there were reports. contract 13 §7. */
export function getReport(ctx: Context, grant: Grant, id: string): ReportView {
  const report = reportOf(ctx, requireDeployment(ctx.db.orm, grant, id).id)
  if (report === null)
    throw new AppError('not_found', 'The deployment has no report: publish it again to get one')
  return report
}

/** The report of a deployment; null if it has none, or is gone. */
export function reportOf(ctx: Context, deploymentId: string): ReportView | null {
  const row = findReport(ctx.db.orm, deploymentId)
  const deployment = findDeployment(ctx.db.orm, deploymentId)
  return row === undefined || deployment === undefined ? null : viewOf(ctx, row, deployment)
}

const NOT_MADE: Made = {
  files: { added: 0, changed: 0, removed: 0, unchanged: 0 },
  paths: [],
  findings: [],
  kinds: {},
  truncated: false,
}

function viewOf(ctx: Context, row: ReportRow, deployment: DeploymentRow): ReportView {
  const { alias, shownId, shownSha, createdAt, completedAt } = row
  const made = row.made === null ? NOT_MADE : (JSON.parse(row.made) as Made)
  return {
    deploymentId: row.deploymentId,
    status: row.status,
    comparedWith:
      shownId === null || shownSha === null ? null : { alias, deploymentId: shownId, commitSha: shownSha },
    ...made,
    bytes: bytesOf(ctx, deployment),
    routing: routingSummary(ctx, deployment.id),
    findings: made.findings.map((finding) => ({ ...finding, severity: FINDING_KINDS[finding.kind] })),
    createdAt: isoTime(createdAt),
    completedAt: completedAt === null ? null : isoTime(completedAt),
  }
}

const UNKNOWN = { identity: null, br: null, zstd: null, gzip: null }

/** What all files together weigh in each coding; a file that is no smaller in it counts as it is. */
function bytesOf(ctx: Context, { id, projectId, totalSize }: DeploymentRow): ReportView['bytes'] {
  if (isWaitingForForms(ctx.db, id)) return UNKNOWN
  const saved = new Map(listSaved(ctx.db, id, projectId).map(({ encoding, bytes }) => [encoding, bytes]))
  const sent = (coding: 'br' | 'zstd' | 'gzip') => totalSize - (saved.get(coding) ?? 0)
  return { identity: totalSize, br: sent('br'), zstd: sent('zstd'), gzip: sent('gzip') }
}
