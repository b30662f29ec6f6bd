import type { ErrorDetail } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { isHeaderValue } from '../../../domain/names.ts'
import { constantOf } from './words.ts'

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Why a header cannot be sent, or null. */
export function flawOfHeader(name: string, value: string): string | null {
  if (!TOKEN.test(name)) return 'is not a header name'
  return isHeaderValue(value)
    ? null
    : 'must not have line breaks, control characters or characters above U+00FF'
}

const ADDRESSES: ReadonlySet<string> = new Set(['location', 'content-location'])

/** Everything that a URI cannot contain, and a `%` that encodes nothing. RFC 3986 §2. */
const NOT_IN_URI = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9_.~:/?#[\]@!$&'()*+,;=%-]/gu

/** As it is sent: an address is percent-encoded where it must be, so that a visitor's text in it does no harm. */
export const sentValue = (name: string, value: string): string =>
  ADDRESSES.has(name.toLowerCase()) ? value.trim().replaceAll(NOT_IN_URI, encoded) : value

const encoded = (char: string): string =>
  [...Buffer.from(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')

/** Checks names, and values that are written out. Computed ones are checked when the step runs. */
export function checkHeaders(headers: unknown): ErrorDetail[] {
  return Object.entries(isRecord(headers) ? headers : {}).flatMap(([name, given]) => {
    const values = [given].flat().map(constantOf)
    const flaws = values.map((value) =>
      flawOfHeader(name, typeof value === 'string' ? sentValue(name, value) : ''),
    )
    const message = flaws.find((flaw) => flaw !== null)
    return message === undefined ? [] : [{ path: `headers.${name}`, message }]
  })
}
