import type { TProperties } from '@sinclair/typebox'
import { type TSchema, t } from 'elysia'

const text = (description: string) => t.Optional(t.String({ description }))

/** The query of a paginated list. `parsePagination` validates the values, so that all problems are reported at once. */
export const pageQuery = {
  page: text('Starts at 1, the default'),
  limit: text('1 to 100; 20 without it'),
  sort: text('A field of the list; the error for any other value lists the valid ones'),
  order: text('asc or desc'),
}

/** The envelope of a paginated list. `more`: what this list says of its pages besides. spec: Limits. */
export const pageOf = <T extends TSchema, More extends TProperties = Record<never, never>>(
  item: T,
  more: More = {} as More,
) =>
  t.Object({
    data: t.Array(item),
    pagination: t.Object({
      page: t.Integer(),
      limit: t.Integer(),
      total: t.Integer(),
      pages: t.Integer(),
      ...more,
    }),
  })
