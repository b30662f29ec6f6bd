import { isRecord } from '../../domain/is-record.ts'
import { isScheduleName } from '../../domain/schedule.ts'
import { SCHEMA_NAME } from '../../domain/schema-fields.ts'
import type { ServerRule, ServerSchedule, ServerSet } from '../../rules/compare.ts'
import { strangeAnswer } from '../strange-answer.ts'

/** `method` is null for every method. */
export type AnsweredRule = { pathPattern: string; method: string | null }

/** The answer of a sync. contract §9.2. */
export type SyncAnswer = {
  ruleSetId: string | null
  created: AnsweredRule[]
  updated: AnsweredRule[]
  deleted: AnsweredRule[]
  unchanged: AnsweredRule[]
  pruneCandidates: AnsweredRule[]
  schemaResolutions: {
    name: string
    action: string
    targetSchemaId: string | null
    fieldMismatch: boolean
  }[]
  schedules: Record<ScheduleFate, string[]>
  missingSecrets: string[]
  warnings: string[]
  dryRun: boolean
  setCreated: boolean
}

/** Keeps only known fields of the right type: the server that answers may not be svc. */
export function readSync(answer: unknown): SyncAnswer {
  const { ruleSetId, ...rest } = record(answer)
  return {
    ruleSetId: ruleSetId === null ? null : text(ruleSetId),
    created: list(rest['created'], answeredRule),
    updated: list(rest['updated'], answeredRule),
    deleted: list(rest['deleted'], answeredRule),
    unchanged: list(rest['unchanged'], answeredRule),
    pruneCandidates: list(rest['pruneCandidates'], answeredRule),
    schemaResolutions: list(rest['schemaResolutions'], ({ name, action, targetSchemaId, fieldMismatch }) => ({
      name: text(name),
      action: text(action),
      targetSchemaId: textOrNull(targetSchemaId),
      fieldMismatch: fieldMismatch === true,
    })),
    schedules: schedulesOf(rest['schedules']),
    missingSecrets: array(rest['missingSecrets']).map(text),
    warnings: array(rest['warnings']).map(text),
    dryRun: rest['dryRun'] === true,
    setCreated: rest['setCreated'] === true,
  }
}

const FATES = ['created', 'updated', 'deleted', 'unchanged', 'pruneCandidates'] as const
type ScheduleFate = (typeof FATES)[number]

/** Names; earlier servers do not know schedules. */
function schedulesOf(value: unknown): SyncAnswer['schedules'] {
  const given = value === undefined ? {} : record(value)
  const named = FATES.map((fate) => [fate, array(given[fate] ?? []).map(text)])
  return Object.fromEntries(named) as SyncAnswer['schedules']
}

const answeredRule = ({ pathPattern, method }: Record<string, unknown>): AnsweredRule => ({
  pathPattern: text(pathPattern),
  method: textOrNull(method),
})

/** Id and name of each rule set of a project. */
export function readSets(answer: unknown): { id: string; name: string }[] {
  return list(record(answer)['ruleSets'], ({ id, name }) => ({ id: text(id), name: text(name) }))
}

export function readSchemas(answer: unknown): ServerSet['schemas'] {
  return list(record(answer)['schemas'], schema)
}

/** An export. Files are written from it, so the parts that name them are checked by the server's own rules. */
export function readExport(answer: unknown): ServerSet {
  const { ruleSet, rules, schemas, schedules } = record(answer)
  const { name, description, environment } = record(ruleSet)
  return {
    ruleSet: {
      name: text(name),
      description: textOrNull(description),
      environment: textOrNull(environment),
    },
    rules: list(rules, rule),
    schemas: list(schemas, schema),
    schedules: list(schedules ?? [], schedule),
  }
}

/** Its name is that of a file. */
function schedule(value: Record<string, unknown>): ServerSchedule {
  const { name, cron, timezone, rule, description, isEnabled, catchUp } = value
  if (!isScheduleName(text(name))) throw strangeAnswer()
  return {
    name: text(name),
    cron: text(cron),
    timezone: text(timezone),
    rule: text(rule),
    isEnabled: isEnabled === true,
    catchUp: catchUp === 'once' ? 'once' : 'none',
    description: textOrNull(description),
  }
}

function rule(value: Record<string, unknown>): ServerRule {
  const { pathPattern, method, methods, pipelineConfig, headerConfig } = value
  text(pathPattern)
  textOrNull(method)
  if (methods !== null && methods !== undefined) array(methods).map(text)
  if (headerConfig !== null && headerConfig !== undefined) record(headerConfig)
  if (pipelineConfig !== null && pipelineConfig !== undefined) {
    const { steps, postSteps } = record(pipelineConfig)
    for (const { id } of [...list(steps, whole), ...list(postSteps ?? [], whole)]) textOrNull(id)
  }
  // The rest is written or compared as it is.
  return value as ServerRule
}

function schema({ name, fields }: Record<string, unknown>): ServerSet['schemas'][number] {
  if (!SCHEMA_NAME.test(text(name))) throw strangeAnswer()
  return { name: text(name), fields: list(fields, whole) }
}

const whole = (value: Record<string, unknown>): Record<string, unknown> => value

const list = <T>(value: unknown, read: (one: Record<string, unknown>) => T): T[] =>
  array(value).map((one) => read(record(one)))

function record(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw strangeAnswer()
  return value
}

function array(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw strangeAnswer()
  return value
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw strangeAnswer()
  return value
}

const textOrNull = (value: unknown): string | null =>
  value === null || value === undefined ? null : text(value)
