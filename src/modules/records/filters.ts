import { AppError } from '../../domain/errors.ts'
import { FILTER_OPS, type FilterOp } from '../../domain/record-words.ts'
import type { Filter } from './where.ts'

/** A filter from an address: text, which is read as the field's type when it is compared. */
export type TextFilter = Filter & { value: string | string[] }

/**
 * Parses filters from a query: `filter[field]=value` for equality, `filter[field][op]=value` for other operators. `in`
 * takes values separated by commas. Throws 400 for an unknown operator.
 */
export function parseFilters(query: URLSearchParams): TextFilter[] {
  return [...query].flatMap(([key, text]) => {
    const [, field, name] = /^filter\[([^\]]+)\](?:\[([^\]]*)\])?$/.exec(key) ?? []
    if (field === undefined) return []
    const op = name === undefined ? 'eq' : knownOp(key, name)
    return [{ field, op, value: op === 'in' ? text.split(',').map((one) => one.trim()) : text }]
  })
}

/** The inverse: name and value pairs for a query. */
export const filterPairs = (filters: readonly TextFilter[]): [name: string, value: string][] =>
  filters.map(({ field, op, value }) => [
    op === 'eq' ? `filter[${field}]` : `filter[${field}][${op}]`,
    Array.isArray(value) ? value.join(',') : value,
  ])

function knownOp(key: string, name: string): FilterOp {
  const op = FILTER_OPS.find((one) => one === name)
  if (op !== undefined) return op
  const message = `must be one of ${FILTER_OPS.join(', ')}`
  throw new AppError('invalid', `The filter operator ${message}`, {
    details: [{ path: key.slice(0, 100), message }],
  })
}
