import { t } from 'elysia'
import { pageOf, pageQuery } from '../../http/pagination.ts'

/** The fields of the schema; unknown ones are ignored. */
export const recordBody = t.Record(t.String(), t.Unknown(), {
  description: 'The fields themselves',
  examples: [{ email: 'ann@example.com' }],
})

/** `filter[field]=value` and `filter[field][op]=value` are read from the address. */
export const recordQuery = t.Object(
  {
    ...pageQuery,
    offset: t.Optional(t.String({ description: 'The number of records to skip; goes over page' })),
  },
  { additionalProperties: true },
)

export const exportQuery = t.Object(
  {
    format: t.Optional(t.Union([t.Literal('csv'), t.Literal('json')], { error: 'csv or json' })),
    bom: t.Optional(
      t.Union([t.Literal('true'), t.Literal('false')], {
        error: 'true or false',
        description: 'true begins the CSV with the mark by which Excel knows UTF-8',
      }),
    ),
  },
  { additionalProperties: true },
)

export const recordView = t.Record(t.String(), t.Unknown(), {
  description: '{ id, ...fields, createdAt, updatedAt }',
})

/** `truncated` and `nextOffset`: only of a page that had no room for more. contract 14.1. */
export const recordPage = pageOf(recordView, {
  truncated: t.Optional(t.Literal(true)),
  nextOffset: t.Optional(t.Integer()),
})
