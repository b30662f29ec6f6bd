import { type Asked, isRedirect, type RedirectLine, resultOf } from '../routing/redirects.ts'
import { isDynamic } from '../routing/source.ts'
import { candidatesAt, type SourceIndex } from '../routing/source-index.ts'
import { aboutLine, type LinePlace } from './about-line.ts'
import type { Finding } from './findings.ts'
import { sampleOf } from './line-samples.ts'

/** A line that nobody ever reaches. `plain`: the lines that take everybody. */
export function findShadow(
  line: RedirectLine,
  plain: SourceIndex<RedirectLine>,
  place: LinePlace,
): Finding | null {
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
