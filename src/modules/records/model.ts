import { t } from 'elysia'
import { pageQuery } from '../../http/pagination.ts'

/** The fields of the schema; unknown ones are ignored. */
export const recordBody = t.Record(t.String(), t.Unknown(), {
  description: 'The fields themselves',
  examples: [{ email: 'ann@example.com' }],
})

/** `filter[field]=value` and `filter[field][op]=value` are read from the address. */
export const recordQuery = t.Object(pageQuery, { additionalProperties: true })

export const exportQuery = t.Object(
  { format: t.Optional(t.Union([t.Literal('csv'), t.Literal('json')], { error: 'csv or json' })) },
  { additionalProperties: true },
)

export const recordView = t.Record(t.String(), t.Unknown(), {
  description: '{ id, ...fields, createdAt, updatedAt }',
})
