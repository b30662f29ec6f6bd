/** A copy of the input without undefined values: the fields that a request sets. */
export function given<T extends object>(input: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const fields = Object.entries(input).filter(([, value]) => value !== undefined)
  return Object.fromEntries(fields) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

/** True for a change that names nothing: it leaves no trace. */
export const isEmpty = (change: object): boolean => Object.keys(change).length === 0

/** A copy of a query without empty values: a form sends a field that was left empty. */
export function withoutEmpty<T extends object>(query: T): { [K in keyof T]: T[K] | undefined } {
  const fields = Object.entries(query).map(([name, value]) => [name, value === '' ? undefined : value])
  return Object.fromEntries(fields)
}
