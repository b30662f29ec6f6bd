import type { HeaderPair } from '../../domain/forward-headers.ts'

/** How to find the end of a message. RFC 9112 §6.3. */
export type Framing =
  | { kind: 'none' }
  | { kind: 'length'; length: number }
  | { kind: 'chunked' }
  | { kind: 'close' }

/** Must not be modified: all responses with the same head share one object. */
export type ResponseHead = {
  readonly status: number
  /** Names in lower case, values without surrounding white space. */
  readonly headers: readonly HeaderPair[]
  /** For a response to a method that allows a body; see `hasNoBody`. */
  readonly framing: Framing
  /** Whether the connection can take another request. */
  readonly isPersistent: boolean
  /** How long the other end keeps an idle connection, if it says so. */
  readonly keepAliveSeconds: number | null
}

/** The response is not valid HTTP/1.1. The message completes "… sent". */
export class Http1Error extends Error {}

export const MAX_HEAD_BYTES = 64 * 1024
export const MAX_FIELDS = 200

const STATUS_LINE = 'HTTP/1\\.[01] [1-5]\\d\\d(?: [\\t\\x20-\\x7e\\x80-\\xff]*)?\\r\\n'
const LINE = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+:[\\t\\x20-\\x7e\\x80-\\xff]*\\r\\n"
const FIELD = new RegExp(LINE, 'y')
const HEAD = new RegExp(`^${STATUS_LINE}(?:${LINE}){0,${MAX_FIELDS}}$`)
const STARTS_WELL = new RegExp(`^${STATUS_LINE}`)
const BARE_LF = /(?<!\r)\n/g
const SPACE_BEFORE_COLON = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[\t ]+:/gm
/** The positions in a valid status line. */
const VERSION_AT = 'HTTP/1.'.length
const STATUS_AT = 'HTTP/1.1 '.length

/**
 * Parses the status line and fields. `text` ends with the line end of the last field. Lines may end with LF alone, and
 * white space before a colon is dropped (RFC 9112 §2.2, §5.1). Throws `Http1Error` for anything that two parsers could
 * read differently: bare CR, folded lines, a repeated length, a length beside a transfer coding. RFC 9112 §4 to §6.
 */
export function parseResponseHead(given: string): ResponseHead {
  // One check of all lines is far faster than one per line; afterwards they only need splitting.
  const text = HEAD.test(given) ? given : tidied(given)
  if (text !== given && !HEAD.test(text)) throw new Http1Error(describeBadHead(text))
  const isHttp10 = text[VERSION_AT] === '0'
  const headers = cutFields(text, text.indexOf('\r\n') + 2)
  const found = interpret(headers)
  if (isHttp10 && found.isChunked) throw new Http1Error('a transfer coding with HTTP/1.0')
  return {
    status: Number(text.slice(STATUS_AT, STATUS_AT + 3)),
    headers,
    framing: framingOf(found),
    isPersistent: found.isClosing ? false : !isHttp10 || found.isKeptAlive,
    keepAliveSeconds: found.keepAliveSeconds,
  }
}

/** Responses to HEAD, and 1xx, 204 and 304, have no body whatever their fields say. RFC 9112 §6.3. */
export function hasNoBody(method: string, status: number): boolean {
  return method === 'HEAD' || status < 200 || status === 204 || status === 304
}

/** The head as it should have been sent. */
function tidied(given: string): string {
  const text = given.replaceAll(BARE_LF, '\r\n').replaceAll(SPACE_BEFORE_COLON, '$1:')
  if (text === given) throw new Http1Error(describeBadHead(text))
  return text
}

function cutFields(text: string, start: number): HeaderPair[] {
  const headers: HeaderPair[] = []
  for (let at = start; at < text.length; ) {
    const colon = text.indexOf(':', at)
    const end = text.indexOf('\r\n', colon)
    headers.push([text.slice(at, colon).toLowerCase(), withoutSpaceAround(text, colon + 1, end)])
    at = end + 2
  }
  return headers
}

const isSpace = (code: number) => code === 32 || code === 9

/** Strips space and tab only: `trim` would also strip a no-break space. */
function withoutSpaceAround(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function describeBadHead(text: string): string {
  if (!STARTS_WELL.test(text)) return 'a status line that is not HTTP/1.1'
  const start = text.indexOf('\r\n') + 2
  FIELD.lastIndex = start
  let fields = 0
  let at = start
  while (at < text.length && FIELD.test(text)) {
    at = FIELD.lastIndex
    fields += 1
  }
  if (fields > MAX_FIELDS) return `more than ${MAX_FIELDS} header fields`
  return isSpace(text.charCodeAt(at)) ? 'a folded header line' : 'a header line that is not one'
}

type Found = {
  contentLength: number | null
  isChunked: boolean
  isClosing: boolean
  isKeptAlive: boolean
  keepAliveSeconds: number | null
}

function interpret(headers: readonly HeaderPair[]): Found {
  const found: Found = {
    contentLength: null,
    isChunked: false,
    isClosing: false,
    isKeptAlive: false,
    keepAliveSeconds: null,
  }
  for (const [name, value] of headers) {
    if (name === 'content-length') readLength(found, value)
    else if (name === 'transfer-encoding') readCoding(found, value)
    else if (name === 'connection') readConnection(found, value.toLowerCase())
    else if (name === 'keep-alive') readKeepAlive(found, value)
  }
  return found
}

/** Requires one field with one number: also rejects repeated equal lengths, which RFC 9110 §8.6 leaves open. */
function readLength(found: Found, value: string): void {
  if (found.contentLength !== null) throw new Http1Error('its length more than once')
  if (!/^\d{1,15}$/.test(value)) throw new Http1Error('a length that is not a number')
  found.contentLength = Number(value)
}

function readCoding(found: Found, value: string): void {
  if (found.isChunked || value.toLowerCase() !== 'chunked')
    throw new Http1Error('a transfer coding other than chunked')
  found.isChunked = true
}

function readConnection(found: Found, value: string): void {
  for (const option of value.split(',')) {
    if (option.trim() === 'close') found.isClosing = true
    if (option.trim() === 'keep-alive') found.isKeptAlive = true
  }
}

function readKeepAlive(found: Found, value: string): void {
  const seconds = /(?:^|[,\s])timeout=(\d{1,6})/i.exec(value)?.[1]
  if (seconds !== undefined) found.keepAliveSeconds = Number(seconds)
}

function framingOf({ contentLength, isChunked }: Found): Framing {
  if (isChunked && contentLength !== null) throw new Http1Error('both a length and a transfer coding')
  if (isChunked) return { kind: 'chunked' }
  return contentLength === null ? { kind: 'close' } : { kind: 'length', length: contentLength }
}
