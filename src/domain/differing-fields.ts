import { isDeepStrictEqual } from 'node:util'

/** A change of fields: their values before and after. */
export type DifferingFields = { before: Record<string, unknown>; after: Record<string, unknown> }

/** Those fields of `after` that `before` has otherwise; undefined if there are none. */
export function differingFields(before: object, after: object): DifferingFields | undefined {
  const was = new Map(Object.entries(before))
  const differing = Object.entries(after).filter(
    ([name, value]) => !isDeepStrictEqual(was.get(name) ?? null, value ?? null),
  )
  if (differing.length === 0) return undefined
  return {
    before: Object.fromEntries(differing.map(([name]) => [name, was.get(name) ?? null])),
    after: Object.fromEntries(differing),
  }
}
