import { AppError } from '../domain/errors.ts'

/** The headers of one part of a form. A part with a `filename`, even an empty one, is a file. */
type PartHeaders = { name: string; filename: string | undefined; contentType: string | undefined }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The boundary of a `multipart/form-data` content type. RFC 2046 §5.1.1 */
export function parseBoundary(contentType: string | null): string {
  const { value, parameters } = parseHeader(contentType ?? '')
  if (value.toLowerCase() !== 'multipart/form-data')
    throw new AppError('invalid', 'Send the upload as multipart/form-data')
  const boundary = parameters.get('boundary') ?? ''
  if (!/^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/.test(boundary))
    throw new AppError(
      'invalid',
      'The content type multipart/form-data needs a boundary of 1 to 70 characters',
    )
  return boundary
}

/** The `charset` of a content type; null if it has none. */
export function charsetOf(contentType: string | null | undefined): string | null {
  if (!contentType?.includes(';')) return null
  const [, quoted, token] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]*))/i.exec(contentType) ?? []
  return quoted || token || null
}

/** RFC 7578 §4.2. `decode`: the names are UTF-8 without it. */
export function parsePartHeaders(
  block: Uint8Array,
  decode: (block: Uint8Array) => string = decodeUtf8,
): PartHeaders {
  const headers = new Map<string, string>()
  for (const line of decode(block).split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon <= 0) throw new AppError('invalid', 'The form has a part with a malformed header')
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  const { value, parameters } = parseHeader(headers.get('content-disposition') ?? '')
  const name = parameters.get('name')
  if (value.toLowerCase() !== 'form-data' || name === undefined)
    throw new AppError('invalid', 'The form has a part without a name')
  checkEncoding(name, headers.get('content-transfer-encoding'))
  const extended = parameters.get('filename*')
  const filename = extended === undefined ? parameters.get('filename') : decodeExtended(extended)
  return {
    name: unescapeName(name),
    filename: extended === undefined && filename !== undefined ? unescapeName(filename) : filename,
    contentType: headers.get('content-type'),
  }
}

/**
 * `; key="quoted"`, the same up to the next quote (a path may end in a backslash), or `; key=token`. Within each of the
 * three forms the match is unambiguous: otherwise backtracking could take exponential time.
 */
const PARAMETER =
  /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\["\\]|\\(?!["\\]))*)"|"([^"]*)"|([^\s;"]*))\s*(?=;|$)/

/**
 * Parses `value; key=token; key="quoted"`. Within quotes a backslash escapes only `"` and `\`, because paths contain
 * other backslashes.
 */
function parseHeader(text: string): { value: string; parameters: Map<string, string> } {
  const parameters = new Map<string, string>()
  const [value = ''] = text.split(';', 1)
  const pattern = new RegExp(PARAMETER, 'gy')
  pattern.lastIndex = value.length
  let end = value.length
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [whole, key = '', strict, loose, token = ''] = match
    end += whole.length
    const parameter = (strict ?? loose)?.replace(/\\(["\\])/g, '$1') ?? token
    if (!parameters.has(key.toLowerCase())) parameters.set(key.toLowerCase(), parameter)
  }
  if (!/^[;\s]*$/.test(text.slice(end)))
    throw new AppError('invalid', `A form part has a malformed header: ${text.slice(0, 200)}`)
  return { value: value.trim(), parameters }
}

/** Browsers and curl percent-encode only the three characters that would end a quoted name (HTML standard). */
function unescapeName(name: string): string {
  return name.replace(/%22|%0A|%0D/gi, (escaped) => decodeURIComponent(escaped))
}

/** `UTF-8''percent-encoded`. RFC 8187 §3.2 */
function decodeExtended(value: string): string {
  const [, charset = '', encoded = ''] = /^([^']*)'[^']*'(.*)$/.exec(value) ?? []
  try {
    if (charset.toLowerCase() === 'utf-8') return decodeURIComponent(encoded)
    if (charset.toLowerCase() === 'iso-8859-1')
      return encoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      )
  } catch {
    // Rejected below, like any other unreadable name.
  }
  throw new AppError('invalid', `The form has an unreadable file name: ${value.slice(0, 200)}`)
}

/** RFC 7578 §4.7 deprecates the header. Bytes in another encoding would be stored wrong. */
function checkEncoding(name: string, encoding: string | undefined): void {
  if (encoding === undefined || /^(7bit|8bit|binary)$/i.test(encoding)) return
  throw new AppError('invalid', `The part ${name} uses the transfer encoding ${encoding}; send it as binary`)
}

function decodeUtf8(block: Uint8Array): string {
  try {
    return utf8.decode(block)
  } catch (error) {
    throw new AppError('invalid', 'The form has a part whose headers are not UTF-8', { cause: error })
  }
}
