/** A value of a configuration file with its place. `line` and `column` count from 1. */
export type Located = { line: number; column: number } & (
  | { kind: 'object'; entries: Map<string, Located> }
  | { kind: 'array'; items: Located[] }
  | { kind: 'value'; value: unknown }
)
export type LocatedObject = Extract<Located, { kind: 'object' }>

/** What is wrong with a file that cannot be read, and where. */
export class SourceError extends Error {
  readonly line: number
  readonly column: number

  constructor(message: string, { line, column }: { line: number; column: number }) {
    super(message)
    this.line = line
    this.column = column
  }
}

export const textOf = (node: Located | undefined): string | undefined =>
  node?.kind === 'value' && typeof node.value === 'string' ? node.value : undefined

export const scalarOf = (node: Located | undefined): unknown =>
  node?.kind === 'value' ? node.value : undefined

/** The objects of a list; what is none is handed to `otherwise`. */
export function objectsOf(
  node: Located | undefined,
  otherwise: (item: Located, index: number | null) => void,
): { item: LocatedObject; index: number }[] {
  if (node === undefined) return []
  if (node.kind !== 'array') {
    otherwise(node, null)
    return []
  }
  return node.items.flatMap((item, index) => {
    if (item.kind === 'object') return [{ item, index }]
    otherwise(item, index)
    return []
  })
}
