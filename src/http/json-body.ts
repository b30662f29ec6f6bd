import { Elysia } from 'elysia'
import type { Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import { requireObjects } from './body-shapes.ts'
import { readBody } from './held-body.ts'
import { parseStorableJson } from './parse-json.ts'

/** Maximum bytes of a JSON body, unless a route sets its own. */
const MAX_JSON_BYTES = 1024 * 1024
export const MAX_SYNC_BYTES = 16 * 1024 * 1024

/**
 * For routes without a guard. Routes with one read the body after it (`readJson`), so that a stranger's is never read.
 */
export const jsonBody = (ctx: Context) =>
  new Elysia({ name: 'http/json-body' })
    .onParse({ as: 'scoped' }, ({ request }) => readJson(ctx, request))
    .onTransform({ as: 'scoped' }, ({ request, route, body }) =>
      requireObjects(ctx, { request, route, body }),
    )

/** Reads a JSON body and enforces the limit while reading. Undefined if there is none. */
export async function readJson(ctx: Context, request: Request, maxBytes = MAX_JSON_BYTES): Promise<unknown> {
  const bytes = await readBody(ctx, request, maxBytes)
  if (bytes.length === 0) return undefined
  const type = request.headers.get('content-type')?.split(';')[0]?.trim() ?? ''
  if (!/^application\/([\w.-]+\+)?json$/i.test(type))
    throw new AppError('invalid', 'Send JSON, with Content-Type: application/json')
  const body = parseStorableJson(bytes)
  // They would pass for an empty object if every key is optional. The schemas decide about null.
  if (typeof body !== 'object' || Array.isArray(body)) {
    const message = `Send a JSON object, not a ${Array.isArray(body) ? 'list' : typeof body}`
    throw new AppError('invalid', message, { details: [{ path: '', message }] })
  }
  return body
}
