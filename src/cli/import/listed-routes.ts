import { type Located, type LocatedObject, objectsOf, scalarOf, textOf } from './located.ts'
import { asToken, type HeaderLine, type Outcome } from './outcome.ts'
import { type Dialect, type Translated, translateSource, translateTarget } from './patterns.ts'

/** How vercel.json and firebase.json write what both have. */
export type Style = {
  dialect: Dialect
  /** The keys of a redirect besides `source` and `destination`. */
  redirectKeys: readonly string[]
  /** The status of a redirect; a text says why there is none. */
  statusOf: (item: LocatedObject) => number | string
  /** A query in a destination means something else there. */
  mergesQuery: boolean
}

const NO_COUNTERPART = 'it has no counterpart in _redirects and _headers'
const OTHER_PATTERN = 'the pattern has no counterpart: only :name and a * for all that follows are carried'

/** `redirects`, `rewrites` and `headers`, each by its own list. `prefix` is what stands before their names. */
export function importLists(root: LocatedObject, prefix: string, style: Style, out: Outcome): void {
  each(root, `${prefix}redirects`, out, (item, what) => importRedirect(item, what, style, out))
  each(root, `${prefix}rewrites`, out, (item, what) => importRewrite(item, what, style, out))
  each(root, `${prefix}headers`, out, (item, what) => importHeaders(item, what, style, out))
}

function each(
  root: LocatedObject,
  what: string,
  out: Outcome,
  take: (item: LocatedObject, what: string) => void,
): void {
  const node = root.entries.get(what.slice(what.lastIndexOf('.') + 1))
  const leave = (item: Located, index: number | null) =>
    out.leave(item, index === null ? what : `${what}[${index}]`, 'it is no list of objects')
  for (const { item, index } of objectsOf(node, leave)) take(item, `${what}[${index}]`)
}

function importRedirect(item: LocatedObject, what: string, style: Style, out: Outcome): void {
  if (!out.leaveOthers(item, what, ['source', 'destination', ...style.redirectKeys], NO_COUNTERPART)) return
  const status = style.statusOf(item)
  if (typeof status === 'string') {
    out.leave(item, what, status)
    return
  }
  addLine(item, what, status, style, out)
}

function importRewrite(item: LocatedObject, what: string, style: Style, out: Outcome): void {
  if (!out.leaveOthers(item, what, ['source', 'destination'], NO_COUNTERPART)) return
  addLine(item, what, 200, style, out)
}

function addLine(item: LocatedObject, what: string, status: number, style: Style, out: Outcome): void {
  const source = translatedSource(item, what, style, out)
  const destination = textOf(item.entries.get('destination'))
  if (source === undefined) return
  if (destination === undefined) {
    out.leave(item, `${what}.destination`, 'it is missing, or no text')
    return
  }
  if (style.mergesQuery && destination.includes('?')) {
    out.leave(item, what, 'its query would be merged with the visitor’s there, and replaces it here')
    return
  }
  const target = translateTarget(destination, source, style.dialect)
  if (target === undefined) {
    out.leave(item, what, 'its destination inserts what has no counterpart: only :name and * are carried')
    return
  }
  const text = `${asToken(source.path)} ${asToken(target)} ${status}`
  out.redirects.push({ line: item.line, column: item.column, what, text })
}

function translatedSource(
  item: LocatedObject,
  what: string,
  { dialect }: Style,
  out: Outcome,
): Translated | undefined {
  const source = textOf(item.entries.get('source'))
  const translated = source === undefined ? undefined : translateSource(source, dialect)
  if (translated === undefined)
    out.leave(item, what, source === undefined ? 'the source is missing, or no text' : OTHER_PATTERN)
  return translated
}

function importHeaders(item: LocatedObject, what: string, style: Style, out: Outcome): void {
  if (!out.leaveOthers(item, what, ['source', 'headers'], NO_COUNTERPART)) return
  const source = translatedSource(item, what, style, out)
  if (source === undefined) return
  const lines: HeaderLine[] = []
  each(item, `${what}.headers`, out, (header, named) => {
    const name = textOf(header.entries.get('key'))
    const value = textOf(header.entries.get('value'))
    if (!out.leaveOthers(header, named, ['key', 'value'], NO_COUNTERPART)) return
    const { line, column } = header
    if (name === undefined || value === undefined) out.leave(header, named, 'it has no key and value')
    else if (source.groups.length > 0 && /:[A-Za-z]|\$\d/.test(value))
      out.leave(header, named, 'its value may hold a placeholder, which is read in another way here')
    else lines.push({ line, column, what: named, name, value })
  })
  out.headers.push({ path: asToken(source.path), lines, isLast: true })
}

/** `cleanUrls` and `trailingSlash`, which both have. */
export function importSlashes(root: LocatedObject, prefix: string, out: Outcome): void {
  const clean = root.entries.get('cleanUrls')
  const slash = root.entries.get('trailingSlash')
  if (scalarOf(clean) === true) {
    out.settings.htmlHandling = scalarOf(slash) === true ? 'force-trailing-slash' : 'drop-trailing-slash'
    return
  }
  const why = 'without cleanUrls it has no counterpart: see htmlHandling of the project'
  if (clean !== undefined) out.leave(clean, `${prefix}cleanUrls`, 'pages are also shown without .html here')
  if (slash !== undefined) out.leave(slash, `${prefix}trailingSlash`, why)
}
