import { expect, test } from 'bun:test'
import { Elysia, t } from 'elysia'
import type { Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import { keepBodySchemas, requireObjects } from './body-shapes.ts'
import { orNull } from './or-null.ts'

/** contract 0: what is not as a schema says is 400, and names the place. */

const inner = t.Object({ a: t.Optional(t.String()), list: t.Optional(t.Array(t.Object({}))) })
const body = t.Object({
  texts: t.Optional(t.Record(t.String(), t.String())),
  orNone: t.Optional(orNull(t.Record(t.String(), t.Unknown()))),
  inner: t.Optional(orNull(inner)),
  either: t.Optional(t.Union([t.String(), t.Object({})])),
  any: t.Optional(t.Unknown()),
})
const ctx = {} as Context
keepBodySchemas(ctx, new Elysia().post('/things/:id', () => '', { body }).routes as never)

const request = new Request('http://localhost/things/1', { method: 'POST' })
function refusedAt(value: unknown): string[] {
  try {
    requireObjects(ctx, { request, route: '/things/:id', body: value })
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    expect(error.status).toBe(400)
    return error.details?.map(({ path, message }) => `${path}: ${message}`) ?? []
  }
}

test.each<[unknown, string[]]>([
  [{ texts: [] }, ['texts: Must be an object']],
  [{ texts: ['a'], orNone: '{}' }, ['texts: Must be an object', 'orNone: Must be an object or null']],
  [{ texts: 7, inner: 'x' }, ['texts: Must be an object', 'inner: Must be an object with a, list or null']],
  [
    { inner: { list: [{}, [], ''] } },
    ['inner.list[1]: Must be an object', 'inner.list[2]: Must be an object'],
  ],
  [{ either: [] }, []],
  [{ texts: {}, orNone: null, inner: { a: 1, list: 'x', more: [] }, either: 'a', any: [], more: [] }, []],
  [undefined, []],
])('%j', (value, places) => expect(refusedAt(value)).toEqual(places))
