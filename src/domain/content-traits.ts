import { isAscii, isUtf8 } from 'node:buffer'

/**
 * What the bytes of a content say about it, as bits of one number, which is stored with the content. Found out once:
 * what they mean must never change. contract 12.3.
 */
export type Traits = number
export const TRAIT = {
  /** Valid UTF-8 without ESC, which begins a sequence of ISO 2022. */
  utf8: 1,
  /** Valid UTF-8 without control characters but TAB, LF, FF, CR. */
  text: 2,
  /** Begins with `{` or `[`. */
  json: 4,
  /** Begins with `<`. */
  xml: 8,
  /** Begins like gzip (RFC 1952 §2.3.1). */
  gzip: 16,
} as const

export const UNKNOWN_TRAITS: Traits = 0

export const hasTrait = (traits: Traits, trait: number): boolean => (traits & trait) !== 0

const MIB = 1024 * 1024
/** Of larger contents only the ends count. */
export const WHOLE_BYTES = 4 * MIB
export const HEAD_BYTES = MIB
export const TAIL_BYTES = 64 * 1024

/** Of a content of up to 4 MiB. */
export function traitsOf(bytes: Uint8Array): Traits {
  return startOf(bytes) | characterTraits([bytes])
}

/** Of a larger content: of its first MiB and last 64 KiB. A character cut at these edges is no fault. */
export function traitsOfEnds(head: Uint8Array, tail: Uint8Array): Traits {
  const wholeHead = withoutCutEnd(head)
  return startOf(head) | (wholeHead === undefined ? 0 : characterTraits([wholeHead, withoutCutStart(tail)]))
}

function startOf(bytes: Uint8Array): Traits {
  const [first, second] = bytes
  if (first === 0x7b || first === 0x5b) return TRAIT.json
  if (first === 0x3c) return TRAIT.xml
  return first === 0x1f && second === 0x8b ? TRAIT.gzip : 0
}

function characterTraits(parts: readonly Uint8Array[]): Traits {
  if (!parts.every((part) => isUtf8(part))) return 0
  if (!parts.some(hasControls)) return TRAIT.utf8 | TRAIT.text
  return parts.some((part) => part.includes(ESC)) ? 0 : TRAIT.utf8
}

const ESC = 0x1b

/** Regular expressions, because they are ten times as fast as a loop. In valid UTF-8. */
function hasControls(bytes: Uint8Array): boolean {
  const latin1 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  return CONTROLS.test(latin1) || (!isAscii(bytes) && LATE_CONTROLS.test(latin1))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROLS = /[\x00-\x08\x0b\x0e-\x1f\x7f]/
/** U+0080 to U+009F. */
const LATE_CONTROLS = /\xc2[\x80-\x9f]/

/** Leaves out the first bytes of a character that goes on behind; undefined if they begin none. */
export function withoutCutEnd(bytes: Uint8Array): Uint8Array | undefined {
  const last = bytes.subarray(-3)
  const start = last.findLastIndex((byte) => !isContinuation(byte))
  const begun = last.subarray(Math.max(start, 0))
  const missing = lengthOf(begun[0]) - begun.length
  if (missing <= 0) return bytes
  const canGoOn = [0x80, 0xbf].some((byte) =>
    isUtf8(Uint8Array.from([...begun, ...Array(missing).fill(byte)])),
  )
  return canGoOn ? bytes.subarray(0, -begun.length) : undefined
}

/** Leaves out up to 3 bytes of a character that began before. */
function withoutCutStart(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte, index) => index === 3 || !isContinuation(byte))
  return bytes.subarray(start === -1 ? 3 : start)
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80

/** How long the character is that begins with this byte (RFC 3629 §3). */
function lengthOf(first: number | undefined): number {
  if (first === undefined) return 0
  if (first >= 0xf0) return 4
  if (first >= 0xe0) return 3
  return first >= 0xc0 ? 2 : 1
}
