import { addCondition, type Conditions } from './conditions.ts'
import { encodeStrictly, hasDotSegment } from './inserted-values.ts'
import { type Parsed, type Problem, parsed, refused } from './parsed.ts'
import {
  type AskedPath,
  type Captures,
  isDynamic,
  isPlaceholderName,
  matchSource,
  namesOf,
  parseSource,
  type Source,
} from './source.ts'
import { insertInto, parseTarget, type Result, type Target } from './target.ts'
import { isIdle, isTooLong, linesOf, Refusals, TOO_LONG, TOO_WRONG } from './text-lines.ts'

const REDIRECTS = [301, 302, 303, 307, 308] as const
const STATUSES = [200, ...REDIRECTS, 404, 410] as const
export type LineStatus = (typeof STATUSES)[number]

/** A line of `_redirects`. Plain data, so that it can be stored. */
export type RedirectLine = {
  line: number
  source: Source
  query: Record<string, QueryValue>
  /** Null for the service's own page. */
  target: Target | null
  status: LineStatus
  force: boolean
  conditions: Conditions
}

/** What a parameter must be, or the name that its first value is captured by. */
export type QueryValue = { literal: string } | { name: string }

/** What was asked for. An `Arrival` is one. `search` begins with its `?`, or is empty. */
export type Asked = AskedPath & { hostHeader: string; search: string }

/** `mayProxyTo` says why a host may not be called, or null. */
export type RedirectOptions = { mayProxyTo?: (url: URL) => string | null }

export type ParsedRedirects = { lines: RedirectLine[]; refused: number; problems: Problem[] }

export const MAX_STATIC = 2_000
export const MAX_DYNAMIC = 100

/** Parses the text of a `_redirects`. A line that is wrong is left out and named. contract 13 §2. */
export function parseRedirects(text: string, options: RedirectOptions = {}): ParsedRedirects {
  const refusals = new Refusals()
  const lines: RedirectLine[] = []
  const left = { static: MAX_STATIC, dynamic: MAX_DYNAMIC }
  for (const { line, text: written } of linesOf(text)) {
    if (isIdle(written)) continue
    const unread = refusals.isFull ? TOO_WRONG : left.static + left.dynamic === 0 ? FULL.both : null
    const found = unread === null ? parseLine(written, line, options) : refused(unread)
    const kind = found.ok && isDynamic(found.value.source) ? 'dynamic' : 'static'
    if (!found.ok) refusals.add(line, found.error)
    else if (left[kind] === 0) refusals.add(line, FULL[kind])
    else {
      left[kind] -= 1
      lines.push(found.value)
    }
  }
  return { lines, refused: refusals.count, problems: refusals.problems }
}

/** Whether a line sends the visitor elsewhere. */
export const isRedirect = ({ status }: { status: number }): boolean => status >= 300 && status < 400

/**
 * What a line makes of a request; null if it does not take it, or if a 3xx line would lead to the address asked for.
 * `result` is null for the service's own page. Conditions are not asked.
 */
export function resultOf(
  line: Pick<RedirectLine, 'source' | 'query' | 'target' | 'status'>,
  asked: Asked,
): { result: Result | null } | null {
  const ofPath = matchSource(line.source, asked)
  const ofQuery = ofPath === null ? null : matchQuery(line.query, asked)
  if (ofPath === null || ofQuery === null) return null
  if (line.target === null) return { result: null }
  const result = insertInto(line.target, { ...ofPath, ...ofQuery.captures }, ofQuery.rest)
  if (result === null || (isRedirect(line) && isSameAddress(result, asked))) return null
  return { result }
}

/** Whether a result is the address asked for, whatever its spelling. contract 13 §2. */
function isSameAddress({ origin, path, search }: Result, asked: Asked): boolean {
  const matched = matchSource(exactly(path), asked)
  if (matched === null || path.endsWith('/') !== asked.plain.endsWith('/')) return false
  if (search.slice(1) !== asked.search.slice(1)) return false
  return origin === null || isHost(origin.slice(origin.indexOf('//') + 2), asked)
}

const isHost = (host: string, { host: askedHost, hostHeader }: Asked): boolean =>
  host === askedHost || host === hostHeader.toLowerCase()

/** A source that takes one path only, in every spelling. */
function exactly(path: string): Source {
  const source = parseSource(path.replaceAll('*', '%2A').replaceAll(':', '%3A'))
  return source.ok ? source.value : { text: path, host: '', before: [], star: null, after: [] }
}

/** Captured parameters, encoded as one segment, and the query without the line's parameters. */
function matchQuery(
  wanted: RedirectLine['query'],
  asked: Asked,
): { captures: Captures; rest: string } | null {
  const keys = Object.keys(wanted)
  if (keys.length === 0) return { captures: {}, rest: asked.search }
  const { pairs, first } = pairsOf(asked)
  const captures: Record<string, string> = {}
  for (const key of keys) {
    const [value, given] = [wanted[key], first.get(key)]
    if (value === undefined || given === undefined) return null
    if ('literal' in value) {
      if (value.literal !== given) return null
      continue
    }
    const text = encodeStrictly(given)
    if (hasDotSegment(text)) return null
    captures[value.name] = text
  }
  const others = pairs.filter(({ sent, key }) => sent !== '' && !keys.includes(key))
  return { captures, rest: others.length === 0 ? '' : `?${others.map(({ sent }) => sent).join('&')}` }
}

type Pair = { sent: string; key: string; value: string }
type Pairs = { pairs: readonly Pair[]; first: ReadonlyMap<string, string> }

