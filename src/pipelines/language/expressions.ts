import { PROTOTYPE_KEYS } from '../../domain/prototype-keys.ts'
import { plain } from './json-text.ts'

/** The roots of paths. `metadata` is an alias of `request`. contract §9.3. */
export const ROOTS = [
  'steps',
  'request',
  'metadata',
  'input',
  'user',
  'project',
  'deployment',
  'secrets',
] as const
type Root = (typeof ROOTS)[number]

export type Expression =
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'call'; name: 'now' | 'uuid' }
  | { kind: 'path'; root: Root; keys: readonly string[] }

/** What an expression is evaluated against. */
export type Scope = {
  root(name: Exclude<Root, 'secrets'>): unknown
  secret(name: string): string | null
  now(): string
  uuid(): string
}

/** `position` counts from 0 in the parsed text. */
export class ExpressionError extends Error {
  readonly position: number

  constructor(message: string, position: number) {
    super(`${message}, at character ${position + 1}`)
    this.position = position
  }
}

const MAX_EXPRESSION = 1000
const MAX_KEYS = 32
/** A number as in JSON. 007 is a text, such as a postal code. */
const NUMBER = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const WORDS = new Map<string, boolean | null>([
  ['true', true],
  ['false', false],
  ['null', null],
])
const FIRST_WORD = /^[\p{L}_$][\p{L}\p{N}_$]*/u
const KEY = /[\p{L}\p{N}_$]+/uy

/** Parses a whole text. A text whose first word has no meaning here stands for itself. Throws `ExpressionError`. */
export function parseExpression(source: string): Expression {
  const text = source.trim()
  const literal = parseLiteral(text)
  if (literal !== undefined) return { kind: 'literal', value: literal }
  const [word = ''] = FIRST_WORD.exec(text) ?? []
  const call = /^(now|uuid)\s*\(/.exec(text)?.[1]
  const root = ROOTS.find((one) => one === word)
  const isAddress = text[word.length] === '@'
  if ((call === undefined && root === undefined) || isAddress) return { kind: 'literal', value: source }
  const indent = source.length - source.trimStart().length
  if (text.length > MAX_EXPRESSION)
    throw new ExpressionError(`An expression has at most ${MAX_EXPRESSION} characters`, indent)
  return root === undefined ? parseCall(text, indent) : parsePath(text, root, indent)
}

/** Evaluates to null if anything on the path is missing. Only sees own properties, never inherited ones. */
export function evaluate(expression: Expression, scope: Scope): unknown {
  switch (expression.kind) {
    case 'literal':
      return expression.value
    case 'call':
      return expression.name === 'now' ? scope.now() : scope.uuid()
    case 'path':
      return follow(expression.root, expression.keys, scope)
  }
}

/** The name by which an element of a list is an output of a step. */
export const ITEM = 'item'

/** Whether the expression names a path in `steps.item` that is not there; one that leads to null is. */
export function isAbsentInItem(expression: Expression, scope: Scope): boolean {
  if (expression.kind !== 'path' || expression.root !== 'steps' || expression.keys[0] !== ITEM) return false
  const last = expression.keys.length - 1
  let holder: unknown = scope.root('steps')
  for (const [i, key] of expression.keys.entries()) {
    if (i === last && !isOwn(holder, key)) return true
    holder = own(holder, key)
  }
  return false
}

function follow(root: Root, keys: readonly string[], scope: Scope): unknown {
  const [first, ...rest] = keys
  if (root === 'secrets') return first === undefined ? null : rest.reduce(own, scope.secret(first) as unknown)
  // A copy of all outputs so far: a step that keeps it becomes one of the outputs, and must not contain itself.
  if (root === 'steps' && keys.length === 0) return { ...(scope.root(root) as object) }
  return keys.reduce(own, scope.root(root)) ?? null
}

function own(value: unknown, key: string): unknown {
  return isOwn(value, key) ? ((plain(value) as Record<string, unknown>)[key] ?? null) : null
}

function isOwn(value: unknown, key: string): boolean {
  const holder = plain(value)
  return (
    typeof holder === 'object' && holder !== null && !PROTOTYPE_KEYS.has(key) && Object.hasOwn(holder, key)
  )
}

function parseLiteral(text: string): string | number | boolean | null | undefined {
  if (NUMBER.test(text)) return Number(text)
  const word = WORDS.get(text)
  if (word !== undefined) return word
  const quoted = readQuoted(text, 0)
  return quoted !== undefined && quoted.end === text.length ? quoted.value : undefined
}

/**
 * Reads `'…'` or `"…"` at the position. A backslash escapes the next character; `\n`, `\t` and `\r` have their usual
 * meaning.
 */
function readQuoted(text: string, start: number): { value: string; end: number } | undefined {
  const quote = text[start]
  if (quote !== "'" && quote !== '"') return undefined
  let value = ''
  for (let i = start + 1; i < text.length; i++) {
    const char = text[i] ?? ''
    if (char === quote) return { value, end: i + 1 }
    if (char === '\\' && i + 1 < text.length) {
      const next = text[++i] ?? ''
      value += ESCAPES[next] ?? next
    } else value += char
  }
  return undefined
}

const ESCAPES: Readonly<Record<string, string | undefined>> = { n: '\n', t: '\t', r: '\r' }

function parseCall(text: string, indent: number): Expression {
  const [, name] = /^(now|uuid)\s*\(\s*\)$/.exec(text) ?? []
  if (name !== 'now' && name !== 'uuid')
    throw new ExpressionError('now() and uuid() take no arguments and must end the expression', indent)
  return { kind: 'call', name }
}

function parsePath(text: string, root: Root, indent: number): Expression {
  if (root === 'secrets' && isUnnamed(text, root.length)) return { kind: 'path', root, keys: [] }
  const keys: string[] = []
  for (let at = root.length; at < text.length; ) {
    const step = text[at] === '.' ? readName(text, at, indent) : readIndex(text, at, indent)
    keys.push(step.key)
    at = step.end
    if (keys.length > MAX_KEYS) throw new ExpressionError(`A path has at most ${MAX_KEYS} parts`, indent + at)
  }
  return { kind: 'path', root, keys: isHeader(root, keys) ? keys.map(lowerSecond) : keys }
}

/**
 * `secrets` alone, or with something in brackets that is no quoted name: null, whatever it is. So the secrets that a
 * pipeline can use are those whose names are written in it. contract 12.8.
 */
function isUnnamed(text: string, at: number): boolean {
  if (at === text.length) return true
  const quoted = readQuoted(text, at + 1)
  return text[at] === '[' && text[quoted?.end ?? -1] !== ']' && ENDS_AS_PATH.test(text)
}

const ENDS_AS_PATH = /\](?:\.[\p{L}\p{N}_$]+)*$/u

