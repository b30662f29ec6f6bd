import { toNfc } from './nfc.ts'

/**
 * The plain path of a request, the only form in which paths are compared: percent-decoded once as UTF-8, in NFC.
 * `%2F` stays, in upper case; so do a `%` without two hex digits and, as upper-case triplets, bytes that are no UTF-8.
 * `.`, `..` and empty segments are left alone. `path` is raw and has no query. contract 12.1, RFC 3629 §4.
 */
export function plainPath(path: string): string {
  return toNfc(path.includes('%') ? decoded(path) : path)
}

/**
 * What is left of a raw path without the bytes that spell `prefix`, with which its plain path begins. A character that
 * belongs to both, such as half of `%2F`, is cut and encoded anew.
 */
export function behindPrefix(path: string, prefix: string): string {
  const end = lengthOfSpelling(path, prefix)
  const cut = plainPath(path.slice(0, end)).slice(prefix.length)
  return encodeURIComponent(cut) + path.slice(end)
}

/** How many characters of a raw path spell `prefix`, with which its plain path begins. Reads no further than needed. */
export function lengthOfSpelling(path: string, prefix: string): number {
  if (path.startsWith(prefix) && !prefix.includes('%')) return prefix.length
  let [spelled, known] = [0, 0]
  for (const [cluster] of path.matchAll(CLUSTERS)) {
    const plain = plainPath(cluster)
    const rest = prefix.slice(known)
    if (plain.length >= rest.length)
      return spelled + (plain === rest ? cluster.length : lengthWithin(cluster, rest))
    known += plain.length
    spelled += cluster.length
  }
  return spelled
}

/** The characters of a raw path, each as it is spelled: alone, or in triplets. */
export const charactersOf = (path: string): string[] => path.match(CHARACTERS) ?? []

/** Marks may change places within a cluster, so the shortest beginning that has all of the prefix is looked for. */
function lengthWithin(cluster: string, prefix: string): number {
  const ends = [...cluster.matchAll(CHARACTERS)].map(({ index, 0: spelled }) => index + spelled.length)
  let [low, high] = [0, ends.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (plainPath(cluster.slice(0, ends[middle])).startsWith(prefix)) high = middle
    else low = middle + 1
  }
  return ends[low] ?? cluster.length
}

const hex = (pattern: string): string => pattern.replaceAll('.', '[0-9A-F]')
/** One character beyond ASCII in triplets, as RFC 3629 §4 has them. */
const BEYOND_ASCII = [
  '%(?:C[2-9A-F]|D.)%[89AB].',
  '%E0%[AB].%[89AB].',
  '%(?:E[1-9A-CEF])(?:%[89AB].){2}',
  '%ED%[89].%[89AB].',
  '%F0%[9AB].(?:%[89AB].){2}',
  '%F[1-3](?:%[89AB].){3}',
  '%F4%8.(?:%[89AB].){2}',
].join('|')
/** A character in triplets, or a triplet that is part of none. */
const TRIPLETS = new RegExp(hex(`${BEYOND_ASCII}|%..`), 'gi')
const CHARACTERS = new RegExp(hex(`${BEYOND_ASCII}|%..|[^]`), 'giu')
/** A character and those beyond ASCII behind it: nothing in ASCII ever composes with what stands before it. */
const CLUSTERS = new RegExp(hex(`(?:${BEYOND_ASCII}|%..|[^])(?:${BEYOND_ASCII}|[^\\0-\\x7f])*`), 'giu')
const ENCODED_SLASH = /%2f/i

/** The usual path is decoded at once. */
function decoded(path: string): string {
  try {
    if (ENCODED_SLASH.test(path)) return path.split(ENCODED_SLASH).map(decodeURIComponent).join('%2F')
    return decodeURIComponent(path)
  } catch {
    return decodedOneByOne(path)
  }
}

const decodedOneByOne = (path: string): string =>
  path.replace(TRIPLETS, (spelled) => {
    const isByte = spelled.length === 3 && /^%[89A-F]/i.test(spelled)
    return isByte || ENCODED_SLASH.test(spelled) ? spelled.toUpperCase() : decodeURIComponent(spelled)
  })
