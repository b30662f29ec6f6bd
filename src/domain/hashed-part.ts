import { hasContentHash } from './cache-control.ts'

/**
 * Whether a missing file may be a part that a tab opened before a deploy still asks for. Wider than `hasContentHash`, by
 * which files are kept for a year: the hashes of Vite and Next.js have a `-` inside, or no digit, and cannot be told from
 * words with that certainty. A wrong guess here serves what the alias showed within the last week. Takes a path too.
 */
export function mayBeHashedPart(path: string): boolean {
  if (hasContentHash(path)) return true
  if (!PART.test(path)) return false
  if (HASHED_FOLDER.test(path)) return true
  const stem = path.slice(path.lastIndexOf('/') + 1, path.lastIndexOf('.')).replace(/\.lean$/, '')
  const [, hash] = HASH.exec(stem) ?? []
  return hash !== undefined && !WORDS.test(hash) && kindsOf(hash) > 1
}

const PART = /\.(?:[cm]?js|css|wasm)$/i
/** Where generators put nothing else: Next.js, SvelteKit, Nuxt, Astro. */
const HASHED_FOLDER = /(?:^|\/)(?:_next\/static|_app\/immutable|_nuxt|_astro)\//
/** Of the length that Rollup and Rolldown give one, behind `-` or `.` or alone: `Lazy-IQPYCrzu`, `3.Cckk7-aE`. */
const HASH = /(?:^|[-.])([\w-]{8})$/
/** `my-Settings`, `TypeDefs`: people write names in this way. */
const WORDS = /^(?:[A-Z]?[a-z]{2,})+$/

const kindsOf = (hash: string): number => [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(hash)).length
