import { AppError } from '../domain/errors.ts'
import {
  ByteCollector,
  type ByteStream,
  free,
  limitBytes,
  ownsMemory,
  tooLarge,
} from '../platform/byte-stream.ts'
import { parseBoundary, parsePartHeaders } from './multipart-headers.ts'

/** Read a body before requesting the next part; otherwise it is skipped. */
export type FormPart =
  | FieldPart
  | {
      kind: 'file'
      name: string
      /** As sent, including folders. */
      filename: string
      contentType: string | undefined
      body: ByteStream | Uint8Array
    }

/** `value` is the text of the bytes; throws `invalid` if they are not UTF-8. */
class FieldPart {
  readonly kind = 'field'
  readonly name: string
  readonly contentType: string | undefined
  readonly bytes: Uint8Array

  constructor(name: string, contentType: string | undefined, bytes: Uint8Array) {
    this.name = name
    this.contentType = contentType
    this.bytes = bytes
  }

  get value(): string {
    try {
      return utf8.decode(this.bytes)
    } catch (error) {
      throw new AppError('invalid', `The field ${JSON.stringify(this.name)} is not UTF-8`, { cause: error })
    }
  }
}

export type FormLimits = {
  /** For the whole body. */
  maxBytes: number
  maxFiles: number
  /** Defaults to 1,000. */
  maxFields?: number
  /** For one field; defaults to 1 MiB. */
  maxFieldBytes?: number
  /** Fields that may be larger, by name. */
  largeFields?: Readonly<Record<string, number>>
  /** The text of the headers of a part; UTF-8 without it. May throw `invalid`. */
  decodeHeaders?: (headers: Uint8Array) => string
}

/** For all fields together, not counting what `largeFields` allows: the reader keeps them in memory. */
const MAX_FIELDS_BYTES = 16 * 1024 * 1024
const MAX_HEADER_BYTES = 16 * 1024

/**
 * Yields the parts of a `multipart/form-data` body as they arrive, in the order sent. Nothing is read ahead, so a slow
 * reader slows the sender down. Throws `invalid` for a malformed or truncated body, `too_large` above a limit.
 */
export async function* readMultipart(
  body: ByteStream | null,
  contentType: string | null,
  limits: FormLimits,
): AsyncGenerator<FormPart> {
  const boundary = parseBoundary(contentType)
  if (body === null) throw new AppError('invalid', 'The request has no body; send the form in it')
  const scanner = new FormScanner(limitBytes(body, limits.maxBytes, 'The request body'), boundary)
  const counts = new FormCounts(limits)
  try {
    await scanner.skipContent() // the preamble
    while (await scanner.startPart()) {
      const headers = await scanner.takeHeaders()
      const { name, filename, contentType: type } = parsePartHeaders(headers, limits.decodeHeaders)
      if (filename === undefined) {
        yield new FieldPart(name, type, await takeField(scanner, name, counts))
      } else {
        counts.addFile()
        yield { kind: 'file', name, filename, contentType: type, body: scanner.content() }
        await scanner.skipContent()
      }
    }
    await scanner.skipRest()
  } finally {
    await scanner.close()
  }
}

