import { type IntegerOptions, Type } from '@sinclair/typebox'

/** A JSON number without a fraction. `t.Integer` of Elysia would take the text `"5"` too, which no JSON body means. */
export const wholeNumber = (options: IntegerOptions & { error: string }) => Type.Integer(options)
