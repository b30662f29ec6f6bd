import { charsetOf } from '../http/multipart-headers.ts'
import { CHARSET_FIELD, fieldDecoder } from './form-charset.ts'

type Field = { name: string; bytes: Uint8Array; contentType: string | undefined }

/**
 * The parts of a `multipart/form-data` body. Their encoding is known when all have arrived: that of the part itself, else that
 * of the body, else what the field `_charset_` says, else UTF-8. RFC 7578 §4.6 and §5.1.2.
 */
export class FormParts {
  /** Of the content type of the body. */
  charset: string | null = null
  readonly #parts: (Field | { name: string; file: unknown })[] = []

  addField(field: Field): void {
    this.#parts.push(field)
    if (field.name === CHARSET_FIELD) this.charset ??= latin1Of(field.bytes) || null
  }

  addFile(name: string, file: unknown): void {
    this.#parts.push({ name, file })
  }

  /** A name can only be decoded by what was said before it. */
  readonly decodeHeaders = (headers: Uint8Array): string =>
    fieldDecoder(this.charset)(headers, 'The name of a field')

  /** Throws 400 naming the field whose bytes do not fit. */
  pairs(): [string, unknown][] {
    const decode = fieldDecoder(this.charset)
    return this.#parts.map((part) => {
      if ('file' in part) return [part.name, part.file]
      const own = charsetOf(part.contentType)
      return [part.name, (own === null ? decode : fieldDecoder(own))(part.bytes, part.name)]
    })
  }
}

const latin1Of = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1').trim()
