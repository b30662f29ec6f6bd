import { type Static, t } from 'elysia'
import { MAX_DESCRIPTION } from '../../domain/description.ts'
import { invalidField } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { HEADER_NAME } from '../../domain/names.ts'
import type { InputOf } from '../../http/input-of.ts'
import { orNull } from '../../http/or-null.ts'
import { wholeNumber } from '../../http/whole-number.ts'
import { MAX_TIMEOUT_MS, MIN_TIMEOUT_MS } from './limits.ts'

const method = t.String({
  pattern: '^[A-Za-z]{1,20}$',
  error: 'An HTTP method, such as POST',
  examples: ['POST'],
})
const headerName = { pattern: HEADER_NAME }
const headerNames = t.Array(t.String({ ...headerName, error: 'A header name' }), {
  maxItems: 100,
  error: 'At most 100 header names',
})

const HEADER_CONFIG =
  'An object or null: add maps header names to texts of at most 8192 characters; forward and strip ' +
  'are lists of at most 100 header names'

const PIPELINE_CONFIG = 'An object with steps'

/** As the API takes it: the values of `add` in clear, or `REDACTED` to keep a stored one. contract §8. */
export const headerConfigBody = t.Object(
  {
    add: t.Optional(
      t.Record(t.String(), t.String({ maxLength: 8192, error: 'A text of at most 8192 characters' }), {
        error: 'An object of header names and values',
        examples: [{ 'x-service-key': 'secret' }],
      }),
    ),
    forward: t.Optional(headerNames),
    strip: t.Optional(headerNames),
  },
  { error: HEADER_CONFIG },
)
export type HeaderConfig = InputOf<typeof headerConfigBody>

/** Throws `invalid` for values that the validator would turn into an empty object: all its keys are optional. */
export function refuseShapeless({ body }: { body: unknown }): void {
  if (isRecord(body)) refuseShapelessRule(body, '')
}

/** `prefix` is the path of the rule, such as `rules[0].`. */
export function refuseShapelessRule(rule: Record<string, unknown>, prefix: string): void {
  const config = rule['headerConfig'] ?? {}
  const add = isRecord(config) ? (config['add'] ?? {}) : null
  if (!isRecord(add)) throw invalidField(`${prefix}headerConfig`, HEADER_CONFIG)
  if (!isRecord(rule['pipelineConfig'] ?? {})) throw invalidField(`${prefix}pipelineConfig`, PIPELINE_CONFIG)
}

const proxyType = t.Union(
  [t.Literal('external_proxy'), t.Literal('internal_rewrite'), t.Literal('pipeline'), t.Literal('redirect')],
  { error: 'One of external_proxy, internal_rewrite, pipeline, redirect' },
)

const redirectStatus = t.Union(
  [t.Literal(301), t.Literal(302), t.Literal(303), t.Literal(307), t.Literal(308)],
  { error: 'One of 301, 302, 303, 307, 308', description: 'Of a redirect; null for every other kind' },
)

const settings = {
  stripPrefix: t.Optional(t.Boolean()),
  order: t.Optional(
    wholeNumber({ minimum: -1_000_000, maximum: 1_000_000, error: 'A whole number up to 1000000' }),
  ),
  timeout: t.Optional(
    wholeNumber({
      minimum: MIN_TIMEOUT_MS,
      maximum: MAX_TIMEOUT_MS,
      error: `Milliseconds: a whole number from ${MIN_TIMEOUT_MS} to ${MAX_TIMEOUT_MS}`,
    }),
  ),
  preserveHost: t.Optional(t.Boolean()),
  forwardCookies: t.Optional(t.Boolean()),
  headerConfig: t.Optional(orNull(headerConfigBody)),
  proxyType: t.Optional(proxyType),
  status: t.Optional(orNull(redirectStatus)),
  pipelineConfig: t.Optional(orNull(t.Record(t.String(), t.Unknown(), { error: PIPELINE_CONFIG }))),
  method: t.Optional(orNull(method)),
  methods: t.Optional(
    orNull(t.Array(method, { maxItems: 20, error: 'HTTP methods, such as POST: at most 20' })),
  ),
  isEnabled: t.Optional(t.Boolean()),
  debugEnabled: t.Optional(t.Boolean()),
  description: t.Optional(
    orNull(
      t.String({ maxLength: MAX_DESCRIPTION, error: `A text of at most ${MAX_DESCRIPTION} characters` }),
    ),
  ),
}

const pathPattern = t.String({ error: 'A path pattern, such as /api/*', examples: ['/api/*'] })
const targetUrl = t.String({
  maxLength: 4096,
  error: 'An https address; for a rewrite a path, for a redirect either, or an http address',
  examples: ['https://api.example.com'],
})

export const newRuleBody = t.Object({ pathPattern, targetUrl: t.Optional(targetUrl), ...settings })
export type NewRule = InputOf<typeof newRuleBody>

export const rulePatchBody = t.Object({
  pathPattern: t.Optional(pathPattern),
  targetUrl: t.Optional(targetUrl),
  ...settings,
})
export type RuleChange = InputOf<typeof rulePatchBody>

export const reorderBody = t.Object({
  ruleIds: t.Array(t.String(), {
    error: 'The ids of the rules, in their new order',
    examples: [['01a1f95d-adc8-7540-85f5-eb591f10b29b']],
  }),
})

const text = orNull(t.String())

/** Values in clear, or `REDACTED`. */
const shownHeaderConfig = t.Object({
  add: t.Optional(t.Record(t.String(), t.String())),
  forward: t.Optional(t.Array(t.String())),
  strip: t.Optional(t.Array(t.String())),
})
export type ShownHeaderConfig = Static<typeof shownHeaderConfig>

/** spec: Proxy rule; contract §8. `timeout` in milliseconds; `source`: where it is managed, null if made by hand. */
export const ruleView = t.Object({
  id: t.String({ format: 'uuid' }),
  projectId: t.String(),
  aliasId: text,
  ruleSetId: text,
  pathPattern: t.String(),
  method: text,
  methods: orNull(t.Array(t.String())),
  proxyType,
  targetUrl: t.String(),
  status: orNull(redirectStatus),
  stripPrefix: t.Boolean(),
  order: t.Integer(),
  timeout: t.Integer(),
  preserveHost: t.Boolean(),
  forwardCookies: t.Boolean(),
  headerConfig: orNull(shownHeaderConfig),
  pipelineConfig: orNull(t.Record(t.String(), t.Unknown())),
  isEnabled: t.Boolean(),
  debugEnabled: t.Boolean(),
  description: text,
  source: orNull(t.Object({ repo: text, path: text, gitSha: text, syncedAt: text })),
  createdAt: t.String(),
  updatedAt: t.String(),
})
export type RuleView = Static<typeof ruleView>

export const ruleList = t.Object({ rules: t.Array(ruleView) })
