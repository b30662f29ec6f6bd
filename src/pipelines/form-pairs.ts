import { CHARSET_FIELD, type DecodeField, decodeUtf8, fieldDecoder } from './form-charset.ts'

/**
 * The pairs of an urlencoded text, as `URLSearchParams` reads them, at a third of its cost. `label` names the encoding; without
 * it the field `_charset_` may. Throws 400 naming the field whose bytes do not fit it. URL §5.1.
 */
export function formPairs(bytes: Uint8Array, label: string | null): [string, string][] {
  // One character a byte: the separators are the same bytes in every encoding.
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const decode = fieldDecoder(label ?? charsetIn(raw))
  const pairs: [string, string][] = []
  for (const piece of raw.split('&')) {
    if (piece === '') continue
    const equals = piece.indexOf('=')
    const rawName = equals === -1 ? piece : piece.slice(0, equals)
    const name = decoded(rawName, rawName, decode)
    pairs.push([name, equals === -1 ? '' : decoded(piece.slice(equals + 1), name, decode)])
  }
  return pairs
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
// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII
const ASCII = /^[\u0000-\u007f]*$/

function decoded(piece: string, field: string, decode: DecodeField): string {
  if (PLAIN.test(piece)) return piece
  const isQuick = decode === decodeUtf8 && ASCII.test(piece)
  return (isQuick ? quicklyDecoded(piece) : undefined) ?? decode(unescaped(piece), field)
}

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
