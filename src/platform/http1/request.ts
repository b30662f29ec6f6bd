import { isHeaderValue } from '../../domain/names.ts'
import { OutboundError } from '../outbound/error.ts'

export type RequestBody = ReadableStream<Uint8Array> | Uint8Array | null

/** A request in its wire form. */
export type WireRequest = {
  method: string
  /** Each character is one byte. */
  head: string
  body: RequestBody
  /** The required length of a streamed body; null sends it chunked. */
  contentLength: number | null
  /** Sending it twice has the same effect as once, and the body is still available. RFC 9110 §9.2.2. */
  isRepeatable: boolean
}

type RequestParts = {
  method: string
  /** Path and query, sent byte for byte. */
  target: string
  host: string
  headers: Iterable<readonly [string, string]>
  body: RequestBody
  /** The protocol to switch to, such as `websocket`. */
  upgrade: string | null
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const ORIGIN_FORM = /^\/[\x21-\x22\x24-\x7e]*$/
const HOST = /^[\x21\x24-\x2e\x30-\x3e\x41-\x5b\x5d-\x7e]+$/
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE'])

/** This client frames the message and manages the connection, so callers cannot set these. RFC 9110 §7.6.1. */
const OWN: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Builds the head of a request. `host` in the headers replaces that of the target; `content-length` is used only for a
 * streamed body. Throws `OutboundError` `bad_request` if a name, a value or the target cannot be sent unchanged:
 * nothing with a CR, LF or NUL ever passes. RFC 9112 §3, §5.
 */
export function toWireRequest(parts: RequestParts): WireRequest {
  const { method, target, body, upgrade } = parts
  if (!TOKEN.test(method) || method === 'CONNECT') throw refuse('method')
  if (!ORIGIN_FORM.test(target)) throw refuse('path')
  const { host, lines, declaredLength } = readHeaders(parts)
  if (!HOST.test(host)) throw refuse('Host header')
  const isStream = body instanceof ReadableStream
  const framing = framingOf(method, body, declaredLength)
  const connection = upgrade === null ? '' : `connection: Upgrade\r\nupgrade: ${upgrade}\r\n`
  return {
    method,
    head: `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n${lines}${framing}${connection}\r\n`,
    body,
    contentLength: isStream ? declaredLength : null,
    isRepeatable: !isStream && upgrade === null && IDEMPOTENT.has(method),
  }
}

function readHeaders(parts: RequestParts): { host: string; lines: string; declaredLength: number | null } {
  let { host } = parts
  let lines = ''
  let declaredLength: number | null = null
  for (const [rawName, value] of parts.headers) {
    const name = wireName(rawName)
    if (name === null || !isHeaderValue(value)) throw refuse(`header ${JSON.stringify(rawName)}`)
    if (!OWN.has(name)) lines += `${name}: ${value}\r\n`
    else if (name === 'host') host = value
    else if (name === 'content-length') declaredLength = parseLength(value, declaredLength)
  }
  return { host, lines, declaredLength }
}

/** Valid names with their lower-case form: visitors' browsers only ever send a few different ones. */
const goodNames = new Map<string, string>()
const MAX_GOOD_NAMES = 500
const MAX_NAME_LENGTH = 64

/** Null for an invalid field name. */
function wireName(rawName: string): string | null {
  const known = goodNames.get(rawName)
  if (known !== undefined) return known
  if (!TOKEN.test(rawName)) return null
  const name = rawName.toLowerCase()
  if (goodNames.size >= MAX_GOOD_NAMES) goodNames.clear()
  if (rawName.length <= MAX_NAME_LENGTH) goodNames.set(rawName, name)
  return name
}

/** A body always declares its length; an empty one does so where the method expects a body. RFC 9110 §8.6. */
function framingOf(method: string, body: RequestBody, declaredLength: number | null): string {
  if (body instanceof ReadableStream)
    return declaredLength === null
      ? 'transfer-encoding: chunked\r\n'
      : `content-length: ${declaredLength}\r\n`
  if (body !== null) return `content-length: ${body.length}\r\n`
  return method === 'POST' || method === 'PUT' || method === 'PATCH' ? 'content-length: 0\r\n' : ''
}

function parseLength(value: string, before: number | null): number {
  const length = /^\d{1,15}$/.test(value) ? Number(value) : null
  if (length === null || (before !== null && before !== length)) throw refuse('header "content-length"')
  return length
}

const refuse = (what: string) => new OutboundError('bad_request', `The ${what} of the request cannot be sent`)
