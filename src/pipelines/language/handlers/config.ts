import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import { FILTER_OPS } from '../../../domain/record-words.ts'
import { checkFilters } from './words.ts'

/** What the configurations of several handlers share. */

type Config = Readonly<Record<string, unknown>>

export const expression = (description: string) => Type.String({ description })
export const numberOr = (description: string) =>
  Type.Union([Type.Number(), Type.String()], { description: `${description}; a number or an expression` })
/** A number with a limit: more is refused where it is written out, and counts as the limit where it is computed. */
export const numberUpTo = (most: number, description: string) =>
  numberOr(`${description}, at most ${most} (more from an expression counts as ${most})`)
export const anyValue = (description: string) => Type.Unknown({ description })
export const valuesByName = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), { description })

export const schemaId = Type.String({
  description: '`$schema:<name>`, a schema of this project',
  minLength: 1,
})

const filter = Type.Object(
  { op: Type.String(), value: Type.Optional(Type.Unknown()) },
  { additionalProperties: false },
)
export const filters = Type.Record(Type.String(), Type.Union([filter, Type.Array(filter)]), {
  description: `which records: \`{ <field>: { op, value } }\`, or a list of \`{ op, value }\` for several conditions on a field; \`op\` is one of ${FILTER_OPS.join(', ')}`,
})
export const filterLogic = Type.Union([Type.Literal('and'), Type.Literal('or')], {
  description: '`and` (the default): all filters hold; `or`: one does',
})

export const hasRecordId = (config: Config): boolean => config['recordId'] !== undefined

/** Requires one of the two, so that a typo never selects every record. */
export function checkSelection(config: Config): ErrorDetail[] {
  const given = config['filters']
  const hasFilters = typeof given === 'object' && given !== null && Object.values(given).flat().length > 0
  return hasRecordId(config) || hasFilters
    ? checkFilters(config)
    : [{ path: '', message: 'needs recordId, or at least one filter in filters' }]
}

export const selectionConfig = {
  recordId: Type.Optional(
    expression('the id of one record; if there are filters too, the record must match them'),
  ),
  filters: Type.Optional(filters),
  filterLogic: Type.Optional(filterLogic),
}
