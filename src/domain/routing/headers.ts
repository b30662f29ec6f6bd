import { type Parsed, type Problem, refused } from './parsed.ts'
import { type Part, partsOf } from './placeholders.ts'
import { namesOf, parseSource, type Source } from './source.ts'
import { isIdle, isTooLong, linesOf, Refusals, TOO_LONG, TOO_WRONG } from './text-lines.ts'

/** A block of `_headers`: what it sets and removes, by lower-case name. Plain data, so that it can be stored. */
export type HeaderBlock = {
  line: number
  source: Source
  set: { line: number; name: string; value: Part[] }[]
  unset: { line: number; name: string }[]
}

export type ParsedHeaders = {
  blocks: HeaderBlock[]
  refused: number
  problems: Problem[]
  /** The first line that wants a password; null if none does. */
  basicAuthLine: number | null
}

export const MAX_BLOCKS = 100
/** One is left when the last value has found its room. */
export const MAX_VALUE_BYTES = 32 * 1024 + 1
const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/
const PRINTABLE = /^[\t\x20-\x7e]+$/

/** Names that no site may set or remove. contract 13 §3. */
const NEVER: ReadonlySet<string> = new Set(
  (
    'connection keep-alive te trailer transfer-encoding upgrade content-length content-encoding content-range ' +
    'accept-ranges etag last-modified date age location set-cookie set-cookie2 clear-site-data alt-svc'
  ).split(' '),
)
const NEVER_BEGINS = /^(?:proxy-|x-svc-)/

/** Parses the text of a `_headers`. A line or block that is wrong is left out and named. contract 13 §3. */
export function parseHeaders(text: string): ParsedHeaders {
  const reader = new HeaderReader()
  for (const { line, text: written } of linesOf(text)) if (!isIdle(written)) reader.read(line, written)
  return reader.end()
}

/** The first line that wants a password, in whatever is found of a text; null if none does. */
export function findBasicAuth(text: string): number | null {
  if (!BASIC_AUTH.test(text)) return null
  for (const { line, text: written } of linesOf(text)) if (BASIC_AUTH_LINE.test(written)) return line
  return null
}

const BASIC_AUTH = /basic-auth/i
const BASIC_AUTH_LINE = /^\s*basic-auth\s*:/i

/** A block that lines are added to, by name; `source` null if its path is wrong, so that its lines go with it. */
type OpenBlock = {
  line: number
  source: Source | null
  names: string[]
  set: Map<string, HeaderBlock['set'][number]>
  unset: Map<string, HeaderBlock['unset'][number]>
}

class HeaderReader {
  readonly #refusals = new Refusals()
  readonly #blocks: HeaderBlock[] = []
  #open: OpenBlock | null = null
  #bytesLeft = MAX_VALUE_BYTES
  #basicAuthLine: number | null = null

  read(line: number, written: string): void {
    const text = written.trim()
    const isLong = isTooLong(written)
    if (BASIC_AUTH_LINE.test(text)) this.#basicAuthLine ??= line
    if (/^(?:\/|https?:\/\/)/i.test(text)) {
      this.#begin(line, text, isLong)
      return
    }
    if (this.#open?.source === null) return
    const error = isLong ? TOO_LONG : this.#take(line, text)
    if (error !== null) this.#refusals.add(line, error)
  }

  end(): ParsedHeaders {
    this.#close()
    const { count, problems } = this.#refusals
    return {
      blocks: this.#blocks,
      refused: count,
      problems: problems.toSorted((a, b) => a.line - b.line),
      basicAuthLine: this.#basicAuthLine,
    }
  }

  #begin(line: number, text: string, isLong: boolean): void {
    this.#close()
    const source = isLong ? refused(TOO_LONG) : this.#sourceOf(text)
    if (!source.ok) this.#refusals.add(line, source.error)
    const taken = source.ok ? source.value : null
    const names = taken === null ? [] : namesOf(taken)
    this.#open = { line, source: taken, names, set: new Map(), unset: new Map() }
  }

  #sourceOf(text: string): Parsed<Source> {
    if (this.#blocks.length >= MAX_BLOCKS) return refused(FULL)
    if (this.#refusals.isFull) return refused(TOO_WRONG)
    return /[ \t]/.test(text) ? refused('the path of a block must not hold a blank') : parseSource(text)
  }

  #close(): void {
    const open = this.#open
    this.#open = null
    if (open === null || open.source === null) return
    const { line, source, set, unset } = open
    if (set.size + unset.size === 0) this.#refusals.add(line, 'the block has no line that can be used')
    else this.#blocks.push({ line, source, set: [...set.values()], unset: [...unset.values()] })
  }

  /** Takes a line of the open block; else returns what is wrong with it. */
  #take(line: number, text: string): string | null {
    if (this.#refusals.isFull) return TOO_WRONG
    if (this.#open === null) return 'the header stands before any path'
    const removed = /^!\s*([^\s:]*)$/.exec(text)
    return removed === null
      ? this.#set(this.#open, line, text)
      : this.#unset(this.#open, line, removed[1] ?? '')
  }

  #unset({ unset }: OpenBlock, line: number, written: string): string | null {
    const name = written.toLowerCase()
    const error = name === 'vary' ? 'Vary is only added to' : findNameError(name)
    if (error !== null || unset.has(name)) return error
    if (!this.#spend(name.length)) return NO_ROOM
    unset.set(name, { line, name })
    return null
  }

  #set({ set, names }: OpenBlock, line: number, text: string): string | null {
    const colon = text.indexOf(':')
    if (colon === -1) return 'the line has no colon'
    const name = text.slice(0, colon).trim().toLowerCase()
    const value = text.slice(colon + 1).trim()
    const error = findNameError(name) ?? findValueError(value)
    if (error !== null) return error
    if (!this.#spend(value.length)) return NO_ROOM
    const parts = partsOf(value, names)
    const before = set.get(name)
    if (before === undefined) set.set(name, { line, name, value: parts })
    else before.value.push(', ', ...parts)
    return null
  }

  /** Whether there is room for as many bytes. Where there was none once, there is none for what follows. */
  #spend(bytes: number): boolean {
    this.#bytesLeft = bytes > this.#bytesLeft ? 0 : this.#bytesLeft - bytes
    return this.#bytesLeft > 0
  }
}

const NO_ROOM = 'there are 32 KiB of header values before it, which is the limit'
const FULL = `there are ${MAX_BLOCKS} blocks before it, which is the limit`

function findNameError(name: string): string | null {
  if (name === '') return 'the line has no name'
  if (!TOKEN.test(name)) return 'the name is no name of a header'
  if (name === 'basic-auth')
    return 'Basic-Auth is not supported: make the project or the alias private instead'
  return NEVER.has(name) || NEVER_BEGINS.test(name) ? `${name} belongs to the service` : null
}

function findValueError(value: string): string | null {
  if (value === '') return 'the line has no value'
  return PRINTABLE.test(value) ? null : 'the value must be printable ASCII'
}
