import { type TSchema, t } from 'elysia'

export const orNull = <T extends TSchema>(schema: T) => t.Union([schema, t.Null()])
