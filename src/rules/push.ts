import type { RedirectStatus } from '../domain/redirect-status.ts'
import type { CatchUp } from '../domain/schedule.ts'
import type { PipelineConfig } from '../pipelines/language/model.ts'

/** The body of `PUT /api/proxy-rule-sets/project/:projectId/sync`, as the compiler makes it. contract §9.2. */
export type CompiledPush = {
  ruleSet: { name: string; description?: string; environment?: string }
  rules: CompiledRule[]
  schemas: { name: string; fields: unknown[] }[]
  /** Left out if the set has none. */
  schedules?: CompiledSchedule[]
  options: { prune: boolean; dryRun: boolean; strictSchemas: boolean }
  source?: { repo?: string; gitSha?: string; path?: string }
}

export type CompiledRule = {
  pathPattern: string
  method?: string
  methods?: string[]
  proxyType: 'pipeline' | 'external_proxy' | 'internal_rewrite' | 'redirect'
  /** Of a redirect. */
  status?: RedirectStatus
  targetUrl?: string
  stripPrefix?: boolean
  order?: number
  timeout?: number
  preserveHost?: boolean
  forwardCookies?: boolean
  headerConfig?: { add?: Record<string, string>; forward?: string[]; strip?: string[] }
  pipelineConfig?: PipelineConfig
  isEnabled?: boolean
  debugEnabled?: boolean
  description?: string
}

export type CompiledSchedule = {
  name: string
  cron: string
  /** Method and path of a rule of the set. */
  rule: string
  timezone?: string
  isEnabled?: boolean
  catchUp?: CatchUp
  description?: string
}
