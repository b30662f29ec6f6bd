import { isUtf8 } from 'node:buffer'

/** The library, put before this text by diff-thread.ts. */
declare const Diff: typeof import('diff').Diff

/** The bytes of both sides; null where there is no file. */
export type DiffJob = {
  from: Uint8Array | null
  to: Uint8Array | null
  /** For a patch: binary content has hunks too, and equal content one that changes nothing. */
  isPatch: boolean
}

/** Numbers as in a unified diff. Each of `lines` begins with ` `, `-`, `+` or `\`. */
export type Hunk = { fromStart: number; fromLines: number; toStart: number; toLines: number; lines: string[] }

/** `lines` are Latin-1 where `isText` is false, so that each byte is a character. */
export type DiffAnswer = { isText: boolean; tooLarge: boolean; hunks: Hunk[] }

/** Lines of both sides that differ: `from` of the old ones to before `fromEnd`, likewise the new ones. */
type Block = { from: number; fromEnd: number; to: number; toEnd: number }

const MAX_LINES = 20_000
const CONTEXT = 3
/** Beyond that many lines, or that long, what lies between the first and the last difference is one block. */
const MAX_DIFFERENT_LINES = 2_000
const MAX_MS = 1_000

/** Of lines as numbers from 1. */
class LineDiff extends Diff<number, number[]> {
  override join(numbers: number[]): number[] {
    return numbers
  }
}

export function work({ from, to, isPatch }: DiffJob): DiffAnswer {
  const isText = [from, to].every((bytes) => bytes === null || (!bytes.includes(0) && isUtf8(bytes)))
  const [old, now] = [linesOf(from, isText), linesOf(to, isText)]
  const tooLarge = old.length > MAX_LINES || now.length > MAX_LINES
  if (tooLarge || !(isText || isPatch)) return { isText, tooLarge, hunks: [] }
  const blocks = blocksOf(old, now)
  if (blocks.length === 0 && isPatch && old.length > 0) blocks.push({ from: 0, fromEnd: 1, to: 0, toEnd: 1 })
  return { isText, tooLarge, hunks: groupsOf(blocks).map((group) => hunkOf(group, old, now)) }
}

/** Each with its line feed; the last may have none. */
function linesOf(bytes: Uint8Array | null, isText: boolean): string[] {
  if (bytes === null || bytes.length === 0) return []
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(isText ? 'utf8' : 'latin1')
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

function blocksOf(old: readonly string[], now: readonly string[]): Block[] {
  const shortest = Math.min(old.length, now.length)
  let start = 0
  while (start < shortest && old[start] === now[start]) start++
  let end = 0
  while (end < shortest - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++
  const [fromEnd, toEnd] = [old.length - end, now.length - end]
  const blocks: Block[] = []
  let [from, to] = [start, start]
  for (const [oldAt, nowAt] of [
    ...commonLines(old, now, { start, fromEnd, toEnd }),
    [fromEnd, toEnd] as const,
  ]) {
    if (oldAt > from || nowAt > to) blocks.push({ from, fromEnd: oldAt, to, toEnd: nowAt })
    ;[from, to] = [oldAt + 1, nowAt + 1]
  }
  return blocks
}

/** The places of the lines that stay. A line that only one side has stays nowhere, and the library need not see it. */
function commonLines(
  old: readonly string[],
  now: readonly string[],
  { start, fromEnd, toEnd }: { start: number; fromEnd: number; toEnd: number },
): (readonly [number, number])[] {
  const [inOld, inNow] = [new Set(old.slice(start, fromEnd)), new Set(now.slice(start, toEnd))]
  const numbers = new Map<string, number>()
  const numberOf = (line: string): number => {
    const number = numbers.get(line) ?? numbers.size + 1
    numbers.set(line, number)
    return number
  }
  const placesOf = (lines: readonly string[], end: number, others: ReadonlySet<string>): number[] => {
    const places: number[] = []
    for (let at = start; at < end; at++) if (others.has(lines[at] ?? '')) places.push(at)
    return places
  }
  const [oldPlaces, nowPlaces] = [placesOf(old, fromEnd, inNow), placesOf(now, toEnd, inOld)]
  const parts = new LineDiff().diff(
    oldPlaces.map((at) => numberOf(old[at] ?? '')),
    nowPlaces.map((at) => numberOf(now[at] ?? '')),
    { maxEditLength: MAX_DIFFERENT_LINES, timeout: MAX_MS },
  )
  const common: [number, number][] = []
  let [oldAt, nowAt] = [0, 0]
  for (const { added, removed, count = 0 } of parts ?? []) {
    if (!added && !removed)
      for (let at = 0; at < count; at++) common.push([oldPlaces[oldAt + at] ?? 0, nowPlaces[nowAt + at] ?? 0])
    if (!added) oldAt += count
    if (!removed) nowAt += count
  }
  return common
}

/** Blocks whose contexts meet are in one hunk. */
function groupsOf(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = []
  for (const block of blocks) {
    const group = groups.at(-1)
    const before = group?.at(-1)
    if (group !== undefined && before !== undefined && block.from - before.fromEnd <= 2 * CONTEXT)
      group.push(block)
    else groups.push([block])
  }
  return groups
}

function hunkOf(group: readonly Block[], old: readonly string[], now: readonly string[]): Hunk {
  const [first, last] = [group.at(0), group.at(-1)]
  if (first === undefined || last === undefined) throw new Error('a hunk has a difference')
  const before = Math.min(CONTEXT, first.from)
  const after = Math.min(CONTEXT, old.length - last.fromEnd)
  const [start, toStart] = [first.from - before, first.to - before]
  const [end, toEnd] = [last.fromEnd + after, last.toEnd + after]
  const lines: string[] = []
  let at = start
  for (const { from, fromEnd, to, toEnd } of group) {
    addLines(lines, ' ', old.slice(at, from))
    addLines(lines, '-', old.slice(from, fromEnd))
    addLines(lines, '+', now.slice(to, toEnd))
    at = fromEnd
  }
  addLines(lines, ' ', old.slice(at, end))
  const numberOf = (place: number, count: number) => (count === 0 ? place : place + 1)
  const [fromLines, toLines] = [end - start, toEnd - toStart]
  return {
    fromStart: numberOf(start, fromLines),
    fromLines,
    toStart: numberOf(toStart, toLines),
    toLines,
    lines,
  }
}

function addLines(to: string[], mark: ' ' | '-' | '+', lines: readonly string[]): void {
  for (const line of lines) {
    const isWhole = line.endsWith('\n')
    to.push(mark + (isWhole ? line.slice(0, -1) : line))
    if (!isWhole) to.push('\\ No newline at end of file')
  }
}