/** Header names are case-insensitive and stored in lower case. RFC 9110 §5.1. */
const isHeader = (root: Root, [first, second]: readonly string[]): boolean =>
  (root === 'request' || root === 'metadata') && first === 'headers' && second !== undefined
const lowerSecond = (key: string, i: number): string => (i === 1 ? key.toLowerCase() : key)

/** Explains a name with a hyphen, a sentence that happens to begin with one of our words, or a sum. */
function notAPath(text: string, at: number): string {
  const path = text.slice(0, at)
  return /^[\s=!<>|&+*/?%]/.test(text.slice(at))
    ? `Nothing may follow ${path}: write a text in quotes of its own, "'like this'", and use a function_handler for calculations`
    : `Expected . or [ after ${path}; write names with other characters as ['like-this']`
}

function readName(text: string, dot: number, indent: number): { key: string; end: number } {
  KEY.lastIndex = dot + 1
  const [key] = KEY.exec(text) ?? []
  if (key === undefined) throw new ExpressionError('A name must follow the dot', indent + dot + 1)
  return { key, end: dot + 1 + key.length }
}

function readIndex(text: string, at: number, indent: number): { key: string; end: number } {
  if (text[at] !== '[') throw new ExpressionError(notAPath(text, at), indent + at)
  const quoted = readQuoted(text, at + 1)
  const digits = quoted === undefined ? (/^\d{1,10}/.exec(text.slice(at + 1))?.[0] ?? '') : ''
  const end = quoted?.end ?? at + 1 + digits.length
  if ((quoted === undefined && digits === '') || text[end] !== ']')
    throw new ExpressionError(
      "Expected a number or a quoted name and ], as in [0] or ['a-b']",
      indent + at + 1,
    )
  return { key: quoted?.value ?? String(Number(digits)), end: end + 1 }
}
