import { isHeaderName } from '../../domain/names.ts'
import { MAX_BLOCKS, MAX_VALUE_BYTES, parseHeaders } from '../../domain/routing/headers.ts'
import { MAX_DYNAMIC, MAX_STATIC, parseRedirects } from '../../domain/routing/redirects.ts'
import { isDynamic } from '../../domain/routing/source.ts'
import type { HeaderEntry, HeaderLine, Outcome } from './outcome.ts'

/** The texts of the two files, empty without a line, and how many lines and blocks they have. */
export type Composed = { redirects: string; headers: string; counts: { redirects: number; headers: number } }

/** Writes the lines that a publish would take. Whatever it would refuse is added to what is not carried. */
export function compose(out: Outcome): Composed {
  const redirects = takenRedirects(out)
  const blocks = takenBlocks(out)
  return {
    redirects: redirects.map((text) => `${text}\n`).join(''),
    headers: blocks
      .map(({ path, lines }) => `${path}\n${lines.map((line) => `  ${line}\n`).join('')}`)
      .join('\n'),
    counts: { redirects: redirects.length, headers: blocks.length },
  }
}

function takenRedirects(out: Outcome): string[] {
  const left = { static: MAX_STATIC, dynamic: MAX_DYNAMIC }
  return out.redirects.flatMap((entry) => {
    const { lines, problems } = parseRedirects(entry.text)
    const [line] = lines
    const kind = line !== undefined && isDynamic(line.source) ? 'dynamic' : 'static'
    if (line !== undefined && left[kind] > 0) {
      left[kind] -= 1
      return [entry.text]
    }
    out.leave(entry, entry.what, line === undefined ? (problems[0]?.message ?? 'it says nothing') : FULL)
    return []
  })
}

const FULL = `there are ${MAX_STATIC} lines without * and :name, or ${MAX_DYNAMIC} with, before it: that is the limit`

type Block = { path: string; lines: string[] }

function takenBlocks(out: Outcome): Block[] {
  const named = new Set<string>()
  const blocks: Block[] = []
  let bytesLeft = MAX_VALUE_BYTES
  for (const entry of out.headers) {
    const lines = linesOf(entry, named, out).filter((line) => {
      bytesLeft -= blocks.length < MAX_BLOCKS ? line.value.length : 0
      const isTaken = blocks.length < MAX_BLOCKS && bytesLeft > 0
      if (!isTaken)
        out.leave(line, line.what, 'there are 100 paths or 32 KiB of values before it: that is the limit')
      return isTaken
    })
    if (lines.length === 0) continue
    // What was set for an earlier path is added to, unless it is taken away first.
    const replaced = lines.flatMap(({ name }) =>
      entry.isLast && named.has(name.toLowerCase()) ? [`! ${name}`] : [],
    )
    for (const { name } of lines) named.add(name.toLowerCase())
    blocks.push({ path: entry.path, lines: [...replaced, ...lines.map(textOf)] })
  }
  return blocks
}

const textOf = ({ name, value }: HeaderLine): string => `${name}: ${value}`

/** The lines of a block that are taken by themselves; where the last one counts, the last of each name. */
function linesOf(
  { path, lines, isLast }: HeaderEntry,
  named: ReadonlySet<string>,
  out: Outcome,
): HeaderLine[] {
  const taken = lines.filter((line) => {
    const isVary = line.name.toLowerCase() === 'vary'
    const why = isLast && isVary && named.has('vary') ? ONLY_ADDED : refusalOf(path, line)
    if (why !== null) out.leave(line, line.what, why)
    return why === null
  })
  if (!isLast) return taken
  return [...new Map(taken.map((line) => [line.name.toLowerCase(), line])).values()]
}

const ONLY_ADDED = 'it replaces that of a path before it there, and Vary is only added to here'

function refusalOf(path: string, line: HeaderLine): string | null {
  if (!isHeaderName(line.name)) return 'the name is no name of a header'
  if (/[^\t\x20-\x7e]/.test(line.value)) return 'the value holds more than printable ASCII'
  const { blocks, problems } = parseHeaders(`${path}\n  ${textOf(line)}`)
  const set = blocks[0]?.set[0]
  // Behind that of the line stands none, before it may stand that of its block.
  if (set === undefined) return problems.at(-1)?.message ?? 'it says nothing'
  return set.value.every((part) => typeof part === 'string')
    ? null
    : 'its value would be read as holding a placeholder'
}
