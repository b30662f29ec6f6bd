import { encodePath } from '../asset-path.ts'
import { plainPath } from '../plain-path.ts'
import { isConditional } from '../routing/conditions.ts'
import { type Asked, type RedirectLine, resultOf } from '../routing/redirects.ts'
import type { Source } from '../routing/source.ts'
import { hasInsertions } from '../routing/target.ts'

/** A path that a line takes, with `splat` in the place of its star; null if it holds on another host. */
export function sampleOf(
  { source }: Pick<RedirectLine, 'source'>,
  host: string,
  splat = SPLAT,
): Asked | null {
  if (source.host !== null && source.host !== host) return null
  return askedFor(encodePath(samplePath(source, splat)), host)
}

const SPLAT = 'any-1/thing-2'

function samplePath({ before, star, after }: Source, splat: string): string {
  const text = (segment: string | { name: string }, at: number) =>
    typeof segment === 'string' ? segment : `any-${at}`
  const middle = star === null ? [] : [`${star.head}${splat}${star.tail}`]
  return `/${[...before.map(text), ...middle, ...after.map((segment, at) => text(segment, at + 100))].join('/')}`
}

/** `address` is a path with an optional query. */
export function askedFor(address: string, host: string): Asked {
  const cut = address.search(/[?#]/)
  const path = cut === -1 ? address : address.slice(0, cut)
  const search = /\?[^#]*/.exec(address)?.[0] ?? ''
  return { host, hostHeader: host, path, plain: plainPath(path), search }
}

/** It takes everybody who asks for a path of its source. */
export const isPlain = ({ conditions, query }: RedirectLine): boolean =>
  !isConditional(conditions) && Object.keys(query).length === 0

/** The target as an address, for what a sample of the source inserts into it. */
export function leadsTo(line: RedirectLine, asked: Asked): string | null {
  const result = resultOf({ ...line, query: {} }, asked)?.result ?? null
  if (result === null || (result.origin !== null && new URL(result.origin).hostname !== asked.host))
    return null
  return `${result.path}${result.search}`
}

/** The path and query of a target in which nothing is inserted and that leads to the same host; else null. */
export function fixedTarget({ target }: RedirectLine): string | null {
  if (target === null || target.origin !== null || hasInsertions(target)) return null
  return `${target.path.join('')}${target.query === null ? '' : `?${target.query.join('')}`}`
}

/** A visitor of whom nothing is known. */
export const NOBODY = { language: () => null, cookies: () => new Set<string>(), hasRole: () => false }
