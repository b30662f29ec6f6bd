import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { isSamePipeline } from '../../pipelines/language/same-pipeline.ts'
import { type Grant, mayDo } from '../auth/authorize.ts'
import { adminSecretNames } from '../secrets/service.ts'
import type { RuleRow } from './queries.ts'
import { secretsOf } from './secret-users.ts'

/** Whether the caller may use every secret of the project in rules; what they write is vouched for. contract 12.8. */
export const isProjectAdmin = (ctx: Context, { caller }: Grant, projectId: string): boolean =>
  mayDo(ctx, caller, 'secret:manage', projectId, false)

/** The names of the secrets that the caller may not use in rules. */
export const secretsBeyond = (
  ctx: Context,
  db: DbOrTx,
  grant: Grant,
  projectId: string,
): ReadonlySet<string> =>
  isProjectAdmin(ctx, grant, projectId) ? new Set() : adminSecretNames(db, projectId)

type Written = Pick<RuleRow, 'pathPattern' | 'method' | 'proxyType' | 'pipelineConfig' | 'isEnabled'>

/**
 * Throws 403 if a rule uses secrets `beyond` the reach of its writer. One that was there may stay, with the same pipeline
 * and not switched on.
 */
export function refuseSecrets(
  beyond: ReadonlySet<string>,
  before: Written | undefined,
  after: Written,
): void {
  if (beyond.size === 0 || (before !== undefined && isLeftAsItIs(before, after))) return
  const used = secretsOf(after).filter((name) => beyond.has(name))
  if (used.length === 0) return
  const rule = `${after.method ?? 'ANY'} ${after.pathPattern.slice(0, LONGEST_NAME)}`
  throw new AppError(
    'forbidden',
    `The rule ${rule} uses ${used.length === 1 ? 'the secret' : 'the secrets'} ${used.join(', ')}, and only admins of the project may write or switch on rules that do. Ask one of them, or use another secret.`,
    { code: 'SECRET_NOT_USABLE' },
  )
}

const LONGEST_NAME = 200

const isLeftAsItIs = (before: Written, after: Written): boolean =>
  (before.isEnabled || !after.isEnabled) && hasEqualPipeline(before, after)

function hasEqualPipeline(before: Written, after: Written): boolean {
  if (before.proxyType !== after.proxyType && after.proxyType === 'pipeline') return false
  if (before.pipelineConfig === after.pipelineConfig) return true
  if (before.pipelineConfig === null || after.pipelineConfig === null) return false
  return isSamePipeline(JSON.parse(before.pipelineConfig), JSON.parse(after.pipelineConfig))
}
