import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { PipelineConfig } from '../../pipelines/language/model.ts'
import { parseStored } from '../proxy-rules/header-values.ts'
import { parseMethods } from '../proxy-rules/methods.ts'
import type { RuleRecord, RuleRow, RuleView } from '../proxy-rules/service.ts'
import { countSetRules } from '../proxy-rules/set-rules.ts'
import { toView } from '../proxy-rules/view.ts'
import type { RuleSetView } from './model.ts'
import { listAttachments, type RuleSetRow } from './queries.ts'

export function toSetViews(db: DbOrTx, rows: readonly RuleSetRow[]): RuleSetView[] {
  const ids = rows.map(({ id }) => id)
  const counts = countSetRules(db, ids)
  const attachments = listAttachments(db, ids)
  return rows.map((row) => {
    const { sourceRepo, sourcePath, sourceGitSha, syncedAt, createdAt, updatedAt, ...plain } = row
    return {
      ...plain,
      aliases: attachments.flatMap(({ setId, alias }) => (setId === row.id ? [alias] : [])),
      ruleCount: counts.get(row.id) ?? 0,
      source:
        syncedAt === null
          ? null
          : { repo: sourceRepo, path: sourcePath, gitSha: sourceGitSha, syncedAt: isoTime(syncedAt) },
      createdAt: isoTime(createdAt),
      updatedAt: isoTime(updatedAt),
    }
  })
}

export function toRuleView(ctx: Context, set: RuleSetRow, rule: RuleRow, maySee: boolean): RuleView {
  const { sourceRepo: repo, sourcePath: path, sourceGitSha: gitSha, syncedAt } = set
  const record: RuleRecord = { ...rule, origin: { repo, path, gitSha, syncedAt } }
  return toView(ctx.secrets, record, maySee)
}

/** A rule as a push has it, with every setting and without header values. */
export type ExportedRule = Omit<
  RuleView,
  | 'id'
  | 'projectId'
  | 'aliasId'
  | 'ruleSetId'
  | 'source'
  | 'pipelineConfig'
  | 'createdAt'
  | 'updatedAt'
  | 'status'
> & { pipelineConfig: PipelineConfig | null; status?: RuleView['status'] }

export function toExportedRule(rule: RuleRow): ExportedRule {
  const { add, ...rest } = parseStored(rule.headerConfig) ?? {}
  const named = add && Object.fromEntries(Object.keys(add).map((name) => [name, '']))
  return {
    pathPattern: rule.pathPattern,
    method: rule.method,
    methods: parseMethods(rule.methods),
    proxyType: rule.proxyType,
    targetUrl: rule.targetUrl,
    ...(rule.status === null ? {} : { status: rule.status }),
    stripPrefix: rule.stripPrefix,
    order: rule.order,
    timeout: rule.timeoutMs,
    preserveHost: rule.preserveHost,
    forwardCookies: rule.forwardCookies,
    headerConfig:
      rule.headerConfig === null ? null : { ...(named === undefined ? {} : { add: named }), ...rest },
    // For other kinds this was left there by hand: no push sends it, and it was never checked.
    pipelineConfig:
      rule.proxyType === 'pipeline' && rule.pipelineConfig !== null ? JSON.parse(rule.pipelineConfig) : null,
    isEnabled: rule.isEnabled,
    debugEnabled: rule.debugEnabled,
    description: rule.description,
  }
}
