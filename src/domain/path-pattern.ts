import { plainPath } from './plain-path.ts'

const MAX_PATTERN = 1024

/** In plain form. `literal` is the text before the first `*`, or the whole of an exact pattern. */
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

/** Reads a pattern that was validated when it was saved. */
export function readPathPattern(source: string): PathPattern {
  const parts = piecesOf(source)
  const literal = parts[0] ?? ''
  const suffix = parts.at(-1) ?? ''
  const middle = parts.slice(1, -1).filter((part) => part !== '')
  return classify(parts.length > 1, literal, middle, suffix)
}

/**
 * The plain texts between the stars of a pattern. It is split first, so that `%2A` is a star that matches a star.
 * Patterns with the same pieces are one pattern, however they are written. contract 12.1.
 */
export const piecesOf = (source: string): string[] => source.split('*').map(plainPath)

/** The same text for each spelling of one pattern. Not for people. */
export const patternKey = (source: string): string => JSON.stringify(piecesOf(source))

/** Whether a plain path matches, in time linear in the path. A `*` also matches nothing, and `/`. */
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
 * What `stripPrefix` removes from the front of a matching path, in plain form: the text before the first `*`, without its
 * last `/`. An exact pattern removes everything; one that starts with `*` removes nothing. contract §8.
 */
export function literalPrefix(pattern: PathPattern): string {
  const { kind, literal } = pattern
  return kind !== 'exact' && literal.endsWith('/') ? literal.slice(0, -1) : literal
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
    compareText(plainPattern(a), plainPattern(b)) ||
    compareMethods(a.method ?? null, b.method ?? null)
  )
}

const plainPattern = ({ pathPattern }: { pathPattern: string }): string => piecesOf(pathPattern).join('*')

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
