import { encodePath } from '../asset-path.ts'
import { plainPath } from '../plain-path.ts'
import type { CompiledRouting } from '../routing/compile.ts'
import { isConditional } from '../routing/conditions.ts'
import { firstLine } from '../routing/first-line.ts'
import { type Asked, isRedirect, type RedirectLine, resultOf } from '../routing/redirects.ts'
import { isDynamic, namesOf, type Source } from '../routing/source.ts'
import { candidatesAt, indexSources, type SourceIndex } from '../routing/source-index.ts'
import { hasInsertions } from '../routing/target.ts'
import type { Finding } from './findings.ts'
import type { HasFile } from './served-addresses.ts'

/** What lines are looked at with. `host` is that of the site, in lower case without port. */
export type LinePlace = {
  file: string
  host: string
  hasFile: HasFile
  /** The raw addresses of the files that the site shows. */
  addresses: readonly string[]
}

/** What the lines of a `_redirects` tell without asking the site; null where nothing was found, so that others get their turn. */
export function* findInLines(lines: readonly RedirectLine[], place: LinePlace): Generator<Finding | null> {
  const redirects = indexSources(lines.filter(isRedirect))
  const plain = indexSources(lines.filter(isPlain))
  const shown: Asked[] = []
  if (lines.some((line) => mayHide(line) && isDynamic(line.source)))
    for (const address of place.addresses) {
      if (place.hasFile(address)) shown.push(askedFor(address, place.host))
      yield null
    }
  for (const line of lines) {
    yield* findUnknownPlaceholder(line, place)
    yield findShadow(line, plain, place)
    if (!isRedirect(line)) continue
    yield* findHiddenFile(line, shown, place)
    yield findChain(line, redirects, place)
  }
}

/** Lines that were left out. */
export function* findRefused({ problems }: Pick<CompiledRouting, 'problems'>): Generator<Finding> {
  for (const { file, line, message } of problems) {
    const kind = file.endsWith('_headers') ? 'header-refused' : 'redirect-refused'
    yield { kind, file, line, target: null, message: `The line was left out: ${message}.` }
  }
}

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
const isPlain = ({ conditions, query }: RedirectLine): boolean =>
  !isConditional(conditions) && Object.keys(query).length === 0

/** The target as an address, for what a sample of the source inserts into it. */
export function leadsTo(line: RedirectLine, asked: Asked): string | null {
  const result = resultOf({ ...line, query: {} }, asked)?.result ?? null
  if (result === null || (result.origin !== null && new URL(result.origin).hostname !== asked.host))
    return null
  return `${result.path}${result.search}`
}

function findShadow(line: RedirectLine, plain: SourceIndex<RedirectLine>, place: LinePlace): Finding | null {
  const asked = sampleOf(line, place.host)
  if (asked === null) return null
  const isFileFirst = !isRedirect(line) && !line.force && !isDynamic(line.source)
  if (isFileFirst && place.hasFile(asked.path))
    return aboutLine('redirect-shadowed', line, place, {
      target: asked.path,
      message: `There is a file at ${asked.path}, which is shown instead: put a ! behind the status, or take the line out.`,
    })
  const samples = [asked, ...(line.source.star === null ? [] : [sampleOf(line, place.host, '')])]
  const earlier = candidatesAt(plain, asked).find(
    (other) => isBefore(other, line) && samples.every((one) => one !== null && takes(other, one, place)),
  )
  if (earlier === undefined) return null
  return aboutLine('redirect-shadowed', line, place, {
    target: asked.path,
    message: `Line ${earlier.line} takes everything that this line could: put this line above it, or take it out.`,
  })
}

/** Whether a line that stands earlier is also asked no later: redirects come first, then what is forced. */
const isBefore = (other: RedirectLine, line: RedirectLine): boolean =>
  other.line < line.line && rankOf(other) <= rankOf(line)

const rankOf = (line: RedirectLine): number => (isRedirect(line) ? 0 : line.force ? 1 : 2)

function takes(line: RedirectLine, asked: Asked, { hasFile }: LinePlace): boolean {
  const found = resultOf(line, asked)
  if (found === null || isRedirect(line)) return found !== null
  return found.result === null || found.result.origin !== null || hasFile(found.result.path)
}

/** How many files are looked at before others get their turn. */
const PIECE = 100

const mayHide = (line: RedirectLine): boolean => isRedirect(line) && !line.force && isPlain(line)

function* findHiddenFile(
  line: RedirectLine,
  shown: readonly Asked[],
  place: LinePlace,
): Generator<Finding | null> {
  if (!mayHide(line)) return
  const sample = isDynamic(line.source) ? null : sampleOf(line, place.host)
  const places = isDynamic(line.source) ? shown : sample === null ? [] : [sample]
  for (const [at, asked] of places.entries()) {
    if (at % PIECE === PIECE - 1) yield null
    if (resultOf(line, asked) === null || !place.hasFile(asked.path)) continue
    yield aboutLine('redirect-hides-file', line, place, {
      target: asked.path,
      message: `There is a file at ${asked.path}, which other hosts would show; here a redirect goes before files. A ! behind the status says that it is meant.`,
    })
    return
  }
}

function findChain(
  line: RedirectLine,
  redirects: SourceIndex<RedirectLine>,
  place: LinePlace,
): Finding | null {
  const asked = sampleOf(line, place.host)
  const target = asked === null ? null : leadsTo(line, asked)
  if (target === null) return null
  const next = firstLine(redirects, { asked: askedFor(target, place.host), facts: NOBODY, isWanted: isPlain })
  if (next === undefined || next.line === line) return null
  return aboutLine('redirect-chain', line, place, {
    target,
    message: `Line ${next.line.line} redirects what this line leads to once more: name the last address here.`,
  })
}

export const NOBODY = { language: () => null, cookies: () => new Set<string>(), hasRole: () => false }

function* findUnknownPlaceholder(line: RedirectLine, place: LinePlace): Generator<Finding> {
  if (line.target === null) return
  const known = new Set([...namesOf(line.source), ...capturedBy(line)])
  for (const [, name = ''] of pathOf(line.target.text).matchAll(/\/:([A-Za-z]\w*)/g)) {
    if (known.has(name)) continue
    yield aboutLine('redirect-unknown-placeholder', line, place, {
      target: line.target.text,
      message: `The source has no ${name === 'splat' ? '*' : `:${name}`}, so :${name} stays as it is in the target.`,
    })
  }
}

const capturedBy = ({ query }: RedirectLine): string[] =>
  Object.values(query).flatMap((value) => ('name' in value ? [value.name] : []))

/** Without scheme, host, query and fragment. */
const pathOf = (target: string): string => target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')

/** The path and query of a target in which nothing is inserted and that leads to the same host; else null. */
export function fixedTarget({ target }: RedirectLine): string | null {
  if (target === null || target.origin !== null || hasInsertions(target)) return null
  return `${target.path.join('')}${target.query === null ? '' : `?${target.query.join('')}`}`
}

export const aboutLine = (
  kind: Finding['kind'],
  { line }: RedirectLine,
  { file }: Pick<LinePlace, 'file'>,
  rest: Pick<Finding, 'target' | 'message'>,
): Finding => ({ kind, file, line, ...rest })
