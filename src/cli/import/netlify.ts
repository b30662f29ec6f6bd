import { type Located, type LocatedObject, objectsOf, scalarOf, textOf } from './located.ts'
import { asToken, type Outcome } from './outcome.ts'

/** `[[redirects]]` and `[[headers]]` of a netlify.toml. contract 13 §10. */
export function importNetlify(root: LocatedObject, out: Outcome): void {
  for (const [key, node] of root.entries)
    if (key === 'redirects') importRedirects(node, out)
    else if (key === 'headers') importHeaders(node, out)
    else leaveTable(key, node, out)
}

const NOT_HERE = 'it says how the site is built or run there, not how its files are served'

function leaveTable(key: string, node: Located, out: Outcome): void {
  if (node.kind !== 'object' || node.entries.size === 0) out.leave(node, key, NOT_HERE)
  else out.leaveOthers(node, key, [], NOT_HERE)
}

function importRedirects(node: Located, out: Outcome): void {
  const leave = (item: Located, index: number | null) =>
    out.leave(item, index === null ? 'redirects' : `redirects[${index}]`, 'it is no table')
  for (const { item, index } of objectsOf(node, leave)) importRedirect(item, `redirects[${index}]`, out)
}

const KEYS = ['from', 'to', 'status', 'force', 'query', 'conditions']

function importRedirect(item: LocatedObject, what: string, out: Outcome): void {
  if (!out.leaveOthers(item, what, KEYS, 'a line of _redirects has no such part')) return
  const { line, column } = item
  const written = writeRedirect(item)
  if (typeof written === 'string') out.redirects.push({ line, column, what, text: written })
  else out.leave(item.entries.get(written.key) ?? item, `${what}.${written.key}`, written.why)
}

function writeRedirect({ entries }: LocatedObject): string | { key: string; why: string } {
  const from = textOf(entries.get('from'))
  if (from === undefined || from === '') return { key: 'from', why: 'the path is missing' }
  const to = entries.has('to') ? textOf(entries.get('to')) : null
  if (to === undefined || to === '') return { key: 'to', why: 'it is no text, or empty' }
  const status = entries.has('status') ? Number(scalarOf(entries.get('status'))) : 301
  if (!Number.isInteger(status)) return { key: 'status', why: 'it is no number' }
  const force = entries.has('force') ? scalarOf(entries.get('force')) : false
  if (typeof force !== 'boolean') return { key: 'force', why: 'it is neither true nor false' }
  const query = pairsOf(entries.get('query'), asQueryValue)
  if (query === undefined) return { key: 'query', why: 'it is no table of texts' }
  const conditions = pairsOf(entries.get('conditions'), (values) => values.map(asToken).join(','))
  if (conditions === undefined) return { key: 'conditions', why: 'it is no table of texts' }
  const parts = [asToken(from), ...query, asToken(to ?? ''), `${status}${force ? '!' : ''}`, ...conditions]
  return parts.filter((part) => part !== '').join(' ')
}

/** `:name` captures; anything else is compared. */
const asQueryValue = ([value = '']: readonly string[]): string =>
  value.startsWith(':') ? `:${encodeURIComponent(value.slice(1))}` : encodeURIComponent(value)

function pairsOf(
  node: Located | undefined,
  write: (values: readonly string[]) => string,
): string[] | undefined {
  if (node === undefined) return []
  if (node.kind !== 'object') return undefined
  const pairs = [...node.entries].map(([key, value]) => {
    const values = textsOf(value)
    return values === undefined || values.length === 0
      ? undefined
      : `${encodeURIComponent(key)}=${write(values)}`
  })
  return pairs.every((pair) => pair !== undefined) ? pairs : undefined
}

/** A text, or a list of them. */
function textsOf(node: Located): string[] | undefined {
  const texts = node.kind === 'array' ? node.items.map(textOf) : [textOf(node)]
  return texts.every((text) => text !== undefined) ? texts : undefined
}

function importHeaders(node: Located, out: Outcome): void {
  const leave = (item: Located, index: number | null) =>
    out.leave(item, index === null ? 'headers' : `headers[${index}]`, 'it is no table')
  for (const { item, index } of objectsOf(node, leave)) importBlock(item, `headers[${index}]`, out)
}

function importBlock(item: LocatedObject, what: string, out: Outcome): void {
  if (!out.leaveOthers(item, what, ['for', 'values'], 'a block of _headers has no such part')) return
  const path = textOf(item.entries.get('for'))
  const values = item.entries.get('values')
  if (path === undefined) {
    out.leave(item, `${what}.for`, 'the path is missing')
    return
  }
  if (values?.kind !== 'object') {
    out.leave(values ?? item, `${what}.values`, 'it is no table')
    return
  }
  const lines = [...values.entries].flatMap(([name, value]) => {
    const texts = textsOf(value)
    const named = `${what}.values.${name}`
    if (texts === undefined) out.leave(value, named, 'it is no text')
    return (texts ?? []).map((text) => ({
      line: value.line,
      column: value.column,
      what: named,
      name,
      value: text.replace(/\s*\n\s*/g, ' ').trim(),
    }))
  })
  out.headers.push({ path: asToken(path), lines, isLast: false })
}
