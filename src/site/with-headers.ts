/** Copies cached headers, and adds or replaces some. */
export function withHeaders(headers: Headers, more: Readonly<Record<string, string>>): Headers {
  const copy = new Headers(headers)
  for (const [name, value] of Object.entries(more)) copy.set(name, value)
  return copy
}
