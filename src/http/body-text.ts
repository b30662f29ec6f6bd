/** Reads a text field of an unvalidated body; undefined if there is none. */
export function bodyText(body: unknown, key: string): string | undefined {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, key) : undefined
  return typeof value === 'string' ? value : undefined
}
