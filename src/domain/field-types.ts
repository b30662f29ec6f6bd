import { isIsoDate, isoTime, parseDateTime } from './iso-time.ts'
import { parseWebUrl } from './web-url.ts'

/** Types of schema fields and, except `text` and `datetime`, of form fields. contract §9.3 and §9.4. */
export const FIELD_TYPES = [
  'string',
  'text',
  'email',
  'url',
  'number',
  'integer',
  'boolean',
  'date',
  'datetime',
  'json',
] as const
export type FieldType = (typeof FIELD_TYPES)[number]

type Checked = { ok: true; value: unknown } | { ok: false; message: string }

/** Maximum nesting of a `json` value. SQLite accepts 1000. */
const DEEPEST = 100
/**
 * Maximum number of characters in one, approximately. A repeated value counts each time, because it is written each
 * time.
 */
const LARGEST = 16 * 1024 * 1024

const EMAIL = /^[^\s@"<>(),:;[\]\\]{1,64}@(?=.{1,253}$)[^\s@"<>(),:;[\]\\.]+(\.[^\s@"<>(),:;[\]\\.]+)+$/
/** Checks that a value has the type and returns the value to store. A `datetime` is stored in UTC with milliseconds. */
export function checkFieldValue(type: FieldType, value: unknown): Checked {
  switch (type) {
    case 'string':
    case 'text':
      return typeof value === 'string' ? ok(value) : bad('must be a text')
    case 'email':
      return isMatch(value, EMAIL) ? ok(value) : bad('must be an email address')
    case 'url':
      return isWebUrl(value) ? ok(value) : bad('must be a URL that starts with https:// or http://')
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? ok(value) : bad('must be a number')
    case 'integer':
      return Number.isSafeInteger(value) ? ok(value) : bad('must be a whole number')
    case 'boolean':
      return typeof value === 'boolean' ? ok(value) : bad('must be true or false')
    case 'date':
      return typeof value === 'string' && isIsoDate(value)
        ? ok(value)
        : bad('must be a date such as 2026-11-20')
    case 'datetime':
      return checkDateTime(value)
    case 'json':
      return checkJson(value)
  }
}

/** The same for the text of a form or query: `5` becomes a number, `on` a ticked box. */
export function convertFieldText(type: FieldType, text: string): Checked {
  switch (type) {
    case 'number':
    case 'integer':
      return checkFieldValue(
        type,
        /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/.test(text) ? Number(text) : text,
      )
    case 'boolean':
      return checkFieldValue(type, BOOLEANS.get(text.trim().toLowerCase()) ?? text)
    case 'json':
      return parseJson(text)
    case 'email':
    case 'url':
    case 'date':
    case 'datetime':
      return checkFieldValue(type, text.trim())
    default:
      return checkFieldValue(type, text)
  }
}

const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['on', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['off', false],
  ['no', false],
])

const ok = (value: unknown): Checked => ({ ok: true, value })
const bad = (message: string): Checked => ({ ok: false, message })

const isMatch = (value: unknown, pattern: RegExp): boolean => typeof value === 'string' && pattern.test(value)

function isWebUrl(value: unknown): boolean {
  return isMatch(value, /^https?:\/\/\S*$/i) && parseWebUrl(String(value)) !== null
}

function checkDateTime(value: unknown): Checked {
  const at = typeof value === 'string' ? parseDateTime(value) : null
  return at === null ? bad('must be a date and time such as 2026-11-20T12:00:00Z') : ok(isoTime(at))
}

function parseJson(text: string): Checked {
  if (nestingOf(text) > DEEPEST) return bad(`must be JSON, at most ${DEEPEST} levels deep`)
  try {
    return ok(JSON.parse(text))
  } catch {
    return bad('must be JSON')
  }
}

/** How deeply a JSON text nests: counts brackets outside of strings, without parsing. */
export function nestingOf(json: string): number {
  let depth = 0
  let deepest = 0
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (code === 0x22) i = endOfString(json, i)
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x5d || code === 0x7d) depth--
  }
  return deepest
}

/** The index of the quote that closes the string opened at `start`; the length of the text if none does. */
function endOfString(json: string, start: number): number {
  for (let quote = start; ; ) {
    quote = json.indexOf('"', quote + 1)
    if (quote === -1) return json.length
    let backslashes = 0
    while (json.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes++
    if (backslashes % 2 === 0) return quote
  }
}

function checkJson(value: unknown): Checked {
  const room = { left: LARGEST }
  if (isShallow(value, DEEPEST, room)) return ok(value)
  return bad(room.left < 0 ? 'is too large' : `must be JSON, at most ${DEEPEST} levels deep`)
}

/** Whether JSON can represent the value, it nests at most `levels` deep, and it fits into the remaining room. */
function isShallow(value: unknown, levels: number, room: { left: number }): boolean {
  if (value === null || typeof value === 'boolean') return true
  if (typeof value === 'string') return takes(room, value)
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || levels === 0) return false
  const isFit = (inner: unknown, key: string) => takes(room, key) && isShallow(inner, levels - 1, room)
  return Array.isArray(value)
    ? value.every((inner) => isFit(inner, ''))
    : Object.entries(value).every(([key, inner]) => isFit(inner, key))
}

function takes(room: { left: number }, text: string): boolean {
  room.left -= text.length + 2
  return room.left >= 0
}