async function takeField(scanner: FormScanner, name: string, counts: FormCounts): Promise<Uint8Array> {
  const maxBytes = counts.addField(name)
  const bytes = await scanner.takeContent(maxBytes, `The field ${JSON.stringify(name)}`)
  counts.spend(bytes.length)
  return bytes
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

class FormCounts {
  readonly #limits: FormLimits
  #files = 0
  #fields = 0
  #bytesLeft: number

  constructor(limits: FormLimits) {
    this.#limits = limits
    this.#bytesLeft = Object.values(limits.largeFields ?? {}).reduce(
      (sum, max) => sum + max,
      MAX_FIELDS_BYTES,
    )
  }

  addFile(): void {
    const { maxFiles } = this.#limits
    this.#files += 1
    if (this.#files > maxFiles)
      throw new AppError('too_large', `The form has more than the ${maxFiles} files allowed`)
  }

  /** Returns the maximum bytes for the field. */
  addField(name: string): number {
    const { maxFields = 1000, maxFieldBytes = 1024 * 1024, largeFields = {} } = this.#limits
    this.#fields += 1
    if (this.#fields > maxFields)
      throw new AppError('too_large', `The form has more than the ${maxFields} fields allowed`)
    const own = Object.hasOwn(largeFields, name) ? largeFields[name] : undefined
    return Math.min(own ?? maxFieldBytes, this.#bytesLeft)
  }

  spend(sizeBytes: number): void {
    this.#bytesLeft -= sizeBytes
  }
}

const CR = 0x0d
const LINE_END = Buffer.from('\r\n')
const NOTHING = Buffer.alloc(0)
const HEADERS_END = Buffer.from('\r\n\r\n')

/**
 * Scans a body from delimiter to delimiter (RFC 2046 §5.1.1). Buffers only the last chunk and the part of the one
 * before that could still be the start of a delimiter.
 */
class FormScanner {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #delimiter: Buffer
  /** Starts with the line end that may be missing before the first delimiter. */
  #buffer: Buffer = LINE_END
  #at = 0
  #isInContent = true
  #partCount = 0

  constructor(chunks: AsyncIterable<Uint8Array>, boundary: string) {
    this.#chunks = chunks[Symbol.asyncIterator]()
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
  }

  /** Skips the end of a delimiter; false if it was the closing one. */
  async startPart(): Promise<boolean> {
    await this.#need(2)
    if (this.#startsWith(Buffer.from('--'))) return false
    while (this.#buffer[this.#at] === 0x20 || this.#buffer[this.#at] === 0x09) {
      this.#at += 1
      await this.#need(2)
    }
    if (!this.#startsWith(LINE_END))
      throw new AppError('invalid', 'The form is malformed: a boundary is not followed by a line end')
    this.#partCount += 1
    return true
  }

  /** Returns the lines up to the empty one, without the last line end. */
  async takeHeaders(): Promise<Uint8Array> {
    let end = this.#buffer.indexOf(HEADERS_END, this.#at)
    for (; end < 0; end = this.#buffer.indexOf(HEADERS_END, this.#at)) {
      if (this.#buffer.length - this.#at > MAX_HEADER_BYTES) break
      await this.#fill()
    }
    if (end < 0 || end - this.#at > MAX_HEADER_BYTES)
      throw new AppError('invalid', 'The form has a part with more than 16 KiB of headers')
    const headers = this.#buffer.subarray(this.#at + LINE_END.length, end)
    this.#at = end + LINE_END.length
    // An empty part may end in a delimiter whose line end is also the empty line.
    await this.#need(this.#delimiter.length)
    if (!this.#startsWith(this.#delimiter)) this.#at += LINE_END.length
    this.#isInContent = true
    return headers
  }

  /** Returns the part's content, as one array if it has already arrived. */
  content(): AsyncIterable<Uint8Array> | Uint8Array {
    return this.#takeLast() ?? this.#pieces(this.#partCount)
  }

  async takeContent(maxBytes: number, what: string): Promise<Uint8Array> {
    const collector = new ByteCollector()
    for await (const piece of this.#pieces(this.#partCount)) {
      collector.push(piece)
      if (collector.sizeBytes > maxBytes) throw tooLarge(what, maxBytes)
    }
    return collector.bytes()
  }

  async skipContent(): Promise<void> {
    if (this.#isInContent) for await (const _ of this.#pieces(this.#partCount));
  }

  /** Reads what follows the closing delimiter, so that the sender gets a response instead of a broken connection. */
  async skipRest(): Promise<void> {
    while (!(await this.#chunks.next()).done);
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  async *#pieces(part: number): AsyncGenerator<Uint8Array> {
    while (true) {
      if (part !== this.#partCount) throw new Error('A part was read after the next one was requested')
      const last = this.#takeLast()
      if (last !== undefined) {
        if (last.length > 0) yield last
        return
      }
      const safe = this.#takeSafe()
      if (safe.length > 0) yield safe
      else await this.#fill()
    }
  }

  /** Returns what precedes the next delimiter, if that has arrived; this ends the content. */
  #takeLast(): Uint8Array | undefined {
    const end = this.#buffer.indexOf(this.#delimiter, this.#at)
    if (end < 0) return undefined
    const last = this.#buffer.subarray(this.#at, end)
    this.#at = end + this.#delimiter.length
    this.#isInContent = false
    return last
  }

  /** Returns what has arrived, except an end that may be the start of a delimiter. */
  #takeSafe(): Uint8Array {
    const start = Math.max(this.#at, this.#buffer.length - this.#delimiter.length + 1)
    const doubtful = this.#buffer.indexOf(CR, start)
    const end = doubtful < 0 ? this.#buffer.length : doubtful
    if (this.#at === 0 && end > 0 && ownsMemory(this.#buffer)) return this.#giveAway(this.#buffer, end)
    const safe = this.#buffer.subarray(this.#at, end)
    this.#at = end
    return safe
  }

  /** Takes the start of a chunk of which nobody has seen anything, with its memory: who reads it may free it. */
  #giveAway(chunk: Uint8Array<ArrayBuffer>, end: number): Uint8Array {
    this.#buffer = end === chunk.length ? NOTHING : Buffer.from(chunk.subarray(end))
    return end === chunk.length ? chunk : new Uint8Array(chunk.buffer.transfer(end))
  }

  #startsWith(bytes: Buffer): boolean {
    return this.#buffer.subarray(this.#at, this.#at + bytes.length).equals(bytes)
  }

  async #need(count: number): Promise<void> {
    while (this.#buffer.length - this.#at < count) await this.#fill()
  }

  async #fill(): Promise<void> {
    const next = await this.#chunks.next()
    if (next.done) throw new AppError('invalid', 'The form was cut off: its closing boundary is missing')
    const rest = this.#buffer.subarray(this.#at)
    const { buffer, byteOffset, byteLength } = next.value
    const chunk = Buffer.from(buffer, byteOffset, byteLength)
    this.#buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    if (rest.length > 0) free(next.value)
    this.#at = 0
  }
}
