import { candidatesFor } from './candidates.ts'
import type { Candidate, Command, Person } from './command.ts'
import { kindOf, wordsOf } from './match.ts'

type Asked = {
  query: string
  /** The project that the page is of. */
  place?: string | undefined
  /** Ids of commands, the last used first. */
  recent: readonly string[]
}

const MAX_SHOWN = 20
const MAX_RECENT = 5

/** The commands of this person that match, the best first; without a query the last used and those of the page. */
export async function findCommands(person: Person, { query, place, recent }: Asked): Promise<Command[]> {
  const words = wordsOf(query)
  const candidates = await candidatesFor(person, place, words)
  return words.length === 0 ? usual(candidates, recent) : matching(candidates, words, recent)
}

function matching(
  candidates: readonly Candidate[],
  words: readonly string[],
  recent: readonly string[],
): Command[] {
  const usedAt = (id: string) => (recent.includes(id) ? recent.indexOf(id) : recent.length)
  const found = candidates.flatMap((candidate) => {
    const kind = kindOf(candidate.name, words)
    return kind === undefined ? [] : [{ candidate, kind, used: usedAt(candidate.id) }]
  })
  found.sort((a, b) => a.kind - b.kind || a.used - b.used)
  return take(
    found.map(({ candidate }) => candidate),
    MAX_SHOWN,
  )
}

function usual(candidates: readonly Candidate[], recent: readonly string[]): Command[] {
  const byId = new Map(candidates.map((candidate) => [candidate.id, candidate]))
  const used = recent.flatMap((id) => byId.get(id) ?? [])
  const last = take(used, MAX_RECENT).map((command) => ({ ...command, group: 'Last used' }))
  const rest = candidates.filter(({ id }) => !last.some((one) => one.id === id))
  return [...last, ...take(rest, MAX_SHOWN - last.length)]
}

/** The first that the person may do. */
function take(candidates: readonly Candidate[], most: number): Command[] {
  const taken: Command[] = []
  for (const { doing, ...command } of candidates) {
    if (taken.length === most) break
    const does = doing()
    if (does !== undefined) taken.push({ ...command, does })
  }
  return taken
}
