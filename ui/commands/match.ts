/** How well a name has a word; the smaller, the better. */
const KIND = { prefix: 0, inside: 1, letters: 2 } as const

/** The query's words, as they are compared. */
export const wordsOf = (query: string): string[] =>
  plain(query.slice(0, MAX_LENGTH))
    .split(/\s+/)
    .filter((word) => word !== '')

/** Longer than any name. */
const MAX_LENGTH = 200

/**
 * The kind of the worst of the words: each has to be the beginning of a word of the name, else be inside of it, else have
 * its letters in it in order. Undefined if the name does not match. contract 17.10.
 */
export function kindOf(name: string, words: readonly string[]): number | undefined {
  const text = plain(name)
  const kinds = words.map((word) => wordKind(text, word))
  return kinds.includes(undefined) ? undefined : Math.max(0, ...kinds.map((kind) => kind ?? 0))
}

function wordKind(text: string, word: string): number | undefined {
  if (hasPrefix(text, word)) return KIND.prefix
  if (text.includes(word)) return KIND.inside
  return hasLetters(text, word) ? KIND.letters : undefined
}

function hasPrefix(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1))
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) return true
  return false
}

function hasLetters(text: string, word: string): boolean {
  let at = 0
  for (const letter of word) {
    at = text.indexOf(letter, at) + 1
    if (at === 0) return false
  }
  return true
}

/** Without capitals and accents. */
const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
