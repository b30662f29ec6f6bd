import { type AST, ParseError, parseTOML } from 'toml-eslint-parser'
import { type Located, type LocatedObject, SourceError } from './located.ts'

/** Throws `SourceError` for what is no TOML. */
export function parseToml(text: string): Located {
  const [top] = parsed(text).body
  const root = objectAt(top)
  for (const node of top.body)
    if (node.type === 'TOMLKeyValue') setValue(root, node)
    else {
      const table = tableAt(root, node)
      for (const pair of node.body) setValue(table, pair)
    }
  return root
}

function parsed(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text, { tomlVersion: '1.0' })
  } catch (error) {
    if (error instanceof ParseError)
      throw new SourceError(sentenceOf(error), { line: error.lineNumber, column: error.column + 1 })
    if (error instanceof RangeError) throw new SourceError('nested too deeply', { line: 1, column: 1 })
    throw error
  }
}

const sentenceOf = ({ message }: Error): string => message.charAt(0).toLowerCase() + message.slice(1)

const placeOf = ({ loc }: AST.TOMLNode): { line: number; column: number } => ({
  line: loc.start.line,
  column: loc.start.column + 1,
})

const objectAt = (node: AST.TOMLNode): LocatedObject => ({
  ...placeOf(node),
  kind: 'object',
  entries: new Map(),
})

/** The object that `[a.b]` or `[[a.b]]` names; it and those around it are made if they are missing. */
function tableAt(root: LocatedObject, table: AST.TOMLTable): LocatedObject {
  let here: Located = root
  for (const [at, key] of table.resolvedKey.entries()) {
    const next = table.resolvedKey[at + 1]
    here = childOf(here, key, () =>
      typeof next === 'number' ? { ...placeOf(table), kind: 'array', items: [] } : objectAt(table),
    )
  }
  return here.kind === 'object' ? here : objectAt(table)
}

function childOf(node: Located, key: string | number, make: () => Located): Located {
  if (node.kind === 'array' && typeof key === 'number') {
    node.items[key] ??= make()
    return node.items[key] ?? make()
  }
  if (node.kind !== 'object') return make()
  const known = node.entries.get(String(key))
  if (known !== undefined) return known
  const made = make()
  node.entries.set(String(key), made)
  return made
}

function setValue(into: LocatedObject, pair: AST.TOMLKeyValue): void {
  const names = pair.key.keys.map(nameOf)
  const last = names.pop() ?? ''
  let here: Located = into
  for (const name of names) here = childOf(here, name, () => objectAt(pair))
  if (here.kind === 'object') here.entries.set(last, { ...locate(pair.value), ...placeOf(pair) })
}

const nameOf = (key: AST.TOMLBare | AST.TOMLQuoted): string =>
  key.type === 'TOMLBare' ? key.name : key.value

function locate(node: AST.TOMLContentNode): Located {
  if (node.type === 'TOMLArray') return { ...placeOf(node), kind: 'array', items: node.elements.map(locate) }
  if (node.type === 'TOMLValue') return { ...placeOf(node), kind: 'value', value: node.value }
  const object = objectAt(node)
  for (const pair of node.body) setValue(object, pair)
  return object
}
