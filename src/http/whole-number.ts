import { type IntegerOptions, Type } from '@sinclair/typebox'

/** A JSON number without a fraction. Elysia's `t.Integer` would also accept the text `"5"`. */
export const wholeNumber = (options: IntegerOptions & { error: string }) => Type.Integer(options)
