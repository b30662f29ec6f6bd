import type { ErrorDetail } from '../../domain/errors.ts'
import { FILTER_OPS } from '../../modules/records/service.ts'
import { parseExpression } from '../expressions.ts'
import { hasTags } from '../templates.ts'

type Config = Readonly<Record<string, unknown>>

/** What is wrong with a word out of a list, where the rule says it itself; what is worked out is checked as it runs. */
export function checkWord(value: unknown, path: string, words: readonly string[]): ErrorDetail[] {
  if (typeof value !== 'string' || hasTags(value)) return []
  const expression = parseExpression(value)
  const isGood = expression.kind !== 'literal' || words.some((word) => word === expression.value)
  return isGood ? [] : [{ path, message: `must be one of ${words.join(', ')}` }]
}

/** The operators of filters. */
export const checkFilters = ({ filters }: Config): ErrorDetail[] =>
  Object.entries(isObject(filters) ? filters : {}).flatMap(([field, conditions]) =>
    [conditions].flat().flatMap((condition, i) => {
      const path = `filters.${field}${Array.isArray(conditions) ? `[${i}]` : ''}.op`
      return isObject(condition) ? checkWord(condition['op'], path, FILTER_OPS) : []
    }),
  )

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
