import type { Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import { heldBody, readBody, skipBody } from '../http/held-body.ts'
import { type FormLimits, type FormPart, readMultipart } from '../http/multipart.ts'
import { charsetOf } from '../http/multipart-headers.ts'
import { parseJson } from '../http/parse-json.ts'
import { type ByteStream, tooLarge } from '../platform/byte-stream.ts'
import { MAX_BODY_BYTES } from './body-bounds.ts'
import { formPairs } from './form-pairs.ts'
import { FormParts } from './form-parts.ts'
import type { PipelineBody, PipelineInput } from './input.ts'
import type { FormFile, UploadedFile } from './uploaded-file.ts'

/** The most fields of an urlencoded form: each costs far more than its bytes. */
const MAX_FIELDS = 10_000
const UTF8 = new TextDecoder()
/** Keeps a byte order mark, for code that looks at each byte. */
const EXACT_UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })
const FORM: FormLimits = { maxBytes: MAX_BODY_BYTES, maxFiles: 100, maxFieldBytes: MAX_BODY_BYTES }

/** `rawBody` is the text as sent; missing without a body and for multipart, which is not kept. */
export type ReadBody = Pick<PipelineInput, 'body' | 'rawBody' | 'file'>

/**
 * Parses the body by its content type: JSON, a form or text. Throws 413 for one that is too large. `formFile`: what becomes
 * of the file of a form; null if no step takes one.
 */
export async function readPipelineBody(
  ctx: Context,
  request: Request,
  formFile: () => FormFile | null,
): Promise<ReadBody> {
  if (request.method === 'GET' || request.method === 'HEAD') {
    await skipBody(ctx, request)
    return { body: { kind: 'none' } }
  }
  const contentType = request.headers.get('content-type')
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'multipart/form-data') return new FormReader(ctx, request, formFile()).read(contentType)
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
 * Of a file, only name, type and size are kept, but for the first called `file` if a step takes it. Browsers also send file
 * inputs without a file.
 */
class FormReader {
  readonly #ctx: Context
  readonly #request: Request
  readonly #formFile: FormFile | null
  readonly #parts = new FormParts()
  /** Of all that does not go to the disk. */
  #bytesLeft = MAX_BODY_BYTES
  #file: UploadedFile | undefined

  constructor(ctx: Context, request: Request, formFile: FormFile | null) {
    this.#ctx = ctx
    this.#request = request
    this.#formFile = formFile
  }

  async read(contentType: string | null): Promise<ReadBody> {
    try {
      await this.#readParts(contentType)
    } catch (given) {
      await this.#file?.discard()
      const error =
        given instanceof AppError
          ? given
          : new AppError('invalid', 'The request body ended too early', { cause: given })
      // A sender whose connection failed gets no answer, so nothing may happen either.
      if (error.kind === 'invalid' && !this.#request.signal.aborted)
        return { body: { kind: 'broken', error } }
      throw error
    }
    const body = orBroken(() => ({ kind: 'form', value: grouped(this.#parts.pairs()) }))
    return this.#file === undefined ? { body } : { body, file: this.#file }
  }

  async #readParts(contentType: string | null): Promise<void> {
    const parts = this.#parts
    parts.charset = charsetOf(contentType)
    const maxBytes = MAX_BODY_BYTES + (this.#formFile?.maxBytes ?? 0)
    const form = { ...FORM, maxBytes, decodeHeaders: parts.decodeHeaders }
    for await (const part of readMultipart(heldBody(this.#ctx, this.#request), contentType, form)) {
      if (part.kind === 'field') {
        this.#count(part.bytes.length)
        parts.addField(part)
      } else {
        const { filename, contentType: type } = part
        const size = await this.#take(part)
        const isNone = filename === '' && size === 0
        parts.addFile(part.name, isNone ? '' : { filename, contentType: type ?? null, size })
      }
    }
  }

  async #take(part: FormPart & { kind: 'file' }): Promise<number> {
    const isTaken = this.#file === undefined && part.name === 'file' && part.filename !== ''
    if (this.#formFile === null || !isTaken) return this.#sizeOf(part.body)
    this.#file = await this.#formFile.store(this.#request, part)
    return this.#file.size
  }

  async #sizeOf(body: ByteStream | Uint8Array): Promise<number> {
    if (body instanceof Uint8Array) return this.#count(body.length)
    let size = 0
    for await (const piece of body) size += this.#count(piece.length)
    return size
  }

  #count(bytes: number): number {
    this.#bytesLeft -= bytes
    if (this.#bytesLeft < 0) throw tooLarge('The form without its file', MAX_BODY_BYTES)
    return bytes
  }
}
