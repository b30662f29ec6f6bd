import { aboutLine, type LinePlace } from '../../domain/deploy-report/about-line.ts'
import type { Finding } from '../../domain/deploy-report/findings.ts'
import { askedFor, fixedTarget, NOBODY, sampleOf } from '../../domain/deploy-report/line-samples.ts'
import { failingCondition } from '../../domain/routing/conditions.ts'
import { isRedirect, type RedirectLine } from '../../domain/routing/redirects.ts'
import type { ReportedSite } from './site.ts'

/** A chain of more redirects than a browser follows. */
const MAX_HOPS = 20

/** What lines do when the site is asked: null for one in which nothing was found. */
export async function* findInRouter(
  lines: readonly RedirectLine[],
  place: LinePlace,
  site: ReportedSite,
): AsyncGenerator<Finding | null> {
  for (const line of lines) {
    yield await findMissingTarget(line, place, site)
    yield await findLoop(line, place, site)
  }
}

async function findMissingTarget(
  line: RedirectLine,
  place: LinePlace,
  site: ReportedSite,
): Promise<Finding | null> {
  const target = fixedTarget(line)
  if (target === null) return null
  const isThere = isRedirect(line)
    ? await site.answers(target)
    : place.hasFile(askedFor(target, place.host).path)
  if (isThere) return null
  return aboutLine('redirect-target-missing', line, place, {
    target,
    message: `Nothing answers at ${target}: ${isRedirect(line) ? 'visitors get the page for missing addresses' : 'the line is passed over'}.`,
  })
}

async function findLoop(line: RedirectLine, place: LinePlace, site: ReportedSite): Promise<Finding | null> {
  const start = isRedirect(line) && isForEverybody(line) ? sampleOf(line, place.host) : null
  if (start === null) return null
  const seen = new Set<string>()
  let at: string | null = start.path
  for (let hops = 0; at !== null && hops < MAX_HOPS; hops += 1) {
    seen.add(at)
    at = await site.redirectFrom(at)
    if (at === start.path) break
    // Another line's loop, of which that line tells.
    if (at !== null && seen.has(at)) return null
  }
  if (at === null) return null
  return aboutLine('redirect-loop', line, place, {
    target: start.path,
    message: `Following redirects from ${start.path} never ends, so a browser shows an error: let one of them lead elsewhere.`,
  })
}

const isForEverybody = ({ conditions, query }: RedirectLine): boolean =>
  failingCondition(conditions, NOBODY) === null && Object.keys(query).length === 0
