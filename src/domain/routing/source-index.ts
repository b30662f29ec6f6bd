import { type AskedPath, isDynamic, literalOf, type Source } from './source.ts'

type Placed<T> = { at: number; item: T }

/** Items by their source: exact paths in a map, the others, of which there are few, in a list. */
export type SourceIndex<T> = {
  exact: ReadonlyMap<string, readonly Placed<T>[]>
  dynamic: readonly Placed<T>[]
}

/** Prepares a list for many look-ups. */
export function indexSources<T extends { source: Source }>(items: readonly T[]): SourceIndex<T> {
  const placed = items.map((item, at) => ({ at, item }))
  const isExact = ({ item }: Placed<T>) => !isDynamic(item.source)
  return {
    exact: Map.groupBy(placed.filter(isExact), ({ item }) => literalOf(item.source)),
    dynamic: placed.filter((one) => !isExact(one)),
  }
}

const NOTHING: readonly never[] = []

/** The items whose source may take the path, in their order: those with that exact path, and all others. */
export function candidatesAt<T>(index: SourceIndex<T>, { plain }: Pick<AskedPath, 'plain'>): readonly T[] {
  const exact = index.exact.get(plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain)
  const { dynamic } = index
  if (exact === undefined) return dynamic.length === 0 ? NOTHING : dynamic.map(({ item }) => item)
  if (dynamic.length === 0) return exact.map(({ item }) => item)
  return [...exact, ...dynamic].sort((a, b) => a.at - b.at).map(({ item }) => item)
}
