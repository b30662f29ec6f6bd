import { asciiHost } from '../hostname.ts'
import { charactersOf, lengthOfSpelling, plainPath } from '../plain-path.ts'
import { asSent, asSentPlain, hasDotSegment } from './inserted-values.ts'
import { type Parsed, parsed, refused } from './parsed.ts'

/** A segment of a source: its plain text, or the name of a placeholder. */
type Segment = string | { name: string }

/**
 * Which paths a line takes. Holds plain data, so that it can be stored. `before` are the whole segments in front of the
 * star, or all; `star` the texts around it in its segment, null without one; `after` the whole segments behind it.
 */
export type Source = {
  /** As its author wrote it. */
  text: string
  /** Lower case, without port; null for every host. */
  host: string | null
  before: Segment[]
  star: { head: string; tail: string } | null
  after: Segment[]
}

/** What was asked for: the host in lower case without port, and the path as it came and in plain form. */
export type AskedPath = { host: string | null; path: string; plain: string }

/** Inserted texts by name, percent-encoded; `splat` is that of the star. */
export type Captures = Readonly<Record<string, string>>

const ORIGIN = /^https?:\/\//i
const NAME = /^[A-Za-z]\w*$/
const STAR = 'splat'
const NO_CAPTURES: Captures = {}

/** Parses a source: a path, or an address, which holds on its host only. contract 13 §2. */
export function parseSource(text: string): Parsed<Source> {
  const isAddress = ORIGIN.test(text)
  if (!isAddress && !text.startsWith('/')) return refused('the source must begin with /, http:// or https://')
  if (/[?#]/.test(text)) return refused('the source must not hold ? or #')
  if (/[\p{Cc}\\]/u.test(text)) return refused('the source must not hold a backslash or a control character')
  if (!isAddress) return parsePath(text, text, null)
  const rest = text.replace(ORIGIN, '')
  const slash = rest.indexOf('/')
  if (slash === -1) return refused('the source names a host but no path')
  const host = hostOf(rest.slice(0, slash))
  return host === null
    ? refused('the source must name a host, without user or placeholder')
    : parsePath(text, rest.slice(slash), host)
}

/** The names that a source captures, with `splat` for a star. */
export function namesOf({ before, star, after }: Source): string[] {
  const named = [...before, ...after].flatMap((segment) =>
    typeof segment === 'string' ? [] : [segment.name],
  )
  return star === null ? named : [...named, STAR]
}

export const isDynamic = (source: Source): boolean => namesOf(source).length > 0

/** The plain path of a source without star and placeholder, without the slash at its end. */
export const literalOf = ({ before }: Source): string => `/${before.join('/')}`

/** Whether a text can name a placeholder. */
export const isPlaceholderName = (text: string): boolean => NAME.test(text) && text !== STAR

/**
 * What a source captures of a path; null if it does not take it. A slash at the end makes no difference. Takes time
 * linear in the path.
 */
export function matchSource(source: Source, asked: AskedPath): Captures | null {
  const spans = takePath(source, asked)
  if (spans === null) return null
  if (spans.length === 0) return NO_CAPTURES
  const captures: Record<string, string> = {}
  for (const { name, text } of spans) {
    if (hasDotSegment(text)) return null
    captures[name] = text
  }
  return captures
}

const hostOf = (text: string): string | null => asciiHost(text.replace(/:\d{0,5}$/, ''))

function parsePath(text: string, path: string, host: string | null): Parsed<Source> {
  const [front = '', back, ...more] = path.split('*')
  if (more.length > 0) return refused('the source must not hold more than one *')
  const before = trimmed(front, back === undefined)
    .split('/')
    .slice(1)
  const after = back === undefined ? [] : trimmed(back, true).split('/')
  const head = back === undefined ? null : (before.pop() ?? '')
  const tail = after.shift() ?? ''
  if (head?.startsWith(':') && /^:[A-Za-z]/.test(head)) return refused(WHOLE)
  const segments = [...before, ...after].map(parseSegment)
  const bad = segments.find((segment) => !segment.ok)
  if (bad !== undefined && !bad.ok) return bad
  const values = segments.flatMap((segment) => (segment.ok ? [segment.value] : []))
  const source: Source = {
    text,
    host,
    before: values.slice(0, before.length),
    star: head === null ? null : { head: plainPath(head), tail: plainPath(tail) },
    after: values.slice(before.length),
  }
  const names = namesOf(source)
  return new Set(names).size === names.length ? parsed(source) : refused('a placeholder stands twice')
}

const WHOLE = 'a placeholder (:name) must be a whole segment of the source'

/** Without the slash at the end, which makes no difference. */
const trimmed = (path: string, isEnd: boolean): string =>
  isEnd && path.endsWith('/') ? path.slice(0, -1) : path

function parseSegment(text: string): Parsed<Segment> {
  if (!/^:[A-Za-z]/.test(text)) return parsed(plainPath(text))
  const name = text.slice(1)
  if (name === STAR) return refused('the source must not name :splat, which stands for *')
  return NAME.test(name) ? parsed({ name }) : refused(WHOLE)
}

type Capture = { name: string; text: string }
type Split = { plain: readonly string[]; path: readonly string[]; asked: AskedPath }

function takePath(source: Source, asked: AskedPath): Capture[] | null {
  const { before, star } = source
  if (source.host !== null && source.host !== asked.host) return null
  if (!mayBegin(before, asked.plain)) return null
  const split = segmentsOf(asked)
  return star === null ? takeSegments(before, split) : takeStar(source, star, split)
}

/** Split once for all lines: a path may have thousands of slashes. */
const splits = new WeakMap<AskedPath, Split>()
function segmentsOf(asked: AskedPath): Split {
  const known = splits.get(asked)
  if (known !== undefined) return known
  const split = { plain: asked.plain.split('/').slice(1), path: asked.path.split('/').slice(1), asked }
  splits.set(asked, split)
  return split
}

/** How many segments there are without the empty one behind a slash at the end. */
const lengthWithoutEnd = ({ plain }: Split): number => (plain.at(-1) === '' ? plain.length - 1 : plain.length)

function takeSegments(wanted: readonly Segment[], split: Split): Capture[] | null {
  if (lengthWithoutEnd(split) !== wanted.length || !areTaken(wanted, split.plain)) return null
  return capturesOf(wanted, split.path)
}

/** A cheap look at the first segment, by which most lines are out. */
const mayBegin = ([first]: readonly Segment[], plain: string): boolean =>
  typeof first !== 'string' || plain.startsWith(first, 1)

const areTaken = (wanted: readonly Segment[], given: readonly string[], from = 0): boolean =>
  wanted.every((segment, index) => {
    const text = given[from + index] ?? ''
    return typeof segment === 'string' ? segment === text : text !== ''
  })

const capturesOf = (wanted: readonly Segment[], raw: readonly string[], from = 0): Capture[] =>
  wanted.flatMap((segment, index) =>
    typeof segment === 'string' ? [] : [{ name: segment.name, text: asSent(raw[from + index] ?? '') }],
  )

/** The segments that are none of the star's are counted from both ends, so that nothing is tried twice. */
function takeStar(
  { before, after }: Source,
  { head, tail }: { head: string; tail: string },
  split: Split,
): Capture[] | null {
  const isOpenEnd = tail === '' && after.length === 0
  const count = isOpenEnd ? split.plain.length : lengthWithoutEnd(split)
  const rest = count - after.length
  // `/news/*` takes `/news`.
  const endsAtStar = isOpenEnd && head === '' && rest === before.length
  if (rest <= before.length && !endsAtStar) return null
  if (!areTaken(before, split.plain) || !areTaken(after, split.plain, rest)) return null
  const middle = joined(split.asked.plain, split.plain, before.length, rest)
  if (middle.length < head.length + tail.length || !middle.startsWith(head) || !middle.endsWith(tail))
    return null
  const raw = joined(split.asked.path, split.path, before.length, rest)
  return [
    ...capturesOf(before, split.path),
    ...capturesOf(after, split.path, rest),
    { name: STAR, text: between(raw, middle, { head, tail }) },
  ]
}

/** The text of some segments of a path, without joining what may be thousands. */
function joined(path: string, segments: readonly string[], from: number, to: number): string {
  if (from >= to) return ''
  let [start, end] = [1, path.length]
  for (let at = 0; at < from; at++) start += (segments[at] ?? '').length + 1
  for (let at = to; at < segments.length; at++) end -= (segments[at] ?? '').length + 1
  return path.slice(start, end)
}

/** What stands between two plain texts in a raw one, as it came. `plain` is the plain form of `raw`. */
function between(raw: string, plain: string, { head, tail }: { head: string; tail: string }): string {
  if (head === '' && tail === '') return asSent(raw)
  const from = lengthOfSpelling(raw, head)
  const to = raw.length - lengthOfEnd(raw.slice(from), tail)
  const value = raw.slice(from, to)
  const wanted = plain.slice(head.length, plain.length - tail.length)
  // A character may be made of a part of each, as with combining marks.
  return plainPath(value) === wanted ? asSent(value) : asSentPlain(wanted)
}

/** How many raw characters at the end spell a plain text. */
function lengthOfEnd(raw: string, tail: string): number {
  const characters = charactersOf(raw)
  let [length, spelled] = [0, 0]
  for (let at = characters.length - 1; at >= 0 && spelled < tail.length; at--) {
    const character = characters[at] ?? ''
    length += character.length
    spelled += plainPath(character).length
  }
  return length
}
