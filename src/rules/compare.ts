import { isDeepStrictEqual } from 'node:util'
import { patternKey } from '../domain/path-pattern.ts'
import { DEFAULT_REDIRECT_STATUS } from '../domain/routing/redirect-rule.ts'
import { DEFAULT_ZONE } from '../domain/schedule.ts'
import { isSamePipeline } from '../pipelines/language/same-pipeline.ts'
import type { CompiledPush, CompiledRule, CompiledSchedule } from './push.ts'

/** A rule as `GET /api/proxy-rule-sets/:id/export` returns it: with every setting, header values empty. */
export type ServerRule = {
  pathPattern: string
  method: string | null
  methods: string[] | null
  proxyType: CompiledRule['proxyType']
  targetUrl: string
  /** Of a redirect only. */
  status?: CompiledRule['status']
  stripPrefix: boolean
  order: number
  timeout: number
  preserveHost: boolean
  forwardCookies: boolean
  headerConfig: CompiledRule['headerConfig'] | null
  pipelineConfig: CompiledRule['pipelineConfig'] | null
  isEnabled: boolean
  debugEnabled: boolean
  description: string | null
}

/** The response of that route. */
export type ServerSet = {
  ruleSet: { name: string; description: string | null; environment: string | null }
  rules: ServerRule[]
  schemas: { name: string; fields: unknown[] }[]
  /** Earlier servers have none. */
  schedules?: ServerSchedule[]
}

/** A schedule as that route returns it: with every setting. */
export type ServerSchedule = Required<Omit<CompiledSchedule, 'description'>> & { description: string | null }

/** The rule that the server makes of a pushed rule at `index` of the push. */
export function completed(rule: CompiledRule, index: number): ServerRule {
  return {
    pathPattern: rule.pathPattern,
    method: rule.method ?? null,
    methods: rule.methods ?? null,
    proxyType: rule.proxyType,
    targetUrl: rule.proxyType === 'pipeline' ? '' : (rule.targetUrl ?? ''),
    ...(rule.proxyType === 'redirect' ? { status: rule.status ?? DEFAULT_REDIRECT_STATUS } : {}),
    stripPrefix: rule.stripPrefix ?? true,
    order: rule.order ?? index,
    timeout: rule.timeout ?? 30_000,
    preserveHost: rule.preserveHost ?? false,
    forwardCookies: rule.forwardCookies ?? false,
    headerConfig: rule.headerConfig ?? null,
    pipelineConfig: rule.pipelineConfig ?? null,
    isEnabled: rule.isEnabled ?? true,
    debugEnabled: rule.debugEnabled ?? false,
    description: rule.description ?? null,
  }
}

type Named = { pathPattern: string; method?: string | null | undefined }

/** A rule's name for people, as its pattern is written. */
export const nameOf = ({ pathPattern, method }: Named): string => `${method ?? 'ANY'} ${pathPattern}`

/** The same for each spelling of one rule. contract 12.1. */
export const identityOf = ({ pathPattern, method }: Named): string =>
  `${method ?? 'ANY'} ${patternKey(pathPattern)}`

export function isSameRule(a: ServerRule, b: ServerRule): boolean {
  const { pipelineConfig: ours, ...rest } = a
  const { pipelineConfig: theirs, ...other } = b
  if (!isDeepStrictEqual(rest, other)) return false
  return ours && theirs ? isSamePipeline(ours, theirs) : ours === theirs
}

/** The schedule that the server makes of a pushed one. */
export const completedSchedule = (schedule: CompiledSchedule): ServerSchedule => ({
  name: schedule.name,
  cron: schedule.cron.trim(),
  timezone: schedule.timezone ?? DEFAULT_ZONE,
  rule: schedule.rule,
  isEnabled: schedule.isEnabled ?? true,
  catchUp: schedule.catchUp ?? 'none',
  description: schedule.description ?? null,
})

export const isSameSchedule = (pushed: CompiledSchedule, stored: ServerSchedule): boolean =>
  isDeepStrictEqual(completedSchedule(pushed), stored)

type Difference = { kind: 'added' | 'changed' | 'removed'; name: string }

/** What a push would change in the server's rules. `removed` lists those that only the server has. */
export function compareRules(push: CompiledPush, server: ServerSet | null): Difference[] {
  const there = new Map((server?.rules ?? []).map((rule) => [identityOf(rule), rule]))
  const differences = push.rules.flatMap((rule, index): Difference[] => {
    const name = nameOf(rule)
    const known = there.get(identityOf(rule))
    there.delete(identityOf(rule))
    if (known === undefined) return [{ kind: 'added', name }]
    return isSameRule(completed(rule, index), known) ? [] : [{ kind: 'changed', name }]
  })
  return [
    ...differences,
    ...[...there.values()].map((rule): Difference => ({ kind: 'removed', name: nameOf(rule) })),
  ]
}

/** What a push would change in the server's schedules. */
export function compareSchedules(push: CompiledPush, server: ServerSet | null): Difference[] {
  const there = new Map((server?.schedules ?? []).map((one) => [one.name, one]))
  const differences = (push.schedules ?? []).flatMap((schedule): Difference[] => {
    const { name } = schedule
    const known = there.get(name)
    there.delete(name)
    if (known === undefined) return [{ kind: 'added', name }]
    return isSameSchedule(schedule, known) ? [] : [{ kind: 'changed', name }]
  })
  return [...differences, ...[...there.keys()].map((name): Difference => ({ kind: 'removed', name }))]
}

/** What a push would change in the set apart from its rules. */
export function compareLabels({ ruleSet }: CompiledPush, server: ServerSet | null): string[] {
  if (server === null) return []
  return (['description', 'environment'] as const).filter(
    (key) => (ruleSet[key] ?? null) !== server.ruleSet[key],
  )
}

type Fields = readonly { name: string; fields: readonly unknown[] }[]

/** Names of the schemas that a push would change, or whose types differ on the server. A push only ever adds fields. */
export function compareSchemas(pushed: Fields, stored: Fields): string[] {
  const known = new Map(stored.map(({ name, fields }) => [name, fields.map(wholeField)]))
  return pushed.flatMap(({ name, fields }) => {
    const there = known.get(name)
    const isSame = fields
      .map(wholeField)
      .every((field) => there?.some((other) => isDeepStrictEqual(field, other)))
    return there === undefined || isSame ? [] : [name]
  })
}

/** A field with its defaults filled in. */
export const wholeField = (field: unknown): Record<string, unknown> => ({
  required: false,
  unique: false,
  ...(field as Record<string, unknown>),
})
