/**
 * The text of a file or of stdin that people write: UTF-8, with or without a byte order mark, which is left out. Null for
 * UTF-16, which some editors and shells write: a text has no NUL among its first two bytes. contract 12.10.
 */
export function textOf(bytes: Uint8Array): string | null {
  const [first, second] = bytes
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  return isMarked || first === 0 || second === 0 ? null : new TextDecoder().decode(bytes)
}

/** Completes the name of what `textOf` cannot read. */
export const IS_UTF16 = 'is written in UTF-16; save it as UTF-8'
