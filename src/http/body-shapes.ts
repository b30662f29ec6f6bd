import type { Context } from '../context.ts'
import { AppError, type ErrorDetail } from '../domain/errors.ts'
import { isRecord } from '../domain/is-record.ts'
import { onePer } from '../platform/one-per.ts'
import { expectation } from './expectation.ts'

type Asked = { request: Request; route: string; body: unknown }
type Route = { method: string; path: string; hooks: { body?: unknown } }

const schemasOf = onePer((_: Context) => new Map<string, unknown>())

export function keepBodySchemas(ctx: Context, routes: readonly Route[]): void {
  for (const { method, path, hooks } of routes) schemasOf(ctx).set(`${method} ${path}`, hooks.body)
}

/**
 * Refuses a list or a text in the place of an object. Before it validates, Elysia drops unknown keys, and makes an object of
 * anything as it does.
 */
export function requireObjects(ctx: Context, { request, route, body }: Asked): void {
  const details = [...misplaced(schemasOf(ctx).get(`${request.method} ${route}`), body, '')]
  const [first] = details
  if (first !== undefined) throw new AppError('invalid', `${first.path}: ${first.message}`, { details })
}

function* misplaced(schema: unknown, value: unknown, path: string): Generator<ErrorDetail> {
  if (value === undefined || value === null || !isRecord(schema)) return
  const { anyOf, items } = schema
  if (Array.isArray(anyOf)) {
    const taking = anyOf.filter((one) => takes(one, value))
    if (taking.length === 0) yield wrong(schema, value, path)
    // Of several the validator chooses.
    if (taking.length === 1) yield* misplaced(taking[0], value, path)
  } else if (!takes(schema, value)) yield wrong(schema, value, path)
  else if (Array.isArray(value))
    for (const [index, one] of value.entries()) yield* misplaced(items, one, `${path}[${index}]`)
  else if (isRecord(value))
    for (const [key, one] of Object.entries(value))
      yield* misplaced(schemaOf(schema, key), one, path === '' ? key : `${path}.${key}`)
}

const wrong = (schema: unknown, value: unknown, path: string): ErrorDetail => ({
  path,
  message: expectation(schema, 'Expected object', value),
})

/** Whether it may be such a value; more the validator says. */
function takes(schema: unknown, value: unknown): boolean {
  if (!isRecord(schema)) return true
  const { type, anyOf } = schema
  if (Array.isArray(anyOf)) return anyOf.some((one) => takes(one, value))
  if (type === 'object') return isRecord(value)
  if (type === 'null') return value === null
  return type !== 'array' || !isRecord(value)
}

function schemaOf({ properties, patternProperties }: Record<string, unknown>, key: string): unknown {
  if (isRecord(properties) && Object.hasOwn(properties, key)) return properties[key]
  return isRecord(patternProperties) ? Object.values(patternProperties)[0] : undefined
}
