const MAX_PATTERN = 1024

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
  if (error !== null) return { ok: false, error }

  const parts = source.split('*')
  const literal = parts[0] ?? ''
  const suffix = parts.at(-1) ?? ''
  const middle = parts.slice(1, -1).filter((part) => part !== '')
  return { ok: true, pattern: classify(parts.length > 1, literal, middle, suffix) }
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
