import { AppError } from '../../domain/errors.ts'
import { refusedEntry } from './entry.ts'

export const BLOCK_BYTES = 512

/** The fields of a header that matter here. POSIX.1-2024 pax, "ustar Interchange Format". */
export type TarHeader = { path: string; sizeBytes: number; type: string; linkPath: string }

/** The values that pax records and GNU long names override in the next entry. */
export type TarOverrides = { path?: string; sizeBytes?: number; linkPath?: string }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Parses one block; undefined for the block of zeros that ends an archive. */
export function parseTarHeader(block: Uint8Array): TarHeader | undefined {
  const { unsigned, signed } = checksums(block)
  if (unsigned === 8 * 0x20 && isZero(block)) return undefined
  if (!isChecksum(octal(block, 148, 8), unsigned, signed))
    throw new AppError(
      'invalid',
      'This is not a tar archive, or a damaged one: the checksum of a header is wrong',
    )
  const name = tarText(block.subarray(0, 100))
  // GNU archives ("ustar  ") use the place of the POSIX prefix for other data.
  const isPosix = latin1(block.subarray(257, 263)) === 'ustar\0'
  const prefix = isPosix ? tarText(block.subarray(345, 500)) : ''
  const path = prefix === '' ? name : `${prefix}/${name}`
  const sizeBytes = octal(block, 124, 12)
  if (sizeBytes === undefined) throw refusedEntry(path, 'has a size that cannot be read')
  const type = block[156] === 0 ? '0' : String.fromCharCode(block[156] ?? 0)
  return { path, sizeBytes, type, linkPath: type === '1' ? tarText(block.subarray(157, 257)) : '' }
}

/**
 * Whether the bytes begin like a tar archive: by the name `ustar` of the format, by the checksum that the older format
 * without a name has too, or by the zeros of an empty one.
 */
export function isTar(head: Uint8Array): boolean {
  if (latin1(head.subarray(257, 262)) === 'ustar') return true
  if (head.length < BLOCK_BYTES) return false
  const block = head.subarray(0, BLOCK_BYTES)
  const { unsigned, signed } = checksums(block)
  return isZero(block) || isChecksum(octal(block, 148, 8), unsigned, signed)
}

/** Old versions of tar summed signed bytes. */
const isChecksum = (stored: number | undefined, unsigned: number, signed: number): boolean =>
  stored === unsigned || stored === signed

/** Parses the records of a pax header, each `length key=value` and a line feed. Ignores other keys. */
export function parsePaxRecords(bytes: Uint8Array): TarOverrides {
  const overrides: TarOverrides = {}
  for (let at = 0; at < bytes.length; ) {
    const { key, value, end } = paxRecord(bytes, at)
    at = end
    if (key === 'path') overrides.path = decodeName(value)
    else if (key === 'linkpath') overrides.linkPath = decodeName(value)
    else if (key === 'size') overrides.sizeBytes = paxSize(latin1(value))
    else if (key.startsWith('GNU.sparse.'))
      throw new AppError('invalid', 'The archive contains a sparse file; pack it without the option --sparse')
  }
  return overrides
}

/** The text of a field, up to a NUL if there is one. */
export function tarText(field: Uint8Array): string {
  const end = field.indexOf(0)
  return decodeName(end < 0 ? field : field.subarray(0, end))
}

function decodeName(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    throw refusedEntry(latin1(bytes), 'has a name that is not UTF-8', error)
  }
}

function paxRecord(bytes: Uint8Array, at: number): { key: string; value: Uint8Array; end: number } {
  const space = bytes.indexOf(0x20, at)
  const digits = space < 0 || space - at > 10 ? '' : latin1(bytes.subarray(at, space))
  const end = /^[1-9][0-9]*$/.test(digits) ? at + Number(digits) : 0
  const equals = bytes.indexOf(0x3d, space)
  if (end > bytes.length || equals < 0 || equals >= end || bytes[end - 1] !== 0x0a)
    throw new AppError('invalid', 'The tar archive has an extended header that cannot be read')
  return { key: latin1(bytes.subarray(space + 1, equals)), value: bytes.subarray(equals + 1, end - 1), end }
}

function paxSize(text: string): number {
  const size = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(size))
    throw new AppError('invalid', 'The tar archive has an extended header with a size that cannot be read')
  return size
}

/** Parses an octal number, or GNU's binary form for large ones; undefined for anything else. */
function octal(block: Uint8Array, start: number, length: number): number | undefined {
  const plain = plainOctal(block, start, length)
  if (plain !== undefined) return plain
  const field = block.subarray(start, start + length)
  if (((field[0] ?? 0) & 0x80) !== 0) return base256(field)
  const text = latin1(field).split('\0', 1)[0]?.trim() ?? ''
  return /^[0-7]*$/.test(text) ? Number.parseInt(text || '0', 8) : undefined
}

/** Digits up to a NUL, the form that nearly every writer uses. */
function plainOctal(block: Uint8Array, start: number, length: number): number | undefined {
  let value = 0
  for (let at = start; at < start + length; at++) {
    const byte = block[at] ?? 0
    if (byte < 0x30 || byte > 0x37) return at > start && byte === 0 ? value : undefined
    value = value * 8 + byte - 0x30
  }
  return undefined
}

function base256(field: Uint8Array): number | undefined {
  let value = 0
  for (const [index, byte] of field.entries()) value = value * 256 + (index === 0 ? byte & 0x7f : byte)
  return Number.isSafeInteger(value) ? value : undefined
}

function checksums(block: Uint8Array): { unsigned: number; signed: number } {
  let unsigned = 8 * 0x20
  let above = 0
  for (let at = 0; at < BLOCK_BYTES; at++) {
    if (at >= 148 && at < 156) continue
    const byte = block[at] ?? 0
    unsigned += byte
    if (byte > 127) above += 256
  }
  return { unsigned, signed: unsigned - above }
}

function isZero(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0)
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}
