import { extensionOf, isHtml } from './content-type.ts'

/**
 * Whether a bundler put a hash of the content into the file's name, so that its bytes never change. Takes a path; only
 * for folders that generators fill does more than the name count. contract 12.2.
 */
export function hasContentHash(path: string): boolean {
  if (isHtml(path)) return false
  const stem = stemOf(path)
  if (endsInHash(stem) || HASHED_FOLDER.test(path)) return true
  return isPart(path) && (endsInHash(asBehindSeparator(stem)) || isBase32(BASE32.exec(stem)?.[1]))
}

/**
 * Whether a missing file may come from an earlier deployment, because a tab that was opened before may still ask for it.
 * Broader than `hasContentHash`, which decides on caching for a year: bundlers also make hashes without a digit, or with
 * a `-`, which differ less surely from words. contract 12.2.
 */
export function mayBeOfEarlier(path: string): boolean {
  if (hasContentHash(path)) return true
  const hash = isPart(path) ? BASE64.exec(asBehindSeparator(stemOf(path)))?.[1] : undefined
  return hash !== undefined && kindsOf(hash) > 1 && !WORDS_OF_PART.test(hash)
}

/** What bundlers put behind a separator, by the characters they use. */
const HEX = /[._-]([0-9a-f]{8,64})$/
const BASE64 = /[.-]([\w-]{8})$/
const BASE32 = /[.-]([A-Z2-7]{8})$/

/** From this length on, hex digits are no word and number that somebody wrote. */
const LONG_HEX = 16
/** `abcdef12`, `20240102a`. */
const LETTERS_AND_DIGITS = /^(?:[a-z]+\d+|\d+[a-z]+)$/
const LETTERS_THEN_DIGITS = /^[A-Z]+\d+$/
/** Names that people write: `Report-2`, `IMG_0012`, `v2`. */
const WORDS = /^(?:(?:[A-Z][a-z]+|[a-z]{2,}|[A-Z]{2,}|v?\d+)[-_]?)+$/
const WORDS_OF_PART = /^(?:(?:[A-Z]?[a-z]{2,}|v?\d+)[-_]?)+$/

/** Folders in which generators put nothing else: Next.js, SvelteKit, Astro, Nuxt. */
const HASHED_FOLDER = /(?:^|\/)(?:_next\/static|_app\/immutable|_astro|_nuxt(?!\/builds\/))\//

const endsInHash = (stem: string): boolean => isHex(HEX.exec(stem)?.[1]) || isBase64(BASE64.exec(stem)?.[1])

const isHex = (hash: string | undefined): boolean =>
  hash !== undefined && hasLetterAndDigit(hash) && (hash.length >= LONG_HEX || !LETTERS_AND_DIGITS.test(hash))

const isBase64 = (hash: string | undefined): boolean =>
  hash !== undefined && kindsOf(hash) === 3 && !WORDS.test(hash)

const isBase32 = (hash: string | undefined): boolean =>
  hash !== undefined && hasLetterAndDigit(hash) && !LETTERS_THEN_DIGITS.test(hash)

const hasLetterAndDigit = (hash: string): boolean => /[A-Za-z]/.test(hash) && /\d/.test(hash)

/** How many of small letters, capitals and digits it has. */
const kindsOf = (hash: string): number => [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(hash)).length

/** The parts of an app, whose names may be a hash as a whole. */
const PARTS: ReadonlySet<string> = new Set(['js', 'mjs', 'cjs', 'css', 'wasm'])
const isPart = (path: string): boolean => PARTS.has(extensionOf(path))

const asBehindSeparator = (stem: string): string => `-${stem}`

/** The last segment without its last extension. */
function stemOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(0, dot) : name
}
