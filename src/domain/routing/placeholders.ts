/** A text in which something is inserted: literal pieces, and the names of what stands between them. */
export type Part = string | { name: string }

const WORD = /:([A-Za-z]\w*)/g

/** Splits a text at the placeholders of these names; other words behind a colon are text. */
export function partsOf(text: string, names: readonly string[], literal = (piece: string) => piece): Part[] {
  const parts: Part[] = []
  let from = 0
  for (const { 0: word, 1: name = '', index } of text.matchAll(WORD)) {
    if (!names.includes(name)) continue
    if (index > from) parts.push(literal(text.slice(from, index)))
    parts.push({ name })
    from = index + word.length
  }
  if (from < text.length) parts.push(literal(text.slice(from)))
  return parts
}

/** Puts what was captured in its places, each in the form that suits the text around it. */
export const filled = (
  parts: readonly Part[],
  captures: Readonly<Record<string, string>>,
  form = (text: string) => text,
): string => parts.map((part) => (typeof part === 'string' ? part : form(captures[part.name] ?? ''))).join('')
