/** A copy of the input without undefined values: the fields that a request sets. */
export function given<T extends object>(input: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const fields = Object.entries(input).filter(([, value]) => value !== undefined)
  return Object.fromEntries(fields) as { [K in keyof T]?: Exclude<T[K], undefined> }
}
