import type { Problem } from './parsed.ts'

/** Larger files are not read. */
export const MAX_FILE_BYTES = 5 * 1024 * 1024
const MAX_LINE = 2_000
const KEPT_PROBLEMS = 100
/** Behind as many wrong lines the rest of a file is refused without a look. */
const MAX_REFUSED = 20_000

export const TOO_LONG = `the line is longer than ${MAX_LINE} characters`

/** A text that may be read as a routing file, or why not. */
type ReadText = { text: string; problem: null } | { text: null; problem: Problem }

/** Of what follows too much that is wrong. */
export const TOO_WRONG = 'there are too many wrong lines before it'

/** The text of a routing file, without a byte order mark. contract 13 §1. */
export function textOfFile(bytes: Uint8Array): ReadText {
  if (bytes.length > MAX_FILE_BYTES) return unread('the file is larger than 5 MiB, so nothing of it is used')
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), problem: null }
  } catch {
    return unread('the file is not UTF-8, so nothing of it is used')
  }
}

const unread = (message: string): ReadText => ({ text: null, problem: { line: 0, message } })

/** The lines of a text, which end in LF or CRLF, with their numbers. */
export function* linesOf(text: string): Generator<{ line: number; text: string }> {
  let line = 0
  for (let from = 0; from <= text.length; ) {
    const found = text.indexOf('\n', from)
    const end = found === -1 ? text.length : found
    line += 1
    yield { line, text: text.slice(from, text[end - 1] === '\r' && end > from ? end - 1 : end) }
    from = end + 1
  }
}

/** Whether a line says nothing: it is empty or a comment. */
export const isIdle = (text: string): boolean => /^[ \t]*(?:#|$)/.test(text)

/** Counted in characters, not in halves of them. */
export const isTooLong = (text: string): boolean =>
  text.length > MAX_LINE && (text.length > 2 * MAX_LINE || [...text].length > MAX_LINE)

/** Counts what was refused, and keeps the first of it. */
export class Refusals {
  readonly problems: Problem[] = []
  count = 0

  get isFull(): boolean {
    return this.count >= MAX_REFUSED
  }

  add(line: number, message: string): void {
    this.count += 1
    if (this.problems.length < KEPT_PROBLEMS) this.problems.push({ line, message })
  }
}
