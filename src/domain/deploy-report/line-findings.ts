import type { CompiledRouting } from '../routing/compile.ts'
import { firstLine } from '../routing/first-line.ts'
import { type Asked, isRedirect, type RedirectLine, resultOf } from '../routing/redirects.ts'
import { isDynamic, namesOf } from '../routing/source.ts'
import { indexSources, type SourceIndex } from '../routing/source-index.ts'
import { aboutLine, type LinePlace } from './about-line.ts'
import type { Finding } from './findings.ts'
import { askedFor, isPlain, leadsTo, NOBODY, sampleOf } from './line-samples.ts'
import { findShadow } from './shadowed-lines.ts'

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
