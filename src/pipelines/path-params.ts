import { canonicalPath, canonicalPattern } from '../domain/path-pattern.ts'

/** What each `*` of a pattern matched in the path, from `0`. Leftmost wildcards match as little as possible. */
export function paramsOf(pattern: string, asked: string): Record<string, string> {
  if (!pattern.includes('*')) return {}
  const path = canonicalPath(asked)
  const [first = '', ...rest] = canonicalPattern(pattern).split('*')
  const params: [string, string][] = []
  let at = first.length
  for (const [i, literal] of rest.entries()) {
    const isLast = i === rest.length - 1
    const end = isLast ? path.length - literal.length : path.indexOf(literal, at)
    params.push([String(i), decoded(path.slice(at, Math.max(at, end)))])
    at = Math.max(at, end) + literal.length
  }
  return Object.fromEntries(params)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
