import type { ErrorDetail } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { FILTER_OPS } from '../../../domain/record-words.ts'
import { ExpressionError, parseExpression } from '../expressions.ts'
import { hasTags } from '../templates.ts'

type Config = Readonly<Record<string, unknown>>

/** Checks a literal word against a list. A computed one is checked when the step runs. */
export function checkWord(value: unknown, path: string, words: readonly string[]): ErrorDetail[] {
  const constant = typeof value === 'string' ? constantOf(value) : undefined
  const isGood = constant === undefined || words.some((word) => word === constant)
  return isGood ? [] : [{ path, message: `must be one of ${words.join(', ')}` }]
}

/** Checks a whole number that is written out. A computed one is checked when the step runs. */
export function checkWholeNumber(config: Config, key: string, min: number, max: number): ErrorDetail[] {
  const value = constantOf(config[key])
  if (value === undefined || value === null || value === '') return []
  const number = numberOf(value)
  if (number !== undefined && number >= min && number <= max) return []
  const most = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  return [{ path: key, message: `must be a whole number ${most}` }]
}

/** A whole number or its digits; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined
}

/** The value of a text that is the same in every run; undefined for one that is computed, or that cannot be parsed. */
export function constantOf(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (hasTags(value)) return undefined
  try {
    const expression = parseExpression(value)
    return expression.kind === 'literal' ? expression.value : undefined
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    return undefined
  }
}

/** Checks the operators of filters. */
export const checkFilters = ({ filters }: Config): ErrorDetail[] =>
  Object.entries(isRecord(filters) ? filters : {}).flatMap(([field, conditions]) =>
    [conditions].flat().flatMap((condition, i) => {
      const path = `filters.${field}${Array.isArray(conditions) ? `[${i}]` : ''}.op`
      return isRecord(condition) ? checkWord(condition['op'], path, FILTER_OPS) : []
    }),
  )

/** Checks the path of a rule that is written out: no pattern, no query. */
export function flawOfLiteralPath(key: string, given: unknown): ErrorDetail[] {
  if (typeof given !== 'string') return []
  return /^\/[^\s*?#\\]*$/.test(given) && !/\p{Cc}/u.test(given)
    ? []
    : [{ path: key, message: 'must be a path such as /api/mcp, without a star, a query or spaces' }]
}

/** The texts of a list; none of anything else. */
export const textList = (given: unknown): string[] =>
  Array.isArray(given) ? given.filter((one) => typeof one === 'string') : []