/** Read once for all lines: a query may have thousands of pairs. */
const read = new WeakMap<Asked, Pairs>()
function pairsOf(asked: Asked): Pairs {
  const known = read.get(asked)
  if (known !== undefined) return known
  const pairs = asked.search.slice(1).split('&').map(decodedPair)
  const first = new Map(pairs.toReversed().map(({ key, value }) => [key, value]))
  read.set(asked, { pairs, first })
  return { pairs, first }
}

/** A pair of a query, each half decoded once. */
function decodedPair(sent: string): Pair {
  const [[key, value] = ['', '']] = [...new URLSearchParams(`&${sent}`)]
  return { sent, key, value }
}

const FULL = {
  static: `there are ${MAX_STATIC} lines without * and :name before it, which is the limit`,
  dynamic: `there are ${MAX_DYNAMIC} lines with * or :name before it, which is the limit`,
  both: `there are ${MAX_STATIC} lines without * and :name and ${MAX_DYNAMIC} with before it, which are the limits`,
}

function parseLine(text: string, line: number, options: RedirectOptions): Parsed<RedirectLine> {
  if (isTooLong(text)) return refused(TOO_LONG)
  const [first = '', ...rest] = tokensOf(text)
  const source = parseSource(first)
  return source.ok ? parseRest(source.value, rest, line, options) : source
}

function tokensOf(text: string): string[] {
  const tokens = text.split(/[ \t]+/).filter((token) => token !== '')
  const comment = tokens.findIndex((token) => token.startsWith('#'))
  return comment === -1 ? tokens : tokens.slice(0, comment)
}

function parseRest(
  source: Source,
  tokens: readonly string[],
  line: number,
  options: RedirectOptions,
): Parsed<RedirectLine> {
  const isTarget = (token: string) => /^(?:\/|https?:\/\/)/i.test(token)
  const count = tokens.findIndex((token) => isTarget(token) || !token.includes('='))
  const query = parseQuery(count === -1 ? tokens : tokens.slice(0, count), namesOf(source))
  if (!query.ok) return query
  const behind = count === -1 ? [] : tokens.slice(count)
  const target = behind[0] !== undefined && isTarget(behind[0]) ? behind.shift() : undefined
  const status = parseStatus(/^[^=]+$/.test(behind[0] ?? '') ? behind.shift() : undefined)
  if (!status.ok) return status
  const conditions = parseConditions(behind)
  if (!conditions.ok) return conditions
  const names = [...namesOf(source), ...namesOfQuery(query.value)]
  const led = parseEnd(source, target, status.value.status, names, options)
  if (!led.ok) return led
  return parsed({
    line,
    source,
    query: query.value,
    target: led.value,
    ...status.value,
    conditions: conditions.value,
  })
}

function parseQuery(tokens: readonly string[], taken: readonly string[]): Parsed<RedirectLine['query']> {
  const query = new Map<string, QueryValue>()
  const names = [...taken]
  for (const token of tokens) {
    const { key, value } = decodedPair(token.replaceAll('&', '%26'))
    if (key === '' || query.has(key)) return refused('a parameter has no name, or stands twice')
    const isName = /^:[A-Za-z]/.test(value)
    const name = value.slice(1)
    if (isName && (!isPlaceholderName(name) || names.includes(name)))
      return refused('the placeholder of a parameter is no name, or stands twice')
    if (isName) names.push(name)
    query.set(key, isName ? { name } : { literal: value })
  }
  return parsed(Object.fromEntries(query))
}

const namesOfQuery = (query: RedirectLine['query']): string[] =>
  Object.values(query).flatMap((value) => ('name' in value ? [value.name] : []))

function parseStatus(text = '301'): Parsed<{ status: LineStatus; force: boolean }> {
  const force = text.endsWith('!')
  const digits = force ? text.slice(0, -1) : text
  const status = STATUSES.find((known) => String(known) === digits)
  return status === undefined
    ? refused(`"${text.slice(0, 60)}" is no status; ${STATUSES.join(', ')} are`)
    : parsed({ status, force })
}

function parseConditions(tokens: readonly string[]): Parsed<Conditions> {
  let conditions: Conditions = {}
  for (const token of tokens) {
    const added = addCondition(conditions, token)
    if (!added.ok) return added
    conditions = added.value
  }
  return parsed(conditions)
}

/** Where a line leads, with what a missing target stands for. */
function parseEnd(
  source: Source,
  text: string | undefined,
  status: LineStatus,
  names: readonly string[],
  options: RedirectOptions,
): Parsed<Target | null> {
  if (text === undefined) {
    if (status === 404 || status === 410) return parsed(null)
    const isOpen = status === 200 && source.text.endsWith('/*')
    return isOpen ? parseTarget('/:splat', names) : refused('the line has no target')
  }
  const target = parseTarget(text, names)
  if (!target.ok || target.value.origin === null || isRedirect({ status })) return target
  const error = status === 200 ? findProxyError(target.value.origin, options) : NO_PAGE
  return error === null ? target : refused(error)
}

const NO_PAGE = 'the page of a 404 or 410 must be a path'

function findProxyError(origin: string, { mayProxyTo }: RedirectOptions): string | null {
  if (!origin.startsWith('https://')) return 'an address that is fetched must begin with https://'
  const url = new URL(origin)
  if (url.hostname === 'localhost' || url.hostname.endsWith('.localhost'))
    return 'this server itself must not be fetched'
  return mayProxyTo?.(url) ?? null
}
