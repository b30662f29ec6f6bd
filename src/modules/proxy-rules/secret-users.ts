import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import type { DbOrTx } from '../../db/open.ts'
import type { PipelineConfig } from '../../pipelines/language/model.ts'
import { secretNames } from '../../pipelines/language/references.ts'
import type { Grant } from '../auth/authorize.ts'
import { listUnvouchedPipelines, type RuleRow, updateRule } from './queries.ts'
import { withoutSecrets } from './view.ts'

/** A rule that was switched off, as far as it has to be told apart. `method` null: every method. */
export type DisabledRule = Pick<RuleRow, 'id' | 'pathPattern' | 'method'>

/** The secrets that a rule uses. Also one of another type, which keeps its pipeline for when its type changes. */
export const secretsOf = ({ pipelineConfig }: Pick<RuleRow, 'pipelineConfig'>): string[] =>
  pipelineConfig === null ? [] : secretNames(JSON.parse(pipelineConfig) as PipelineConfig)

/**
 * Switches off the rules of a project that use a secret and were last written by somebody below project admin, as in the
 * transaction that keeps the secret from such people. contract 12.8.
 */
export function switchOffUsers(
  ctx: Context,
  tx: DbOrTx,
  grant: Grant,
  projectId: string,
  secret: string,
): DisabledRule[] {
  const rules = listUnvouchedPipelines(tx, projectId).filter((rule) => secretsOf(rule).includes(secret))
  for (const rule of rules) {
    const off = { ...rule, isEnabled: false, updatedAt: ctx.now() }
    updateRule(tx, rule.id, { isEnabled: off.isEnabled, updatedAt: off.updatedAt })
    audit(ctx, tx, grant.actor, {
      action: 'proxy_rule.change',
      target: { kind: 'proxy_rule', id: rule.id, name: rule.pathPattern },
      projectId,
      before: withoutSecrets(rule),
      after: withoutSecrets(off),
    })
  }
  return rules.map(({ id, pathPattern, method }) => ({ id, pathPattern, method }))
}
