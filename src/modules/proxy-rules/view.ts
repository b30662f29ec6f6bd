import { isoTime, isoTimeOrNull } from '../../domain/iso-time.ts'
import type { SecretBox } from '../../platform/secret-box.ts'
import { parseStored, REDACTED, type ShownHeaderConfig, showHeaderConfig } from './header-values.ts'
import { parseMethods } from './methods.ts'
import type { RuleRecord, RuleRow } from './queries.ts'

/** The record of the API. spec: Proxy rule; contract §8. */
export type RuleView = {
  id: string
  projectId: string
  aliasId: string | null
  ruleSetId: string | null
  pathPattern: string
  method: string | null
  methods: string[] | null
  proxyType: RuleRow['proxyType']
  targetUrl: string
  stripPrefix: boolean
  order: number
  /** Milliseconds. */
  timeout: number
  preserveHost: boolean
  forwardCookies: boolean
  headerConfig: ShownHeaderConfig | null
  pipelineConfig: Record<string, unknown> | null
  isEnabled: boolean
  debugEnabled: boolean
  description: string | null
  /** Where the rule is managed; null for one made by hand. */
  source: { repo: string | null; path: string | null; gitSha: string | null; syncedAt: string | null } | null
  createdAt: string
  updatedAt: string
}

export function toView(secrets: SecretBox, rule: RuleRecord, maySee: boolean): RuleView {
  const { origin, timeoutMs, methods, headerConfig, pipelineConfig, createdAt, updatedAt, ...rest } = rule
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

/** For the log of changes: names of headers, never their values. */
export function withoutSecrets(rule: RuleRow): Omit<RuleRow, 'headerConfig'> & { headerConfig: unknown } {
  const stored = parseStored(rule.headerConfig)
  const names = Object.keys(stored?.add ?? {})
  const add = Object.fromEntries(names.map((name) => [name, REDACTED]))
  return { ...rule, headerConfig: stored && { ...stored, ...(names.length === 0 ? {} : { add }) } }
}
