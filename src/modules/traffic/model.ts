import { type Static, t } from 'elysia'
import { HEADER_NAME } from '../../domain/names.ts'
import type { InputOf } from '../../http/input-of.ts'
import { wholeNumber } from '../../http/whole-number.ts'

const alias = t.String({
  minLength: 1,
  maxLength: 64,
  error: 'The name of an alias',
  examples: ['production'],
})
const weight = t.Object({
  alias,
  weight: wholeNumber({ minimum: 0, maximum: 100, error: 'A whole number from 0 to 100' }),
})
const rule = t.Object({
  type: t.Union([t.Literal('query'), t.Literal('cookie'), t.Literal('header')], {
    error: 'One of query, cookie, header',
  }),
  key: t.String({
    pattern: HEADER_NAME,
    error: 'The name of a parameter, cookie or header',
  }),
  value: t.String({ maxLength: 500, error: 'At most 500 characters' }),
  alias,
})

export const trafficBody = t.Object({
  weights: t.Array(weight, { minItems: 1, maxItems: 20, error: '1 to 20 aliases with their weights' }),
  sticky: t.Optional(t.Boolean()),
  stickySeconds: t.Optional(
    wholeNumber({ minimum: 1, maximum: 31_536_000, error: 'Seconds: a whole number from 1 to 31536000' }),
  ),
  rules: t.Optional(t.Array(rule, { maxItems: 50, error: 'At most 50 rules' })),
})
export type NewTraffic = InputOf<typeof trafficBody>

/** contract §10. */
export const trafficView = t.Object({
  weights: t.Array(weight),
  sticky: t.Boolean(),
  stickySeconds: t.Integer(),
  rules: t.Array(rule),
})
export type TrafficView = Static<typeof trafficView>
