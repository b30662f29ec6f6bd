import { BodyTemplate, Each } from './language/handler.ts'
import { plain } from './language/json-text.ts'

/** What the run log keeps of a step while its rule is being debugged. */
export type StepTrace = {
  id: string
  handler: string
  durationMs: number
  skipped: boolean
  input: unknown
  output: unknown
  error: string | null
  /** Input and output are kept from this reader, because the pipeline names a secret. */
  redacted?: true
}

const MASK = '[redacted]'
const MAX_TEXT = 2000
const MAX_ITEMS = 50
const MAX_DEPTH = 8

/** A copy for the log, with secrets masked everywhere and cut to a reasonable size. */
export function masked(value: unknown, secrets: ReadonlySet<string>): unknown {
  const needles = [...secrets].flatMap(writtenForms).sort((a, b) => b.length - a.length)
  return copy(value, [...new Set(needles)], MAX_DEPTH)
}

/** As it is, in JSON, in a URL and in HTML. */
const writtenForms = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret.toWellFormed()),
  secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;'),
]

function copy(given: unknown, needles: readonly string[], depth: number): unknown {
  const value =
    given instanceof BodyTemplate ? given.text : given instanceof Each ? given.written : plain(given)
  if (typeof value === 'string')
    return cut(needles.reduce((text, needle) => text.replaceAll(needle, MASK), value))
  if (typeof value === 'number' && needles.includes(String(value))) return MASK
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return '…'
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => copy(item, needles, depth - 1))
    return value.length > MAX_ITEMS ? [...items, `… ${value.length - MAX_ITEMS} more`] : items
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_ITEMS)
      .map(([key, inner]) => [String(copy(key, needles, 1)), copy(inner, needles, depth - 1)]),
  )
}

const cut = (text: string): string =>
  text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… ${text.length - MAX_TEXT} more characters` : text
