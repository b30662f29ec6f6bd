import { type TSchema, t } from 'elysia'

/** Errors show the schema's own message, not that it is a union. */
export const orNull = <T extends TSchema>(schema: T) =>
  t.Union([schema, t.Null()], 'error' in schema ? { error: String(schema.error) } : {})
