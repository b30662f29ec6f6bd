import { type TSchema, t } from 'elysia'

const text = (description: string) => t.Optional(t.String({ description }))

/** Query of a paginated list; `parsePagination` judges the values, so that all that is wrong is told at once. */
export const pageQuery = {
  page: text('From 1, which is the default'),
  limit: text('1 to 100; 20 without it'),
  sort: text('A field of the list; the refusal of another one names those that there are'),
  order: text('asc or desc'),
}

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
