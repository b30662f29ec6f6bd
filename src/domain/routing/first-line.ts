import { type Conditions, failingCondition, type VisitorFacts } from './conditions.ts'
import { type Asked, type RedirectLine, resultOf } from './redirects.ts'
import { matchSource } from './source.ts'
import { candidatesAt, type SourceIndex } from './source-index.ts'
import type { Result } from './target.ts'

/** A line that takes a request, and where it leads; `result` null is the service's own page. */
export type TakenLine = { line: RedirectLine; result: Result | null }

/**
 * Why a line does not answer. `address`: it leads to the address asked for, or nowhere. `target`: there is no such file.
 * `not_reached`: something before it answers.
 */
export type LineMiss = 'path' | 'query' | 'address' | 'target' | 'not_reached' | keyof Conditions

/** What is asked of each line, besides what it says itself. */
export type LineSearch = {
  asked: Asked
  facts: VisitorFacts
  /** Which lines are looked at in this place. */
  isWanted: (line: RedirectLine) => boolean
  /** Whether there is what the line leads to; a line without is passed over. */
  isThere?: (taken: TakenLine) => boolean
  /** Told of each line that was looked at; `miss` null means that it answers. */
  onLine?: ((line: RedirectLine, miss: LineMiss | null) => void) | undefined
}

/** The first line that takes a request, from top to bottom. contract 13 §2. */
export function firstLine(index: SourceIndex<RedirectLine>, search: LineSearch): TakenLine | undefined {
  const { asked, isWanted, onLine } = search
  for (const line of candidatesAt(index, asked)) {
    if (!isWanted(line)) continue
    const found = resultOf(line, asked)
    const taken = found === null ? null : { line, result: found.result }
    const miss = taken === null ? 'address' : missOf(taken, search)
    onLine?.(line, taken === null ? whyNot(line, asked) : miss)
    if (taken !== null && miss === null) return taken
  }
  return undefined
}

function missOf(taken: TakenLine, { facts, isThere }: LineSearch): LineMiss | null {
  const failing = failingCondition(taken.line.conditions, facts)
  return failing ?? (isThere?.(taken) === false ? 'target' : null)
}

/** Why a line makes nothing of a request. */
function whyNot(line: RedirectLine, asked: Asked): LineMiss {
  if (matchSource(line.source, asked) === null) return 'path'
  return resultOf({ ...line, target: null }, asked) === null ? 'query' : 'address'
}
