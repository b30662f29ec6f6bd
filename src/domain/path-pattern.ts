const MAX_PATTERN = 1024
const TRIPLET = /%[0-9a-f]{2}/gi

/** `literal` is the text before the first `*`, or the whole of an exact pattern. */
export type PathPattern =
  | { kind: 'exact'; literal: string }
  /** `/api/*` matches every path that starts with `/api/`. Includes `/*` and `*`. */
  | { kind: 'prefix'; literal: string }
  /** `*.json` matches every path that ends with `.json`. */
  | { kind: 'suffix'; literal: ''; suffix: string }
  /** Several stars, or one in the middle: the start, then the middle parts in this order, then the end. */
  | { kind: 'parts'; literal: string; middle: readonly string[]; suffix: string }

type ParsedPathPattern = { ok: true; pattern: PathPattern } | { ok: false; error: string }

/** Parses a rule's pattern; `error` says what is allowed. spec: Proxy behaviour 2, contract §8. */
export function parsePathPattern(source: string): ParsedPathPattern {
  const error = findError(source)
  return error === null ? { ok: true, pattern: readPathPattern(source) } : { ok: false, error }
}

/** Reads a pattern that was validated when it was saved. Percent-encoding may have made it longer than the limit. */
export function readPathPattern(source: string): PathPattern {
  const parts = source.split('*')
  const literal = parts[0] ?? ''
  const suffix = parts.at(-1) ?? ''
  const middle = parts.slice(1, -1).filter((part) => part !== '')
  return classify(parts.length > 1, literal, middle, suffix)
}

/** Whether a path (without its query) matches, in time linear in the path. A `*` also matches nothing, and `/`. */
export function matchesPath(pattern: PathPattern, path: string): boolean {
  switch (pattern.kind) {
    case 'exact':
      return path === pattern.literal
    case 'prefix':
      return path.startsWith(pattern.literal)
    case 'suffix':
      return path.endsWith(pattern.suffix)
    case 'parts':
      return matchesParts(pattern.literal, pattern.middle, pattern.suffix, path)
  }
}

/**
 * What `stripPrefix` removes from the front of a matching path: the text before the first `*`, without its last `/`. An
 * exact pattern removes everything; one that starts with `*` removes nothing. contract §8.
 */
export function literalPrefix(pattern: PathPattern): string {
  const { kind, literal } = pattern
  return kind !== 'exact' && literal.endsWith('/') ? literal.slice(0, -1) : literal
}

/**
 * The canonical path: `%61` and `a` are the same, `é` is written `%C3%A9`, and both of its Unicode forms are the same.
 * RFC 3986 §6.2.2, contract §5.
 */
export function canonicalPath(path: string): string {
  if (!path.includes('%')) return path
  const canonical = canonicalTriplets(path)
  return BEYOND_ASCII.test(canonical) ? composed(canonical) : canonical
}

/** A pattern in the form that canonical paths are compared with. */
export const canonicalPattern = (pattern: string): string => canonicalPath(encoded(pattern))

/**
 * The rest of a raw path after the canonical prefix that it starts with: byte for byte, unless it is in another Unicode
 * form.
 */
export function behindPrefix(path: string, prefix: string): string {
  if (path.startsWith(prefix)) return path.slice(prefix.length)
  const canonical = canonicalPath(path)
  if (canonical !== canonicalTriplets(path)) return canonical.slice(prefix.length)
  let at = 0
  for (let left = prefix.length; left > 0 && at < path.length; ) {
    const triplet = /^%[0-9a-f]{2}/i.exec(path.slice(at, at + 3))?.[0] ?? path.charAt(at)
    left -= canonicalTriplets(triplet).length
    at += triplet.length
  }
  return path.slice(at)
}

const canonicalTriplets = (path: string): string =>
  path.replace(TRIPLET, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
    return /[A-Za-z0-9._~-]/.test(character) ? character : triplet.toUpperCase()
  })

const BEYOND_ASCII = /%[89A-F]/
const RUNS_BEYOND_ASCII = /(?:%[89A-F][0-9A-F])+/g

/** Converts to NFC. Bytes that are not UTF-8 stay unchanged: no file has such a name. */
const composed = (path: string): string =>
  encoded(path.replace(RUNS_BEYOND_ASCII, (run) => decoded(run) ?? run).normalize('NFC'))

const encoded = (text: string): string => text.replace(/[^\x21-\x7e]+/gu, (run) => encodeURIComponent(run))

function decoded(triplets: string): string | undefined {
  try {
    return decodeURIComponent(triplets)
  } catch {
    return undefined
  }
}

/**
 * Sorts rules without `order`, the most specific first: by more literal segments, fewer wildcards, pattern, then
 * method; rules without a method come last. contract §9.1.
 */
export function compareSpecificity(
  a: { pathPattern: string; method?: string | null },
  b: { pathPattern: string; method?: string | null },
): number {
  const [literalsA, starsA] = weigh(a.pathPattern)
  const [literalsB, starsB] = weigh(b.pathPattern)
  return (
    literalsB - literalsA ||
    starsA - starsB ||
    compareText(a.pathPattern, b.pathPattern) ||
    compareMethods(a.method ?? null, b.method ?? null)
  )
}

function findError(source: string): string | null {
  if (!source.startsWith('/') && !source.startsWith('*')) return 'A path pattern must begin with / or *'
  if (source.length > MAX_PATTERN) return `A path pattern must not be longer than ${MAX_PATTERN} characters`
  if (/[?#]/.test(source)) return 'A path pattern must not contain ? or #: the query is not matched'
  if (!source.isWellFormed()) return 'A path pattern must be valid Unicode'
  if (/\p{Cc}/u.test(source)) return 'A path pattern must not contain control characters'
  return null
}

function classify(hasStar: boolean, literal: string, middle: string[], suffix: string): PathPattern {
  if (!hasStar) return { kind: 'exact', literal }
  if (middle.length === 0 && suffix === '') return { kind: 'prefix', literal }
  if (middle.length === 0 && literal === '') return { kind: 'suffix', literal: '', suffix }
  return { kind: 'parts', literal, middle, suffix }
}

/** Matching each part at its leftmost position leaves the most for the rest, so no backtracking is needed. */
function matchesParts(prefix: string, middle: readonly string[], suffix: string, path: string): boolean {
  const end = path.length - suffix.length
  if (end < prefix.length || !path.startsWith(prefix) || !path.endsWith(suffix)) return false
  let at = prefix.length
  for (const part of middle) {
    const found = path.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/** Counts segments without a star, and stars. */
function weigh(pattern: string): [literals: number, stars: number] {
  const literals = pattern.split('/').filter((segment) => segment !== '' && !segment.includes('*'))
  return [literals.length, pattern.split('*').length - 1]
}

function compareMethods(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return compareText(a, b)
}

/** Compares code units, so that every machine sorts the same way. */
function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
