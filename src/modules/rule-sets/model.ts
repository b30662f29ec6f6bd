import { t } from 'elysia'
import { invalidField } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { orNull } from '../../http/or-null.ts'
import { wholeNumber } from '../../http/whole-number.ts'
import { actorView } from '../aliases/model.ts'
import { newRuleBody, refuseShapelessRule, ruleView } from '../proxy-rules/model.ts'

const text = orNull(t.String())
const note = t.Optional(orNull(t.String({ maxLength: 2000, error: 'At most 2000 characters' })))

const MAX_NAME = 100

/** Commas part names where several are given in one field. */
const name = t.String({
  minLength: 1,
  maxLength: MAX_NAME,
  pattern: '^[^\\s,\\x00-\\x1f\\x7f]([^,\\x00-\\x1f\\x7f]*[^\\s,\\x00-\\x1f\\x7f])?$',
  error: `A name of 1 to ${MAX_NAME} characters, without commas, and no space at its ends`,
  examples: ['guestbook'],
})

/** Longer waits are cut to the most that is allowed, with a warning. contract §9.2. */
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

const OPTIONS = 'An object with prune, dryRun and strictSchemas, each true or false'
const SOURCE = 'An object with repo, gitSha and path, texts of at most 2000 characters, or null'

const flag = t.Optional(t.Boolean({ error: 'true or false' }))

/** contract §9.2. */
export const syncBody = t.Object({
  ruleSet: t.Object({ name, description: note, environment: note }),
  rules: t.Array(pushedRule, { maxItems: 5000, error: 'A list of at most 5000 rules' }),
  schemas: t.Optional(t.Array(pushedSchema, { maxItems: 500, error: 'A list of at most 500 schemas' })),
  options: t.Optional(t.Object({ prune: flag, dryRun: flag, strictSchemas: flag }, { error: OPTIONS })),
  source: t.Optional(
    t.Union([t.Object({ repo: note, gitSha: note, path: note }), t.Null()], { error: SOURCE }),
  ),
})

/** Throws `invalid` for what the validator would make an empty object of: a rehearsal would become a push. */
export function refuseShapelessPush({ body }: { body: unknown }): void {
  if (!isRecord(body)) return
  if (!isRecord(body['options'] ?? {})) throw invalidField('options', OPTIONS)
  if (!isRecord(body['source'] ?? {})) throw invalidField('source', SOURCE)
  const rules = Array.isArray(body['rules']) ? body['rules'] : []
  for (const [index, rule] of rules.entries())
    if (isRecord(rule)) refuseShapelessRule(rule, `rules.${index}.`)
}

export const syncAnswer = t.Object({
  ruleSetId: text,
  created: t.Integer(),
  updated: t.Integer(),
  deleted: t.Integer(),
  unchanged: t.Integer(),
  pruneCandidates: t.Array(t.Object({ pathPattern: t.String(), method: text })),
  schemaResolutions: t.Array(
    t.Object({
      name: t.String(),
      action: t.Union([t.Literal('create'), t.Literal('reuse')]),
      targetSchemaId: text,
      fieldMismatch: t.Boolean(),
    }),
  ),
  missingSecrets: t.Array(t.String()),
  warnings: t.Array(t.String()),
  dryRun: t.Boolean(),
  setCreated: t.Boolean(),
})

const liveOn = t.Union([t.Literal('project'), t.Literal('aliases')], { error: 'project or aliases' })

export const ruleSetPatchBody = t.Object({
  name: t.Optional(name),
  description: note,
  environment: note,
  aliases: t.Optional(
    t.Array(t.String(), {
      maxItems: 1000,
      error: 'The names of the aliases that the set is for',
      examples: [['staging']],
    }),
  ),
  liveOn: t.Optional(liveOn),
})

const ruleSetFields = {
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
}

export const ruleSetList = t.Object({ ruleSets: t.Array(t.Object(ruleSetFields)) })
export const ruleSetWithRules = t.Object({ ...ruleSetFields, rules: t.Array(ruleView) })

export const exportView = t.Object({
  ruleSet: t.Object({ name: t.String(), description: text, environment: text }),
  rules: t.Array(t.Record(t.String(), t.Unknown())),
  schemas: t.Array(t.Object({ name: t.String(), fields: t.Array(t.Unknown()) })),
  source: orNull(t.Object({ repo: text, gitSha: text, path: text })),
})

export const revisionList = t.Object({
  revisions: t.Array(
    t.Object({
      id: t.String({ format: 'uuid' }),
      gitSha: text,
      ruleCount: t.Integer(),
      createdBy: actorView,
      createdAt: t.String(),
    }),
  ),
})
