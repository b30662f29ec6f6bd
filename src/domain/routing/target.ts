import { asciiHost } from '../hostname.ts'
import { parseIp } from '../ip-ranges.ts'
import { charactersOf } from '../plain-path.ts'
import { hasDotSegment } from './inserted-values.ts'
import { type Parsed, parsed, refused } from './parsed.ts'
import { filled, type Part, partsOf } from './placeholders.ts'
import type { Captures } from './source.ts'

type Parts = Part[]

/** Where a line leads. Plain data, so that it can be stored. */
export type Target = {
  /** As its author wrote it. */
  text: string
  /** `https://host`, with a port if there is one; null for a path on the same host. */
  origin: string | null
  path: Parts
  /** Without its `?`; null if the target has none. */
  query: Parts | null
  /** With its `#`. */
  fragment: Parts
}

/** A target with everything inserted. `href` is what `Location` says; `search` begins with its `?`, or is empty. */
export type Result = { href: string; origin: string | null; path: string; search: string }

const SCHEME = /^https?:\/\//i
const PRINTABLE = /^[\x21-\x7e]*$/

/** Parses a target. `names` are what its line captures; other words behind a colon are text. contract 13 §2. */
export function parseTarget(text: string, names: readonly string[]): Parsed<Target> {
  if (/[\p{Cc}\\]/u.test(text)) return refused('the target must not hold a backslash or a control character')
  const isAddress = SCHEME.test(text)
  if (!isAddress && !text.startsWith('/')) return refused('the target must begin with /, http:// or https://')
  if (text.startsWith('//')) return refused('the target must not begin with //')
  const scheme = isAddress ? (SCHEME.exec(text)?.[0] ?? '') : ''
  const [, authority = '', rest = ''] = /^([^/?#]*)(.*)$/su.exec(text.slice(scheme.length)) ?? []
  if (authority.includes('@') && isAddress)
    return refused('the target must not hold a user or a password before its host')
  if (isAddress && holdsPlaceholder(text.slice(scheme.length).split('/', 1)[0] ?? ''))
    return refused('the target must not hold a placeholder before the first / behind its host')
  const origin = isAddress ? originOf(scheme, authority) : null
  if (isAddress && origin === null) return refused('the target must name a host')
  const [, path = '', query, fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/su.exec(rest) ?? []
  const parts = (piece: string) => partsOf(piece, names, literal)
  return parsed({
    text,
    origin,
    path: parts(path),
    query: query === undefined ? null : parts(query),
    fragment: parts(fragment),
  })
}

/** Whether anything is inserted into a target. */
export const hasInsertions = ({ path, query, fragment }: Target): boolean =>
  [...path, ...(query ?? []), ...fragment].some((part) => typeof part !== 'string')

/**
 * Inserts what was captured, in one pass, and appends `search` (with its `?`, or empty) if the target has no query. Null
 * if the result would not be a plain address on the host that the target names: such a line does not match.
 */
export function insertInto(target: Target, captures: Captures, search: string): Result | null {
  const { origin } = target
  const inserted = filled(target.path, captures)
  const path = origin === null ? inserted.replace(/^[/\\]+/, '/') : inserted
  const query = target.query === null ? search : `?${filled(target.query, captures, forQuery)}`
  const sent = searchAsSent(query)
  const href = `${origin ?? ''}${path}${sent}${filled(target.fragment, captures)}`
  if (!isPlain(href, origin) || (hasInsertions(target) && hasDotSegment(path))) return null
  return { href, origin, path: path === '' ? '/' : path, search: sent }
}

/** The last look before an address is used: nothing that a browser would read in another way. */
function isPlain(href: string, origin: string | null): boolean {
  if (!PRINTABLE.test(href) || href.includes('\\')) return false
  if (origin === null) return href.startsWith('/') && !href.startsWith('//')
  const next = href.charAt(origin.length)
  return href.startsWith(origin) && (next === '' || '/?#'.includes(next))
}

/** A visitor's query with what may not stand in an address encoded; the rest keeps its spelling. */
const searchAsSent = (search: string): string =>
  /^\?[\w\-.~!$&'()*+,;=:@/?%]*$/.test(search) ? search : literal(search)

/** A path's text is one value of a query: it begins no other one. */
const forQuery = (text: string): string => text.replaceAll('&', '%26').replaceAll('+', '%2B')

function originOf(scheme: string, authority: string): string | null {
  const [, name = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(authority) ?? []
  const host = name.startsWith('[') ? (parseIp(name) === null ? null : name.toLowerCase()) : asciiHost(name)
  if (host === null || Number(port) > 65_535) return null
  const origin = `${scheme.toLowerCase()}${host}${port === '' ? '' : `:${port}`}`
  // Without the port that the scheme implies, which no request names.
  return URL.parse(origin)?.origin ?? null
}

const holdsPlaceholder = (text: string): boolean => /:[A-Za-z]/.test(text)

/** An author's text, with what may not stand in an address encoded. */
const literal = (text: string): string =>
  USUAL.test(text) ? text : charactersOf(text.toWellFormed()).map(encodedUnlessAllowed).join('')

/** Nearly every target, which is not looked at character by character. */
const USUAL = /^[\w\-.~!$&'()*+,;=:@/?#[\]]*$/
const ALLOWED = /^(?:[\w\-.~!$&'()*+,;=:@/?#[\]]|(?:%[\da-f]{2})+)$/i
const encodedUnlessAllowed = (character: string): string =>
  ALLOWED.test(character) ? character : encodeURIComponent(character)
