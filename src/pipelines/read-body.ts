import type { Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import { heldBody, readBody, skipBody } from '../http/held-body.ts'
import { type FormLimits, readMultipart } from '../http/multipart.ts'
import { charsetOf } from '../http/multipart-headers.ts'
import { parseJson } from '../http/parse-json.ts'
import { formPairs } from './form-pairs.ts'
import { FormParts } from './form-parts.ts'
import type { PipelineBody, PipelineInput } from './input.ts'

/** contract §9.3: bodies up to 10 MiB. */
const MAX_BODY_BYTES = 10 * 1024 * 1024
/** The most fields of an urlencoded form: each costs far more than its bytes. */
const MAX_FIELDS = 10_000
const UTF8 = new TextDecoder()
/** Keeps a byte order mark, for code that looks at each byte. */
const EXACT_UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })
const FORM: FormLimits = { maxBytes: MAX_BODY_BYTES, maxFiles: 100, maxFieldBytes: MAX_BODY_BYTES }

/** `rawBody` is the text as sent; missing without a body and for multipart, which is not kept. */
export type ReadBody = Pick<PipelineInput, 'body' | 'rawBody'>

/** Parses the body by its content type: JSON, a form or text. Throws 413 for one that is too large. */
export async function readPipelineBody(ctx: Context, request: Request): Promise<ReadBody> {
  if (request.method === 'GET' || request.method === 'HEAD') {
    await skipBody(ctx, request)
    return { body: { kind: 'none' } }
  }
  const contentType = request.headers.get('content-type')
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'multipart/form-data') return { body: await readForm(ctx, request, contentType) }
  const bytes = await readBody(ctx, request, MAX_BODY_BYTES)
  if (bytes.length === 0) return { body: { kind: 'none' } }
  return { body: parseBody(type, bytes, contentType), rawBody: () => EXACT_UTF8.decode(bytes) }
}

function parseBody(type: string, bytes: Uint8Array, contentType: string | null): PipelineBody {
  if (/^application\/([\w.-]+\+)?json$/.test(type)) return readJson(bytes)
  if (type === 'application/x-www-form-urlencoded') return readUrlencoded(bytes, contentType)
  if (type === '' || type.startsWith('text/')) return readText(bytes)
  return { kind: 'unsupported', contentType: type }
}

/** Groups pairs by name: a name that comes more than once gets a list of values. */
export function grouped(given: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const pairs = Array.isArray(given) ? given : [...given]
  if (new Set(pairs.map(([name]) => name)).size === pairs.length) return Object.fromEntries(pairs)
  const values = new Map<string, unknown[]>()
  for (const [name, value] of pairs) {
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return Object.fromEntries([...values].map(([name, all]) => [name, all.length === 1 ? all[0] : all]))
}

function readUrlencoded(bytes: Uint8Array, contentType: string | null): PipelineBody {
  if (hasTooManyFields(bytes))
    throw new AppError('too_large', `The form has more than the ${MAX_FIELDS} fields allowed`)
  return orBroken(() => ({ kind: 'form', value: grouped(formPairs(bytes, charsetOf(contentType))) }))
}

function hasTooManyFields(bytes: Uint8Array): boolean {
  if (bytes.length <= MAX_FIELDS) return false
  let count = 1
  for (
    let at = bytes.indexOf(AMPERSAND);
    at !== -1 && count <= MAX_FIELDS;
    at = bytes.indexOf(AMPERSAND, at + 1)
  )
    count += 1
  return count > MAX_FIELDS
}

const AMPERSAND = 0x26

/** `sendBeacon` declares text but usually sends JSON. */
function readText(bytes: Uint8Array): PipelineBody {
  const value = UTF8.decode(bytes)
  const parsed = /^\s*[[{"\d\-tfn]/.test(value) ? readJson(bytes) : undefined
  return parsed?.kind === 'json' ? parsed : { kind: 'text', value }
}

const readJson = (bytes: Uint8Array): PipelineBody =>
  orBroken(() => ({ kind: 'json', value: parseJson(bytes) }))

/** The error surfaces when the body is used: a pipeline that never looks at it continues. */
function orBroken(read: () => PipelineBody): PipelineBody {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError) return { kind: 'broken', error }
    throw error
  }
}

/**
 * Of a file, only name, type and size are kept: pipelines store no files. Browsers also send file inputs without a
 * file.
 */
async function readForm(ctx: Context, request: Request, contentType: string | null): Promise<PipelineBody> {
  const parts = new FormParts()
  try {
    parts.charset = charsetOf(contentType)
    const form = { ...FORM, decodeHeaders: parts.decodeHeaders }
    for await (const part of readMultipart(heldBody(ctx, request), contentType, form)) {
      if (part.kind === 'field') parts.addField(part)
      else {
        const { filename, contentType: type } = part
        const size = await sizeOf(part.body)
        const isNone = filename === '' && size === 0
        parts.addFile(part.name, isNone ? '' : { filename, contentType: type ?? null, size })
      }
    }
  } catch (error) {
    if (!(error instanceof AppError))
      throw new AppError('invalid', 'The request body ended too early', { cause: error })
    // A sender whose connection failed gets no answer, so nothing may happen either.
    if (error.kind === 'invalid' && !request.signal.aborted) return { kind: 'broken', error }
    throw error
  }
  return orBroken(() => ({ kind: 'form', value: grouped(parts.pairs()) }))
}

async function sizeOf(body: AsyncIterable<Uint8Array> | Uint8Array): Promise<number> {
  if (body instanceof Uint8Array) return body.length
  let size = 0
  for await (const piece of body) size += piece.length
  return size
}
