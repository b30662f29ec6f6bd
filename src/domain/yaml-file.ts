import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml'
import { messageOf } from './errors.ts'
import type { Problem } from './file-problems.ts'

/** contract §9.1. */
export const MAX_FILE_BYTES = 1024 * 1024
const MAX_ALIASES = 100
const MAX_ERRORS = 20

export type Place = 'key' | 'value'

/** A parsed YAML file: its value and the position of each part. */
export type YamlFile = {
  file: string
  value: unknown
  problems: Problem[]
  /** The position of `path`, or of its nearest parent that exists. */
  at(path: readonly (string | number)[], place?: Place): { line: number; column: number }
}

/** Reads one document of YAML 1.2. Never throws: errors are in `problems`, and the value is then undefined. */
export function readYaml(file: string, text: string): YamlFile {
  const lines = new LineCounter()
  const here = (offset: number, message: string): Problem => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(line, 1), column: Math.max(col, 1), message }
  }
  const failed = (problems: Problem[]): YamlFile => ({
    file,
    value: undefined,
    problems,
    at: () => ({ line: 1, column: 1 }),
  })
  const deep = tooDeepAt(text)
  if (deep !== null) {
    const before = text.slice(0, deep).split('\n')
    const column = (before.at(-1)?.length ?? 0) + 1
    return failed([{ file, line: before.length, column, message: TOO_DEEP }])
  }
  try {
    const doc = parseDocument(text, {
      version: '1.2',
      schema: 'core',
      merge: false,
      // We check duplicate keys below, because the parser's own check takes quadratic time.
      uniqueKeys: false,
      strict: true,
      prettyErrors: false,
      logLevel: 'error',
      lineCounter: lines,
    })
    const problems = [...syntaxProblems(doc, here), ...aliasProblems(doc, here), ...keyProblems(doc, here)]
    if (problems.length > 0) return failed(problems.slice(0, MAX_ERRORS))
    const value: unknown = doc.toJS({ maxAliasCount: MAX_ALIASES + 1 })
    const odd = oddNumbers(doc, here)
    if (odd.length > 0) return failed(odd)
    return { file, value, problems: [], at: (path, place = 'value') => position(doc, lines, path, place) }
  } catch (error) {
    return failed([here(0, reasonOf(error))])
  }
}

const TOO_DEEP = 'is nested too deeply'
const DEEPEST = 500

/**
 * Finds where brackets or list marks nest deeper than in any real file: the parser would take minutes over them. Counts
 * without parsing, so brackets in texts count too.
 */
function tooDeepAt(text: string): number | null {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x5b || code === 0x7b) depth += 1
    else if ((code === 0x5d || code === 0x7d) && depth > 0) depth -= 1
    if (depth > DEEPEST) return i
  }
  const marks = /(?:[-?:][ \t]+){100}/.exec(text)
  return marks?.index ?? null
}

type Here = (offset: number, message: string) => Problem

function syntaxProblems(doc: Document, here: Here): Problem[] {
  const [first] = doc.errors
  if (first?.code === 'RESOURCE_EXHAUSTION') return [here(first.pos[0], TOO_DEEP)]
  // Once the parser has lost its way, further unexpected tokens are not errors of their own.
  const own = doc.errors.filter(({ code }, i) => i === 0 || code !== 'UNEXPECTED_TOKEN')
  const problems = [...own, ...doc.warnings].map(({ code, message, pos }) => {
    if (code === 'MULTIPLE_DOCS') return here(pos[0], 'a second document: a file must hold exactly one')
    if (code === 'TAG_RESOLVE_FAILED') return here(pos[0], `${message}: tags are not used in these files`)
    const hint = message.startsWith('Unexpected flow-') ? QUOTE : ''
    return here(pos[0], `${message.split('\n')[0] ?? 'is not YAML'}${hint}`)
  })
  const lines = new Set<number>()
  return problems.filter(({ line }) => {
    const isFirst = !lines.has(line)
    lines.add(line)
    return isFirst
  })
}

const QUOTE = ": write a text with [ ] { } or {{ }} in quotes, 'like this'"

function aliasProblems(doc: Document, here: Here): Problem[] {
  let count = 0
  const problems: Problem[] = []
  visit(doc, {
    Alias(_key, node) {
      count += 1
      const offset = node.range?.[0] ?? 0
      if (count === MAX_ALIASES + 1) {
        problems.push(here(offset, `more than ${MAX_ALIASES} aliases`))
        return visit.BREAK
      }
      if (node.resolve(doc) === undefined)
        problems.push(here(offset, `the anchor &${node.source} is not set before this alias`))
      return undefined
    },
  })
  return problems
}

function keyProblems(doc: Document, here: Here): Problem[] {
  const problems: Problem[] = []
  visit(doc, {
    Map(_key, { items }) {
      const seen = new Set<string>()
      for (const { key } of items) {
        const offset = rangeOf(key)
        const name = isScalar(key) && typeof key.value !== 'object' ? String(key.value) : null
        if (name === null) problems.push(here(offset, `a key must be a plain text${isMap(key) ? QUOTE : ''}`))
        else if (name === '__proto__') problems.push(here(offset, '__proto__ cannot be a key'))
        else if (seen.has(name)) problems.push(here(offset, 'duplicate key: give each key once'))
        if (name !== null) seen.add(name)
      }
    },
  })
  return problems
}

/** Numbers that JSON cannot represent. */
function oddNumbers(doc: Document, here: Here): Problem[] {
  const problems: Problem[] = []
  visit(doc, {
    Scalar(_key, node) {
      if (typeof node.value === 'number' && !Number.isFinite(node.value))
        problems.push(here(rangeOf(node), 'is not a number that JSON can represent'))
    },
  })
  return problems
}

function position(
  doc: Document,
  lines: LineCounter,
  path: readonly (string | number)[],
  place: Place,
): { line: number; column: number } {
  let node: unknown = doc.contents
  let offset = rangeOf(node)
  for (const [i, step] of path.entries()) {
    const whole = isAlias(node) ? node.resolve(doc) : node
    const next = childOf(whole, step)
    if (next === undefined) break
    offset = i === path.length - 1 && place === 'key' ? next.keyOffset : rangeOf(next.node, next.keyOffset)
    node = next.node
  }
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

function childOf(node: unknown, step: string | number): { node: unknown; keyOffset: number } | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step)]
    return item === undefined ? undefined : { node: item, keyOffset: rangeOf(item) }
  }
  if (!isMap(node)) return undefined
  const pair = pairsOf(node).get(String(step))
  return pair !== undefined && isPair(pair) ? { node: pair.value, keyOffset: rangeOf(pair.key) } : undefined
}

type Pairs = ReadonlyMap<string, YAMLMap['items'][number]>
/** Each unknown key of a file is looked up, so searching a list would take quadratic time. */
const pairsByMap = new WeakMap<YAMLMap, Pairs>()

function pairsOf(map: YAMLMap): Pairs {
  const known = pairsByMap.get(map)
  if (known !== undefined) return known
  const scalars = map.items.flatMap((pair) =>
    isScalar(pair.key) ? [[String(pair.key.value ?? ''), pair] as const] : [],
  )
  const pairs = new Map(scalars)
  pairsByMap.set(map, pairs)
  return pairs
}

const rangeOf = (node: unknown, fallback = 0): number => (node as Node | null)?.range?.[0] ?? fallback

function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return TOO_DEEP
  const message = messageOf(error)
  return /alias/i.test(message) ? `its aliases grow too large: ${message}` : message
}
