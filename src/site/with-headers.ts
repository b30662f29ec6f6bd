/** A copy of ready-made headers with some more, or others in their place. */
export function withHeaders(headers: Headers, more: Readonly<Record<string, string>>): Headers {
  const copy = new Headers(headers)
  for (const [name, value] of Object.entries(more)) copy.set(name, value)
  return copy
}
