const MAX_PATTERN = 1024
const TRIPLET = /%[0-9a-f]{2}/gi

/** `literal` is what stands before the first `*`; of an exact pattern all. */
export type PathPattern =
  | { kind: 'exact'; literal: string }
  /** `/api/*`: whatever begins so; `/*` and `*` too. */
  | { kind: 'prefix'; literal: string }
  /** `*.json`: whatever ends so. */
  | { kind: 'suffix'; literal: ''; suffix: string }
  /** Several stars, or one in between: begins, holds these in this order, and ends so. */
  | { kind: 'parts'; literal: string; middle: readonly string[]; suffix: string }

type ParsedPathPattern = { ok: true; pattern: PathPattern } | { ok: false; error: string }

/** Reads a pattern of a rule; `error` says what is allowed. spec: Proxy behaviour 2, contract §8. */
export function parsePathPattern(source: string): ParsedPathPattern {
  const error = findError(source)
  return error === null ? { ok: true, pattern: readPathPattern(source) } : { ok: false, error }
}

/** Of a pattern that was checked when it was saved; written as in an address it may be longer than was allowed. */
export function readPathPattern(source: string): PathPattern {
  const parts = source.split('*')
  const literal = parts[0] ?? ''
  const suffix = parts.at(-1) ?? ''
  const middle = parts.slice(1, -1).filter((part) => part !== '')
  return classify(parts.length > 1, literal, middle, suffix)
}

/**
 * Whether a path (without its query) matches. Takes time proportional to the path; a `*` also matches nothing
 * and `/`.
 */
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
 * What `stripPrefix` removes from the front of a path that matched: what stands before the first `*` less its
 * last `/`; of an exact pattern all; of one that begins with `*` nothing. contract §8.
 */
export function literalPrefix(pattern: PathPattern): string {
  const { kind, literal } = pattern
  return kind !== 'exact' && literal.endsWith('/') ? literal.slice(0, -1) : literal
}

/** `%61` and `a` are the same path, `é` is written `%C3%A9`, and both its Unicode forms are one. RFC 3986 §6.2.2, contract §5. */
export function canonicalPath(path: string): string {
  if (!path.includes('%')) return path
  const canonical = canonicalTriplets(path)
  return BEYOND_ASCII.test(canonical) ? composed(canonical) : canonical
}

/** A pattern as canonical paths are compared with it. */
export const canonicalPattern = (pattern: string): string => canonicalPath(encoded(pattern))

/** What a raw path has behind a canonical prefix that it begins with: byte for byte, unless it is in another Unicode form. */
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

/** In NFC. What is not UTF-8 stays as it is: no file has such a name. */
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
 * Sorts rules without `order`, the most specific first: more literal segments, fewer wildcards, then pattern,
 * then method, those without a method last. contract §9.1.
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
  if (!source.startsWith('/') && !source.startsWith('*')) return 'A path pattern begins with / or *'
  if (source.length > MAX_PATTERN) return `A path pattern has at most ${MAX_PATTERN} characters`
  if (/[?#]/.test(source)) return 'A path pattern has no ? and no #: the query is not matched'
  if (!source.isWellFormed()) return 'A path pattern is whole Unicode characters'
  if (/\p{Cc}/u.test(source)) return 'A path pattern has no control characters'
  return null
}

function classify(hasStar: boolean, literal: string, middle: string[], suffix: string): PathPattern {
  if (!hasStar) return { kind: 'exact', literal }
  if (middle.length === 0 && suffix === '') return { kind: 'prefix', literal }
  if (middle.length === 0 && literal === '') return { kind: 'suffix', literal: '', suffix }
  return { kind: 'parts', literal, middle, suffix }
}

/** The leftmost place for each part leaves the most for the rest, so nothing is ever tried twice. */
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

/** Segments without a star, and stars. */
function weigh(pattern: string): [literals: number, stars: number] {
  const literals = pattern.split('/').filter((segment) => segment !== '' && !segment.includes('*'))
  return [literals.length, pattern.split('*').length - 1]
}

function compareMethods(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return compareText(a, b)
}

/** By code units, so that every machine sorts alike. */
function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
