import type { Heading } from './render.ts'

/** What is searched, and found as one. */
export type Searched = { page: string; title: string; heading: Heading; text: string }

export type Found = { page: string; heading: string; id: string; excerpt: string }

const MAX_FOUND = 20
/** More than anybody types. So many words find nothing. */
const MAX_WORDS = 200
const EXCERPT_LENGTH = 200

/** The sections that have every word, the best first. */
export function search(sections: readonly Searched[], query: string): Found[] {
  const words = wordsOf(query)
  if (words.length === 0 || words.length > MAX_WORDS) return []
  return sections
    .map((section) => ({ section, rank: rankOf(section, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank)
    .slice(0, MAX_FOUND)
    .map(({ section }) => foundOf(section, words))
}

const wordsOf = (query: string): string[] =>
  [...new Set(query.toLowerCase().split(/\s+/))].filter((word) => word !== '')

/** 0 if a word is missing. A heading weighs more than the text, the beginning of a word more than its inside. */
function rankOf(section: Searched, words: readonly string[]): number {
  const lower = lowered(section)
  let rank = 0
  for (const word of words) {
    const ofWord =
      12 * placeOf(lower.heading, word) + 4 * placeOf(lower.title, word) + placeOf(lower.text, word)
    if (ofWord === 0) return 0
    rank += ofWord
  }
  // The paragraph about something is rather short and near the top of its document.
  return rank + 1 / (1 + section.heading.level)
}

/** 3 for a whole word, 2 for the beginning of one, 1 inside of one, 0 if it is not there. */
function placeOf(text: string, word: string): number {
  let best = 0
  for (let at = text.indexOf(word); at !== -1 && best < 3; at = text.indexOf(word, at + word.length))
    best = Math.max(best, kindOf(text, at, word))
  return best
}

function kindOf(text: string, at: number, word: string): number {
  if (isLetter(text[at - 1])) return 1
  return isLetter(text[at + word.length]) ? 2 : 3
}

const isLetter = (letter: string | undefined): boolean => letter !== undefined && /[\p{L}\p{N}]/u.test(letter)

type Lowered = { heading: string; title: string; text: string }

const known = new WeakMap<Searched, Lowered>()

function lowered(section: Searched): Lowered {
  const kept = known.get(section)
  if (kept !== undefined) return kept
  const made = {
    heading: section.heading.label.toLowerCase(),
    title: section.title.toLowerCase(),
    text: section.text.toLowerCase(),
  }
  known.set(section, made)
  return made
}

function foundOf(section: Searched, words: readonly string[]): Found {
  const { page, heading, text } = section
  return {
    page,
    heading: heading.label,
    id: heading.id,
    excerpt: excerptOf(text, lowered(section).text, words),
  }
}

/** The text around the first word that is in it. */
function excerptOf(text: string, lower: string, words: readonly string[]): string {
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at !== -1)
  const at = places.length === 0 ? 0 : Math.min(...places)
  const start = at < EXCERPT_LENGTH / 2 ? 0 : text.lastIndexOf(' ', at - EXCERPT_LENGTH / 4) + 1
  const cut = text.slice(start, start + EXCERPT_LENGTH).toWellFormed()
  const isWhole = start + EXCERPT_LENGTH >= text.length
  return `${start > 0 ? '… ' : ''}${cut.trim()}${isWhole ? '' : ' …'}`
}
