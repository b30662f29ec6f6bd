import { toNfc } from '../domain/nfc.ts'
import { piecesOf } from '../domain/path-pattern.ts'
import { lengthOfSpelling, plainPath } from '../domain/plain-path.ts'

/**
 * What each `*` of a pattern matched in a raw path, decoded, from `0`. Leftmost wildcards match as little as possible.
 * `%2F` is a `/` here.
 */
export function paramsOf(pattern: string, asked: string): Record<string, string> {
  if (!pattern.includes('*')) return {}
  const path = plainPath(asked)
  const [first = '', ...rest] = piecesOf(pattern)
  const params: [string, string][] = []
  let at = first.length
  for (const [i, literal] of rest.entries()) {
    const isLast = i === rest.length - 1
    const end = Math.max(at, isLast ? path.length - literal.length : path.indexOf(literal, at))
    params.push([String(i), decodedPart(asked, path, at, end)])
    at = end + literal.length
  }
  return Object.fromEntries(params)
}

/** Decodes the bytes that spell a part of the plain path. */
function decodedPart(asked: string, path: string, from: number, to: number): string {
  if (!asked.includes('%')) return path.slice(from, to)
  const spelled = asked.slice(
    lengthOfSpelling(asked, path.slice(0, from)),
    lengthOfSpelling(asked, path.slice(0, to)),
  )
  try {
    return toNfc(decodeURIComponent(spelled))
  } catch {
    return path.slice(from, to)
  }
}
