import { charactersOf, plainPath } from '../plain-path.ts'

/** What may stand in a path as it is. RFC 3986 §3.3, and the slash. */
const SAFE = /^[\w\-.~!$&'()*+,;=:@/]*$/
const SAFE_CHARACTER = /^(?:%[\da-f]{2})+$/i
const HAS_DOT = /\.|%/

/**
 * A part of a request's path as it came, percent-encoded: what may not stand in a path is encoded, the rest keeps its
 * spelling. It holds ASCII alone, no control character, no `\`, `?`, `#` or blank.
 */
export function asSent(raw: string): string {
  if (SAFE.test(raw)) return raw
  return charactersOf(raw.toWellFormed()).map(encoded).join('')
}

const encoded = (character: string): string =>
  SAFE.test(character) || SAFE_CHARACTER.test(character) ? character : encodeStrictly(character)

/** `encodeURIComponent` of one character. */
export const encodeStrictly = (text: string): string => encodeURIComponent(text.toWellFormed())

/** The same for a plain path, which has no other spelling left: a triplet in it stands for what is no text. */
export const asSentPlain = (plain: string): string =>
  plain.replace(/%(?!2F|[89A-F][\dA-F])|[^%]+/g, (part) => (part === '%' ? '%25' : asSent(part)))

/** Whether a value has a segment `.` or `..`, in any encoding. */
export function hasDotSegment(value: string): boolean {
  if (!HAS_DOT.test(value)) return false
  return decodedThrough(value)
    .split(/[/\\]/)
    .some((segment) => segment === '.' || segment === '..')
}

/** Decoded as often as a careless reader would, and then once more. */
const DECODINGS = 4
function decodedThrough(value: string): string {
  let text = value
  for (let round = 0; round < DECODINGS && text.includes('%'); round++)
    text = plainPath(text.replace(/%(?:25)+/g, '%').replace(/%2f/gi, '/'))
  return text
}
