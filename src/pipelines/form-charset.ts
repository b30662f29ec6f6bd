import { AppError } from '../domain/errors.ts'

/** The field of a form that names the encoding of the others. HTML §4.10.18.5; RFC 7578 §4.6. */
export const CHARSET_FIELD = '_charset_'

/** The text of the bytes of a field. Throws 400 naming the field if they do not fit the encoding. */
export type DecodeField = (bytes: Uint8Array, field: string) => string

/** Decodes by the labels of the WHATWG Encoding standard, as UTF-8 without one. Throws 400 for an unknown label. */
export function fieldDecoder(label: string | null): DecodeField {
  if (label === null) return decodeUtf8
  const shown = JSON.stringify(label.slice(0, 100))
  try {
    const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true })
    return decoder.encoding === 'utf-8' ? decodeUtf8 : decoderOf(decoder)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const message = `The form says that its encoding is ${shown}, which is not known: send it as UTF-8`
    throw new AppError('invalid', message, { details: [{ path: CHARSET_FIELD, message }] })
  }
}

const decoderOf =
  (decoder: TextDecoder): DecodeField =>
  (bytes, field) => {
    try {
      return decoder.decode(bytes)
    } catch (error) {
      const message = `${field.slice(0, 200)} is not ${decoder.encoding.toUpperCase()}: send the form as UTF-8, or say its encoding`
      throw new AppError('invalid', message, {
        details: [{ path: field, message }],
        cause: error,
      })
    }
  }

export const decodeUtf8: DecodeField = decoderOf(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }))
