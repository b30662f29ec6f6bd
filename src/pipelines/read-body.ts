import { AppError } from '../domain/errors.ts'
import { readBody } from '../http/json-body.ts'
import { type FormLimits, readMultipart } from '../http/multipart.ts'
import { parseJson } from '../http/parse-json.ts'
import { arrivingBody } from '../http/upload-progress.ts'
import { formPairs } from './form-pairs.ts'
import type { PipelineBody, PipelineInput } from './input.ts'

/** contract §9.3: bodies up to 10 MiB. */
const MAX_BODY_BYTES = 10 * 1024 * 1024
const SMALL_BYTES = 64 * 1024
/** Of an urlencoded form: each costs far more than its bytes. */
const MOST_FIELDS = 10_000
const UTF8 = new TextDecoder()
/** For what is looked at byte by byte: a mark at the beginning stays. */
const EXACT_UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })
const FORM: FormLimits = { maxBytes: MAX_BODY_BYTES, maxFiles: 100, maxFieldBytes: MAX_BODY_BYTES }

/** `rawBody`: its text as it was sent; missing where there is none, and of parts, which are not kept. */
export type ReadBody = Pick<PipelineInput, 'body' | 'rawBody'>

/** Reads the body as its type says: JSON, a form, text. Throws 413 for a larger one. */
export async function readPipelineBody(request: Request): Promise<ReadBody> {
  if (request.method === 'GET' || request.method === 'HEAD') return { body: { kind: 'none' } }
  const contentType = request.headers.get('content-type')
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'multipart/form-data') return { body: await readForm(request, contentType) }
  const bytes = await readBytes(request)
  if (bytes.length === 0) return { body: { kind: 'none' } }
  return { body: parseBody(type, bytes), rawBody: () => EXACT_UTF8.decode(bytes) }
}

function parseBody(type: string, bytes: Uint8Array): PipelineBody {
  if (/^application\/([\w.-]+\+)?json$/.test(type)) return readJson(bytes)
  if (type === 'application/x-www-form-urlencoded') return readUrlencoded(UTF8.decode(bytes))
  if (type === '' || type.startsWith('text/')) return readText(bytes)
  return { kind: 'unsupported', contentType: type }
}

/** A visitor who leaves amid the body is nobody's fault. */
async function readBytes(request: Request): Promise<Uint8Array> {
  try {
    return isSmall(request) ? await request.bytes() : await readBody(request, MAX_BODY_BYTES)
  } catch (error) {
    throw error instanceof AppError ? error : new AppError('invalid', 'The body broke off', { cause: error })
  }
}

/** Taken in one piece, which costs a third of a stream. One that comes slowly is over before the connection is idle. */
function isSmall(request: Request): boolean {
  const length = request.headers.get('content-length')
  return length !== null && Number(length) <= SMALL_BYTES
}

/** Names that come more than once have a list of values. */
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

function readUrlencoded(text: string): PipelineBody {
  const isLong = text.length > MOST_FIELDS && text.split('&', MOST_FIELDS + 1).length > MOST_FIELDS
  if (isLong) throw new AppError('too_large', `The form holds more than the ${MOST_FIELDS} fields allowed`)
  return { kind: 'form', value: grouped(formPairs(text)) }
}

/** A `sendBeacon` says text and means JSON. */
function readText(bytes: Uint8Array): PipelineBody {
  const value = UTF8.decode(bytes)
  const parsed = /^\s*[[{"\d\-tfn]/.test(value) ? readJson(bytes) : undefined
  return parsed?.kind === 'json' ? parsed : { kind: 'text', value }
}

/** What is wrong is told where the body is read: a pipeline that does not look at it goes on. */
function readJson(bytes: Uint8Array): PipelineBody {
  try {
    return { kind: 'json', value: parseJson(bytes) }
  } catch (error) {
    if (error instanceof AppError) return { kind: 'broken', error }
    throw error
  }
}

/** Of a file there is its name, type and size: pipelines keep no files. A browser sends one that was not chosen, too. */
async function readForm(request: Request, contentType: string | null): Promise<PipelineBody> {
  const pairs: [string, unknown][] = []
  try {
    for await (const part of readMultipart(arrivingBody(request), contentType, FORM)) {
      if (part.kind === 'field') pairs.push([part.name, part.value])
      else {
        const { filename, contentType: type } = part
        const size = await sizeOf(part.body)
        const isNone = filename === '' && size === 0
        pairs.push([part.name, isNone ? '' : { filename, contentType: type ?? null, size }])
      }
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw new AppError('invalid', 'The body broke off', { cause: error })
    if (error.kind === 'invalid') return { kind: 'broken', error }
    throw error
  }
  return { kind: 'form', value: grouped(pairs) }
}

async function sizeOf(body: AsyncIterable<Uint8Array> | Uint8Array): Promise<number> {
  if (body instanceof Uint8Array) return body.length
  let size = 0
  for await (const piece of body) size += piece.length
  return size
}
