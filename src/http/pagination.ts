import { type TSchema, t } from 'elysia'

const text = t.Optional(t.String())

/** Query of a paginated list; `parsePagination` judges the values, so that all that is wrong is told at once. */
export const pageQuery = { page: text, limit: text, sort: text, order: text }

/** The envelope of a paginated list. spec: Limits. */
export const pageOf = <T extends TSchema>(item: T) =>
  t.Object({
    data: t.Array(item),
    pagination: t.Object({
      page: t.Integer(),
      limit: t.Integer(),
      total: t.Integer(),
      pages: t.Integer(),
    }),
  })
