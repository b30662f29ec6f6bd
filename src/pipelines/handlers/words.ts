import type { ErrorDetail } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { FILTER_OPS } from '../../modules/records/service.ts'
import { parseExpression } from '../expressions.ts'
import { hasTags } from '../templates.ts'

type Config = Readonly<Record<string, unknown>>

/** Checks a literal word against a list. A computed one is checked when the step runs. */
export function checkWord(value: unknown, path: string, words: readonly string[]): ErrorDetail[] {
  if (typeof value !== 'string' || hasTags(value)) return []
  const expression = parseExpression(value)
  const isGood = expression.kind !== 'literal' || words.some((word) => word === expression.value)
  return isGood ? [] : [{ path, message: `must be one of ${words.join(', ')}` }]
}

/** Checks the operators of filters. */
export const checkFilters = ({ filters }: Config): ErrorDetail[] =>
  Object.entries(isRecord(filters) ? filters : {}).flatMap(([field, conditions]) =>
    [conditions].flat().flatMap((condition, i) => {
      const path = `filters.${field}${Array.isArray(conditions) ? `[${i}]` : ''}.op`
      return isRecord(condition) ? checkWord(condition['op'], path, FILTER_OPS) : []
    }),
  )
