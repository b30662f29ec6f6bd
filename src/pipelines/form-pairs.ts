import { isAscii } from 'node:buffer'
import { CHARSET_FIELD, type DecodeField, decodeUtf8, fieldDecoder } from './form-charset.ts'

/**
 * The pairs of an urlencoded text, as `URLSearchParams` reads them, at a third of its cost. `label` names the encoding; without
 * it the field `_charset_` may. Throws 400 naming the field whose bytes do not fit it. URL §5.1.
 */
export function formPairs(bytes: Uint8Array, label: string | null): [string, string][] {
  // One character a byte: the separators are the same bytes in every encoding.
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const textOf = textReader(bytes, fieldDecoder(label ?? charsetIn(raw)))
  const pairs: [string, string][] = []
  for (const piece of raw.split('&')) {
    if (piece === '') continue
    const equals = piece.indexOf('=')
    const rawName = equals === -1 ? piece : piece.slice(0, equals)
    const name = textOf(rawName, rawName)
    pairs.push([name, equals === -1 ? '' : textOf(piece.slice(equals + 1), name)])
  }
  return pairs
}

/** The text of a piece; `field` is for the error. Forms are mostly ASCII with escapes of UTF-8, which is quicker. */
function textReader(bytes: Uint8Array, decode: DecodeField): (piece: string, field: string) => string {
  const slowly = (piece: string, field: string) => decode(unescaped(piece), field)
  if (decode === decodeUtf8 && isAscii(bytes))
    return (piece, field) => quicklyDecoded(piece) ?? slowly(piece, field)
  return (piece, field) => (PLAIN.test(piece) ? piece : slowly(piece, field))
}

/** What the field `_charset_` says; null if it says nothing. */
function charsetIn(raw: string): string | null {
  if (!raw.includes(`${CHARSET_FIELD}=`)) return null
  const [, label = ''] = new RegExp(`(?:^|&)${CHARSET_FIELD}=([^&]+)`).exec(raw) ?? []
  return label === '' ? null : unescaped(label).toString('latin1')
}

/** Neither an escape, nor a plus, nor a byte that an encoding may give another meaning: beyond ASCII, or ESC of ISO-2022. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
const PLAIN = /^[^%+\u001b\u0080-\u00ff]*$/

/** Undefined for a lone percent sign and for what is not UTF-8. */
function quicklyDecoded(piece: string): string | undefined {
  const spaced = piece.includes('+') ? piece.replaceAll('+', ' ') : piece
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return undefined
  }
}

/** The bytes of a piece. A percent sign without two digits stays. */
function unescaped(piece: string): Buffer {
  const spaced = piece.includes('+') ? piece.replaceAll('+', ' ') : piece
  if (!spaced.includes('%')) return Buffer.from(spaced, 'latin1')
  const text = spaced.replace(/%[0-9A-Fa-f]{2}/g, (escaped) =>
    String.fromCharCode(Number.parseInt(escaped.slice(1), 16)),
  )
  return Buffer.from(text, 'latin1')
}
