import { type Static, t } from 'elysia'
import { MAX_DESCRIPTION } from '../../domain/description.ts'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { MAX_SCHEDULES } from '../../domain/schedule.ts'
import type { InputOf } from '../../http/input-of.ts'
import { orNull } from '../../http/or-null.ts'
import { wholeNumber } from '../../http/whole-number.ts'
import { actorView } from '../aliases/model.ts'
import { newRuleBody, refuseShapelessRule, ruleView } from '../proxy-rules/model.ts'
import { appliedSchedules, exportedSchedule, pushedSchedule } from '../schedules/model.ts'

const text = orNull(t.String())
const note = t.Optional(
  orNull(t.String({ maxLength: 2000, error: 'A text of at most 2000 characters, or null' })),
)

const description = t.Optional(
  orNull(
    t.String({
      maxLength: MAX_DESCRIPTION,
      error: `A text of at most ${MAX_DESCRIPTION} characters, or null`,
    }),
  ),
)

const MAX_NAME = 100

/** Commas separate names where one field takes several. */
const name = t.String({
  minLength: 1,
  maxLength: MAX_NAME,
  pattern: '^[^\\s,\\x00-\\x1f\\x7f]([^,\\x00-\\x1f\\x7f]*[^\\s,\\x00-\\x1f\\x7f])?$',
  error: `A name of 1 to ${MAX_NAME} characters, without commas, and no space at its ends`,
  examples: ['guestbook'],
})

/** Longer timeouts are cut to the allowed maximum, with a warning. contract §9.2. */
const timeout = t.Optional(
  wholeNumber({ minimum: 100, error: 'Milliseconds: a whole number from 100 to 60000', examples: [30000] }),
)

const pushedRule = t.Composite([t.Omit(newRuleBody, ['timeout']), t.Object({ timeout })])

const pushedSchema = t.Object({
  id: t.Optional(t.String()),
  name: t.String({ error: 'The name of a schema', examples: ['messages'] }),
  fields: t.Array(t.Unknown(), {
    error: 'A list of { name, type, required? }',
    examples: [[{ name: 'email', type: 'email', required: true }]],
  }),
})
export type PushedSchema = InputOf<typeof pushedSchema>

const SCHEDULE_LIST = `A list of at most ${MAX_SCHEDULES} schedules`
const SCHEDULE = 'A schedule is an object with name, cron and rule'
const RULE_SET = 'An object with name, and description and environment if there are any'
const RULES = 'A list of at most 5000 rules'
const RULE = 'A rule is an object with pathPattern, and with targetUrl or pipelineConfig'
const SCHEMAS = 'A list of at most 500 schemas'
const SCHEMA = 'A schema is an object with name and fields'
const OPTIONS = 'An object with prune, dryRun and strictSchemas, each true or false'
const SOURCE = 'An object with repo, gitSha and path, texts of at most 2000 characters, or null'

const flag = t.Optional(t.Boolean({ error: 'true or false' }))

const source = t.Object({ repo: note, gitSha: note, path: note })
export type Source = InputOf<typeof source>

/** What a client sends. contract §9.2. */
export const syncBody = t.Object({
  ruleSet: t.Object({ name, description, environment: note }),
  rules: t.Array(pushedRule, { maxItems: 5000, error: RULES }),
  schemas: t.Optional(t.Array(pushedSchema, { maxItems: 500, error: SCHEMAS })),
  schedules: t.Optional(t.Array(pushedSchedule, { maxItems: MAX_SCHEDULES, error: SCHEDULE_LIST })),
  options: t.Optional(t.Object({ prune: flag, dryRun: flag, strictSchemas: flag }, { error: OPTIONS })),
  source: t.Optional(t.Union([source, t.Null()], { error: SOURCE })),
})
export type Push = InputOf<typeof syncBody>

/**
 * Throws `invalid` for values that the validator would turn into an empty object or into a list: a dry run would be a
 * push.
 */
export function refuseShapelessPush({ body }: { body: unknown }): void {
  if (!isRecord(body)) return
  const { ruleSet, rules, schemas, schedules, options, source } = body
  const flaws = [
    ...(isRecord(ruleSet) ? [] : [{ path: 'ruleSet', message: RULE_SET }]),
    ...flawsOfList(rules, 'rules', RULES, RULE),
    ...flawsOfList(schemas ?? [], 'schemas', SCHEMAS, SCHEMA),
    ...flawsOfList(schedules ?? [], 'schedules', SCHEDULE_LIST, SCHEDULE),
    ...(isRecord(options ?? {}) ? [] : [{ path: 'options', message: OPTIONS }]),
    ...(isRecord(source ?? {}) ? [] : [{ path: 'source', message: SOURCE }]),
  ]
  if (flaws[0] !== undefined)
    throw new AppError('invalid', `${flaws[0].path}: ${flaws[0].message}`, { details: flaws })
  for (const [index, rule] of Array.isArray(rules) ? rules.entries() : [])
    refuseShapelessRule(rule, `rules[${index}].`)
}

