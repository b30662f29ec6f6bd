/** A text of a body that nobody has validated yet; undefined where there is none of that name. */
export function bodyText(body: unknown, key: string): string | undefined {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, key) : undefined
  return typeof value === 'string' ? value : undefined
}
