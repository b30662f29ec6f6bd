import { parseHttpDate } from './http-date.ts'

/** The request's method and preconditions; null if the header is absent. */
type ConditionalRequest = {
  method: string
  ifMatch: string | null
  ifNoneMatch: string | null
  ifModifiedSince: string | null
  ifUnmodifiedSince: string | null
}

/**
 * The validators of the representation: `etag` with its quotes (and `W/` if weak), `lastModified` in milliseconds.
 * Before `shownSince` (milliseconds) the same URL may have shown something newer, as with an alias that was rolled
 * back.
 */
type Validators = { etag: string; lastModified: number; shownSince: number }

export type ConditionalDecision = 'proceed' | 'not_modified' | 'precondition_failed'

/** Both ends are inclusive and lie inside the representation. */
export type ByteRange = { start: number; end: number }

type RangeResult =
  | { readonly kind: 'none' }
  | { readonly kind: 'unsatisfiable' }
  | { readonly kind: 'ranges'; readonly ranges: readonly ByteRange[] }

const NONE: RangeResult = { kind: 'none' }
const UNSATISFIABLE: RangeResult = { kind: 'unsatisfiable' }

/** A header with more ranges is ignored, as RFC 9110 §14.2 allows: no player requests that many. */
const MAX_RANGES = 64

/**
 * Evaluates the preconditions of a request for an existing file, in the order of RFC 9110 §13.2.2: `not_modified` is
 * 304, `precondition_failed` 412. Unreadable dates count as absent.
 */
export function decideConditional(request: ConditionalRequest, current: Validators): ConditionalDecision {
  if (request.ifMatch !== null) {
    if (!listHasTag(request.ifMatch, current.etag, true)) return 'precondition_failed'
  } else if (request.ifUnmodifiedSince !== null) {
    if (isModifiedSince(request.ifUnmodifiedSince, current) === true) return 'precondition_failed'
  }

  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (request.ifNoneMatch !== null) {
    if (!listHasTag(request.ifNoneMatch, current.etag, false)) return 'proceed'
    return isRead ? 'not_modified' : 'precondition_failed'
  }
  if (isRead && request.ifModifiedSince !== null) {
    if (isModifiedSince(request.ifModifiedSince, current) === false) return 'not_modified'
  }
  return 'proceed'
}

/**
 * Parses a `Range` header for `size` bytes. RFC 9110 §14. Returns `none`, so that the whole file is sent, for a
 * malformed header, another unit, an empty file or more than 64 ranges. Overlapping ranges are merged and sorted;
 * others keep the requested order.
 */
export function parseRange(header: string | null, size: number): RangeResult {
  if (header === null || size === 0) return NONE
  const equals = header.indexOf('=')
  if (equals !== 5 || header.slice(0, equals).toLowerCase() !== 'bytes') return NONE

  const ranges: ByteRange[] = []
  let specs = 0
  for (const part of header.slice(equals + 1).split(',', MAX_RANGES + 1)) {
    const spec = part.trim()
    if (spec === '') continue
    specs += 1
    const range = parseRangeSpec(spec, size)
    if (range === undefined) return NONE
    if (range !== null) ranges.push(range)
  }
  if (specs === 0 || specs > MAX_RANGES) return NONE
  return ranges.length === 0 ? UNSATISFIABLE : { kind: 'ranges', ranges: joinOverlapping(ranges) }
}

/**
 * Whether `If-Range` allows a partial response: it is absent, or has the same strong tag or exactly the same second.
 * RFC 9110 §13.1.5. If false, the whole file is sent with 200. `lastModified` null: no date can be relied on.
 */
export function ifRangeAllows(ifRange: string | null, etag: string, lastModified: number | null): boolean {
  if (ifRange === null) return true
  const value = ifRange.trim()
  if (value.startsWith('"') || value.startsWith('W/')) return value === etag && !isWeak(etag)
  const date = parseHttpDate(value)
  return date !== null && lastModified !== null && date === wholeSeconds(lastModified)
}

/** Null if the date is unreadable. HTTP dates have no milliseconds, so the comparison ignores them. */
function isModifiedSince(date: string, { lastModified, shownSince }: Validators): boolean | null {
  const since = parseHttpDate(date.trim())
  if (since === null) return null
  return since !== wholeSeconds(lastModified) && wholeSeconds(Math.max(lastModified, shownSince)) > since
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}

function isWeak(etag: string): boolean {
  return etag.startsWith('W/')
}

/** Whether `*` or a list of entity tags includes `etag`. A comma inside quotes is part of the tag. */
function listHasTag(list: string, etag: string, strong: boolean): boolean {
  const weakTag = isWeak(etag)
  if (list === etag) return !(strong && weakTag)
  if (list.trim() === '*') return true

  const opaque = weakTag ? etag.slice(2) : etag
  let at = 0
  while (at < list.length) {
    const weak = list.startsWith('W/', at)
    const open = weak ? at + 2 : at
    if (list.charCodeAt(open) !== 0x22) {
      at += 1
      continue
    }
    const close = list.indexOf('"', open + 1)
    if (close === -1) return false
    const counts = !(strong && (weak || weakTag))
    if (counts && close - open + 1 === opaque.length && list.startsWith(opaque, open)) return true
    at = close + 1
  }
  return false
}

/** Undefined: malformed. Null: well-formed, but outside the file. */
function parseRangeSpec(spec: string, size: number): ByteRange | null | undefined {
  const dash = spec.indexOf('-')
  if (dash === -1) return undefined
  const first = position(spec, 0, dash)
  const last = position(spec, dash + 1, spec.length)
  if (first === undefined || last === undefined) return undefined

  if (first === null) {
    if (last === null) return undefined
    return last === 0 ? null : { start: Math.max(0, size - last), end: size - 1 }
  }
  if (last !== null && last < first) return undefined
  if (first >= size) return null
  return { start: first, end: last === null ? size - 1 : Math.min(last, size - 1) }
}

/** The digits from `from` to `to` as a number (inexact above 2^53, larger than any file); null if there are none. */
function position(spec: string, from: number, to: number): number | null | undefined {
  if (from === to) return null
  let value = 0
  for (let i = from; i < to; i++) {
    const digit = spec.charCodeAt(i) - 0x30
    if (!(digit >= 0 && digit <= 9)) return undefined
    value = value * 10 + digit
  }
  return value
}

function joinOverlapping(ranges: ByteRange[]): ByteRange[] {
  if (ranges.length === 1) return ranges
  const joined: ByteRange[] = []
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const previous = joined.at(-1)
    if (previous !== undefined && range.start <= previous.end)
      previous.end = Math.max(previous.end, range.end)
    else joined.push({ ...range })
  }
  return joined.length === ranges.length ? ranges : joined
}
