/** Rule files write `ANY` for every method; it is stored as null. */
export function storedMethod(method: string | null | undefined): string | null {
  const upper = method?.toUpperCase() ?? null
  return upper === 'ANY' ? null : upper
}

/** A list of methods as its column holds it: JSON, or null for every method. */
export function storedMethods(methods: readonly string[] | null | undefined): string | null {
  const names = [...new Set(methods?.map((one) => one.toUpperCase()))]
  return names.length === 0 || names.includes('ANY') ? null : JSON.stringify(names)
}

export const parseMethods = (json: string | null): string[] | null =>
  json === null ? null : (JSON.parse(json) as string[])
