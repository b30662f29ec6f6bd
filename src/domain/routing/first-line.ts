import { type Conditions, failingCondition, type VisitorFacts } from './conditions.ts'
import { type Asked, type RedirectLine, resultOf } from './redirects.ts'
import { candidatesAt, type SourceIndex } from './source-index.ts'
import type { Result } from './target.ts'

/** A line that takes a request, and where it leads; `result` null is the service's own page. */
export type TakenLine = { line: RedirectLine; result: Result | null }

/** What is asked of each line, besides what it says itself. */
export type LineSearch = {
  asked: Asked
  facts: VisitorFacts
  /** Which lines are looked at in this place. */
  isWanted: (line: RedirectLine) => boolean
  /** Whether there is what the line leads to; a line without is passed over. */
  isThere?: (taken: TakenLine) => boolean
  /** Told of each line that was looked at; `miss` null means that it answers. */
  onLine?: ((line: RedirectLine, miss: 'mismatch' | 'target' | keyof Conditions | null) => void) | undefined
}

/** The first line that takes a request, from top to bottom. contract 13 §2. */
export function firstLine(index: SourceIndex<RedirectLine>, search: LineSearch): TakenLine | undefined {
  const { asked, facts, isWanted, isThere, onLine } = search
  for (const line of candidatesAt(index, asked)) {
    if (!isWanted(line)) continue
    const found = resultOf(line, asked)
    const taken = found === null ? null : { line, result: found.result }
    const failing = taken === null ? null : failingCondition(line.conditions, facts)
    const isMissing = taken !== null && failing === null && isThere?.(taken) === false
    onLine?.(line, taken === null ? 'mismatch' : (failing ?? (isMissing ? 'target' : null)))
    if (taken !== null && failing === null && !isMissing) return taken
  }
  return undefined
}
