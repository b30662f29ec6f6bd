import { isoTime, isoTimeOrNull } from '../../domain/iso-time.ts'
import type { SecretBox } from '../../platform/secret-box.ts'
import { parseStored, REDACTED, showHeaderConfig } from './header-values.ts'
import { parseMethods } from './methods.ts'
import type { RuleView } from './model.ts'
import type { RuleRecord, RuleRow } from './queries.ts'

export function toView(secrets: SecretBox, rule: RuleRecord, maySee: boolean): RuleView {
  const { origin, timeoutMs, methods, headerConfig, pipelineConfig, createdAt, updatedAt, ...plain } = rule
  const { isWrittenByAdmin: _, ...rest } = plain
  return {
    ...rest,
    methods: parseMethods(methods),
    timeout: timeoutMs,
    headerConfig: showHeaderConfig(secrets, rule.id, parseStored(headerConfig), maySee),
    pipelineConfig: pipelineConfig === null ? null : (JSON.parse(pipelineConfig) as Record<string, unknown>),
    source: origin && { ...origin, syncedAt: isoTimeOrNull(origin.syncedAt) },
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  }
}

/** For the audit log: names of headers, never their values. */
export function withoutSecrets(rule: RuleRow): Omit<RuleRow, 'headerConfig'> & { headerConfig: unknown } {
  const stored = parseStored(rule.headerConfig)
  const names = Object.keys(stored?.add ?? {})
  const add = Object.fromEntries(names.map((name) => [name, REDACTED]))
  return { ...rule, headerConfig: stored && { ...stored, ...(names.length === 0 ? {} : { add }) } }
}
