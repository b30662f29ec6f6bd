import { Elysia } from 'elysia'
import { AppError } from '../domain/errors.ts'
import { nestingOf } from '../domain/field-types.ts'
import { isRecord } from '../domain/is-record.ts'
import { arrivingBody } from './upload-progress.ts'

/** Most bytes of a JSON body, where a route does not say otherwise. */
const MAX_JSON_BYTES = 1024 * 1024
export const MAX_SYNC_BYTES = 16 * 1024 * 1024
/** Levels of a body, and the length up to which nobody counts them: there are too few to run out of stack. */
const DEEPEST = 200
const SHORT = 4096

/** For routes without a guard. Those with one read the body behind it (`readJson`), so that a stranger's is never read. */
export const jsonBody = new Elysia({ name: 'http/json-body' }).onParse({ as: 'scoped' }, readJson)

/** Reads a JSON body with a limit that is enforced while reading. Undefined for none. */
export async function readJson({ request, path }: { request: Request; path: string }): Promise<unknown> {
  const bytes = await readBody(request, path.endsWith('/sync') ? MAX_SYNC_BYTES : MAX_JSON_BYTES)
  if (bytes.length === 0) return undefined
  const type = request.headers.get('content-type')?.split(';')[0]?.trim() ?? ''
  if (!/^application\/([\w.-]+\+)?json$/i.test(type))
    throw new AppError('invalid', 'Send JSON, with Content-Type: application/json')
  const body = parseJson(bytes)
  // Where every key is optional they would pass for an empty object. Of null the schemas judge.
  if (typeof body !== 'object' || Array.isArray(body)) {
    const message = `Send a JSON object, not a ${Array.isArray(body) ? 'list' : typeof body}`
    throw new AppError('invalid', message, { details: [{ path: '', message }] })
  }
  return body
}

/** Throws `invalid` for what is no JSON in UTF-8, or nests so deep that whoever walks through it runs out of stack. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decoded(bytes)
  if (text !== null && text.length > SHORT && nestingOf(text) > DEEPEST)
    throw new AppError('invalid', `The body is nested more than ${DEEPEST} levels deep`)
  try {
    return JSON.parse(text ?? '', ODD_KEY.test(text ?? '') ? printable : undefined)
  } catch {
    throw new AppError('invalid', 'The body is not valid JSON in UTF-8')
  }
}

/** With its letters as they are or escaped (`\u0041` to `\u007a`). Other texts are parsed without a look at each value. */
const ODD_KEY = /"(toString|valueOf)"|\\u00[4-7]/

/** The validator prints what it refuses, and fails over an object whose `toString` is no function. */
function printable(_key: string, value: unknown): unknown {
  const isOdd = isRecord(value) && (Object.hasOwn(value, 'toString') || Object.hasOwn(value, 'valueOf'))
  return isOdd ? Object.defineProperty(value, Symbol.toPrimitive, { value: () => 'an object' }) : value
}

/** Null for what is not UTF-8. */
function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** The whole body; `too_large` as soon as it is longer than `maxBytes`. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () =>
    new AppError('too_large', `The body is larger than the ${maxBytes} bytes allowed here`)
  if (Number(request.headers.get('content-length')) > maxBytes) throw tooLarge()
  const body = arrivingBody(request)
  if (body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
}
