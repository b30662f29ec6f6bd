import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { type Located, SourceError } from './located.ts'

/** What a kind of file takes beside JSON. */
export type JsonOptions = { comments: boolean; trailingCommas: boolean }

/** Throws `SourceError` for what is no such JSON, and for a key that stands twice. */
export function parseJson(text: string, { comments, trailingCommas }: JsonOptions): Located {
  const placeOf = placesIn(text)
  refuseDepth(text, placeOf)
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { disallowComments: !comments, allowTrailingComma: trailingCommas })
  const [first] = errors
  if (first !== undefined) throw new SourceError(wordsOf(first.error), placeOf(first.offset))
  if (root === undefined) throw new SourceError('a value is missing', placeOf(0))
  return locate(root, placeOf)
}

type PlaceOf = (offset: number) => { line: number; column: number }

/** Lines are found by halving, as there may be many nodes. */
function placesIn(text: string): PlaceOf {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}

const MAX_DEPTH = 100

/** The parser calls itself for each depth. */
function refuseDepth(text: string, placeOf: PlaceOf): void {
  const scanner = createScanner(text, true)
  let depth = 0
  for (let token = scanner.scan(); token !== END_OF_FILE; token = scanner.scan()) {
    if (OPENING.has(token)) depth += 1
    if (CLOSING.has(token)) depth -= 1
    if (depth > MAX_DEPTH)
      throw new SourceError(`nested deeper than ${MAX_DEPTH} levels`, placeOf(scanner.getTokenOffset()))
  }
}

/** Of `SyntaxKind`, which exists for the type checker alone. */
const END_OF_FILE = 17
const OPENING: ReadonlySet<number> = new Set([1, 3])
const CLOSING: ReadonlySet<number> = new Set([2, 4])

const wordsOf = (code: ParseError['error']): string =>
  printParseErrorCode(code)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()

function locate(node: Node, placeOf: PlaceOf): Located {
  const place = placeOf(node.offset)
  if (node.type === 'array')
    return { ...place, kind: 'array', items: (node.children ?? []).map((child) => locate(child, placeOf)) }
  if (node.type !== 'object') return { ...place, kind: 'value', value: node.value }
  const entries = new Map<string, Located>()
  for (const { children, offset } of node.children ?? []) {
    const [key, value] = children ?? []
    if (key === undefined || value === undefined) continue
    const name = String(key.value)
    if (entries.has(name)) throw new SourceError(`the key ${name} stands twice`, placeOf(offset))
    entries.set(name, { ...locate(value, placeOf), ...placeOf(offset) })
  }
  return { ...place, kind: 'object', entries }
}
