import { hasContentHash } from './cache-control.ts'

/**
 * Whether a missing file may be a chunk that a tab opened before a deployment still requests. Broader than
 * `hasContentHash`, which decides on caching for a year: the hashes of Vite and Next.js may contain `-` or no digit, so
 * they are less certain to differ from words. A wrong guess here serves what the alias showed within the last week.
 * Also accepts a path.
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
/** Folders in which generators put nothing else: Next.js, SvelteKit, Nuxt, Astro. */
const HASHED_FOLDER = /(?:^|\/)(?:_next\/static|_app\/immutable|_nuxt|_astro)\//
/** Has the length of Rollup and Rolldown hashes, after `-` or `.` or alone: `Lazy-IQPYCrzu`, `3.Cckk7-aE`. */
const HASH = /(?:^|[-.])([\w-]{8})$/
/** Names that people write: `my-Settings`, `TypeDefs`. */
const WORDS = /^(?:[A-Z]?[a-z]{2,})+$/

const kindsOf = (hash: string): number => [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(hash)).length