function flawsOfList(list: unknown, path: string, message: string, ofItem: string): ErrorDetail[] {
  if (!Array.isArray(list)) return [{ path, message }]
  return list.flatMap((item, i) => (isRecord(item) ? [] : [{ path: `${path}[${i}]`, message: ofItem }]))
}

const schemaResolution = t.Object({
  name: t.String(),
  action: t.Union([t.Literal('create'), t.Literal('reuse')]),
  targetSchemaId: text,
  fieldMismatch: t.Boolean(),
})
export type SchemaResolution = Static<typeof schemaResolution>

/** A rule of a push. `method` is null for every method. */
const appliedRules = t.Array(t.Object({ pathPattern: t.String(), method: text }))
export type AppliedRule = Static<typeof appliedRules>[number]

/**
 * The result for the rules. `pruneCandidates`: rules on the server that are not in the push and were not deleted.
 * `missingSecrets`: headers that were declared and have no value.
 */
const applied = t.Object({
  created: appliedRules,
  updated: appliedRules,
  deleted: appliedRules,
  unchanged: appliedRules,
  pruneCandidates: appliedRules,
  missingSecrets: t.Array(t.String()),
})
export type Applied = Static<typeof applied>

/** contract §9.2. `ruleSetId` is null if a dry run would create the set. */
export const syncAnswer = t.Object({
  ruleSetId: text,
  ...applied.properties,
  schemaResolutions: t.Array(schemaResolution),
  schedules: appliedSchedules,
  warnings: t.Array(t.String()),
  dryRun: t.Boolean(),
  setCreated: t.Boolean(),
})
export type SyncAnswer = Static<typeof syncAnswer>

const liveOn = t.Union([t.Literal('project'), t.Literal('aliases')], { error: 'project or aliases' })

export const ruleSetPatchBody = t.Object({
  name: t.Optional(name),
  description,
  environment: note,
  aliases: t.Optional(
    t.Array(t.String(), {
      maxItems: 1000,
      error: 'The names of the aliases to attach the set to',
      examples: [['staging']],
    }),
  ),
  liveOn: t.Optional(liveOn),
})
export type RuleSetChange = InputOf<typeof ruleSetPatchBody>

/**
 * contract §9.2. `environment` is a label. `isPreview`: a copy for a pull request or a branch, live only on aliases it
 * is attached to. `liveOn`: `project` for every site of the project, `aliases` for the aliases it is attached to.
 */
const ruleSetView = t.Object({
  id: t.String({ format: 'uuid' }),
  projectId: t.String({ format: 'uuid' }),
  name: t.String(),
  description: text,
  environment: text,
  isPreview: t.Boolean(),
  liveOn,
  aliases: t.Array(t.String()),
  ruleCount: t.Integer(),
  source: orNull(t.Object({ repo: text, path: text, gitSha: text, syncedAt: text })),
  createdAt: t.String(),
  updatedAt: t.String(),
})
export type RuleSetView = Static<typeof ruleSetView>

export const ruleSetList = t.Object({ ruleSets: t.Array(ruleSetView) })
export const ruleSetWithRules = t.Object({ ...ruleSetView.properties, rules: t.Array(ruleView) })
export type RuleSetWithRules = Static<typeof ruleSetWithRules>

export const exportView = t.Object({
  ruleSet: t.Object({ name: t.String(), description: text, environment: text }),
  rules: t.Array(t.Record(t.String(), t.Unknown())),
  schemas: t.Array(t.Object({ name: t.String(), fields: t.Array(t.Unknown()) })),
  schedules: t.Array(exportedSchedule),
  source: orNull(t.Object({ repo: text, gitSha: text, path: text })),
})

/** The result of a rollback: the set, and what became of its rules, as for a push. */
export const rollbackAnswer = t.Object({ ...ruleSetWithRules.properties, ...syncAnswer.properties })
export type RollbackAnswer = Static<typeof rollbackAnswer>

export const rollbackBody = t.Optional(t.Object({ dryRun: flag }, { examples: [{ dryRun: true }] }))

/** `current`: the set has these rules now. `trigger`: what made the revision. `schedules`: names; null if it stored none. */
const revisionView = t.Object({
  id: t.String({ format: 'uuid' }),
  gitSha: text,
  source: orNull(t.Object({ repo: text, path: text, gitSha: text })),
  trigger: t.Union([t.Literal('sync'), t.Literal('rollback')]),
  current: t.Boolean(),
  ruleCount: t.Integer(),
  schedules: orNull(t.Array(t.String())),
  createdBy: actorView,
  createdAt: t.String(),
})
export type RevisionView = Static<typeof revisionView>

export const revisionList = t.Object({ revisions: t.Array(revisionView) })
