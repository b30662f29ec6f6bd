import { crc32 } from 'node:zlib'
import { AppError } from '../../domain/errors.ts'
import { type ArchiveBudget, refusedEntry } from './entry.ts'
import type { WindowedFile } from './windowed-file.ts'

/** A file as the central directory describes it. APPNOTE 6.3.10 §4.3.12 */
export type ZipFile = {
  path: string
  sizeBytes: number
  packedBytes: number
  method: number
  crc32: number
  /** The position of its local header. */
  headerAt: number
}

type ZipDirectory = { files: ZipFile[]; startsAt: number }

const STORED = 0
export const DEFLATED = 8

const END_BYTES = 22
const MAX_COMMENT_BYTES = 0xffff
const HEADER_BYTES = 46
/** All names stay in memory until every file has been read. */
const MAX_NAMES_BYTES = 32 * 1024 * 1024

/** Reads the position and the declared properties of every file, sorted by position. */
export async function readZipDirectory(file: WindowedFile, budget: ArchiveBudget): Promise<ZipDirectory> {
  const end = await findEnd(file)
  const files: ZipFile[] = []
  let at = end.startsAt
  let nameBytes = 0
  for (let left = end.entryCount; left > 0; left--) {
    if (at + HEADER_BYTES > end.endsAt) throw damaged()
    const header = view(await file.read(at, HEADER_BYTES))
    if (header.getUint32(0, true) !== 0x02014b50) throw damaged()
    const nameLength = header.getUint16(28, true)
    const extraLength = header.getUint16(30, true)
    nameBytes += nameLength
    if (nameBytes > MAX_NAMES_BYTES)
      throw new AppError('too_large', 'The archive contains more than 32 MiB of names')
    const rest = await file.read(at + HEADER_BYTES, nameLength + extraLength)
    const entry = parseEntry(header, rest.subarray(0, nameLength), rest.subarray(nameLength))
    at += HEADER_BYTES + nameLength + extraLength + header.getUint16(32, true)
    if (entry === undefined) budget.addFolder()
    else {
      budget.addFile(entry.sizeBytes)
      files.push(entry)
    }
  }
  if (at !== end.endsAt) throw damaged()
  return { files: files.sort((a, b) => a.headerAt - b.headerAt), startsAt: end.startsAt }
}

type DirectoryPlace = { entryCount: number; startsAt: number; endsAt: number }

/** The end record is at the very end, followed only by a comment whose length it contains. §4.3.16 */
async function findEnd(file: WindowedFile): Promise<DirectoryPlace> {
  const length = Math.min(file.sizeBytes, END_BYTES + MAX_COMMENT_BYTES)
  const startsAt = file.sizeBytes - length
  const tail = view(await file.read(startsAt, length))
  for (let at = length - END_BYTES; at >= 0; at--) {
    if (tail.getUint32(at, true) !== 0x06054b50) continue
    if (tail.getUint16(at + 20, true) !== length - at - END_BYTES) continue
    return parseEnd(file, new DataView(tail.buffer, tail.byteOffset + at, END_BYTES), startsAt + at)
  }
  throw new AppError('invalid', 'This is not a zip archive, or its end is missing')
}

async function parseEnd(file: WindowedFile, end: DataView, endAt: number): Promise<DirectoryPlace> {
  const entryCount = end.getUint16(10, true)
  const sizeBytes = end.getUint32(12, true)
  const startsAt = end.getUint32(16, true)
  if (entryCount === 0xffff || sizeBytes === 0xffffffff || startsAt === 0xffffffff)
    return parseEnd64(file, endAt)
  const isWhole =
    end.getUint16(4, true) === 0 && end.getUint16(6, true) === 0 && end.getUint16(8, true) === entryCount
  return checkedPlace({ entryCount, startsAt, endsAt: startsAt + sizeBytes }, isWhole, endAt)
}

/** §4.3.14 and §4.3.15 */
async function parseEnd64(file: WindowedFile, endAt: number): Promise<DirectoryPlace> {
  if (endAt < 20) throw damaged()
  const locator = view(await file.read(endAt - 20, 20))
  const at = uint64(locator, 8)
  if (locator.getUint32(0, true) !== 0x07064b50 || at + 56 > endAt - 20) throw damaged()
  const end = view(await file.read(at, 56))
  if (end.getUint32(0, true) !== 0x06064b50) throw damaged()
  const entryCount = uint64(end, 32)
  const startsAt = uint64(end, 48)
  const isWhole =
    end.getUint32(16, true) === 0 && end.getUint32(20, true) === 0 && uint64(end, 24) === entryCount
  return checkedPlace({ entryCount, startsAt, endsAt: startsAt + uint64(end, 40) }, isWhole, at)
}

function checkedPlace(place: DirectoryPlace, isWhole: boolean, limit: number): DirectoryPlace {
  if (!isWhole) throw new AppError('invalid', 'The zip archive is split into several files; send it as one')
  if (place.endsAt > limit) throw damaged()
  return place
}

/** Returns undefined for a folder. */
function parseEntry(header: DataView, nameBytes: Uint8Array, extra: Uint8Array): ZipFile | undefined {
  const flags = header.getUint16(8, true)
  const path = entryName(nameBytes, extra, (flags & 0x800) !== 0)
  const sizes = entrySizes(header, extra, path)
  const { sizeBytes, packedBytes } = sizes
  const fileType = (header.getUint32(38, true) >>> 16) & 0o170000
  if (fileType === 0o120000) throw refusedEntry(path, 'is a symbolic link')
  if (fileType !== 0 && fileType !== 0o100000 && fileType !== 0o040000)
    throw refusedEntry(path, 'is neither a file nor a folder')
  if (path.endsWith('/') || fileType === 0o040000) {
    if (sizeBytes === 0) return undefined
    throw refusedEntry(path, 'is a folder with bytes of its own')
  }
  if ((flags & 0x2041) !== 0) throw refusedEntry(path, 'is encrypted')
  const method = header.getUint16(10, true)
  if (method !== STORED && method !== DEFLATED)
    throw refusedEntry(path, `is packed by method ${method}; use deflate or store`)
  if (method === STORED && sizeBytes !== packedBytes)
    throw refusedEntry(path, 'has two sizes that contradict each other')
  return { path, ...sizes, method, crc32: header.getUint32(16, true) }
}

/** Sizes and position, from the zip64 field if those in the header are saturated. §4.5.3 */
function entrySizes(
  header: DataView,
  extra: Uint8Array,
  path: string,
): { sizeBytes: number; packedBytes: number; headerAt: number } {
  const zip64 = extraField(extra, 0x0001)
  let at = 0
  const field = (offset: number) => {
    const value = header.getUint32(offset, true)
    if (value !== 0xffffffff) return value
    if (zip64 === undefined || at + 8 > zip64.byteLength)
      throw refusedEntry(path, 'has a size that cannot be read')
    at += 8
    return uint64(zip64, at - 8)
  }
  const sizeBytes = field(24)
  const packedBytes = field(20)
  return { sizeBytes, packedBytes, headerAt: field(42) }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The name is UTF-8 if the flag or a Unicode path field (of Info-ZIP) says so. Otherwise it should be CP437, but some
 * packers write UTF-8 anyway, and CP437 text with letters beyond ASCII is hardly ever valid UTF-8.
 */
function entryName(bytes: Uint8Array, extra: Uint8Array, isUtf8: boolean): string {
  try {
    return utf8.decode(unicodePath(bytes, extra) ?? bytes)
  } catch (error) {
    const name = decodeCp437(bytes)
    if (isUtf8) throw refusedEntry(name, 'has a name that is not UTF-8', error)
    return name
  }
}

/** §4.6.9. It is valid only if its checksum matches the name beside it. */
function unicodePath(name: Uint8Array, extra: Uint8Array): Uint8Array | undefined {
  const field = extraField(extra, 0x7075)
  if (field === undefined || field.byteLength < 5 || field.getUint8(0) !== 1) return undefined
  if (field.getUint32(1, true) !== crc32(name)) return undefined
  return new Uint8Array(field.buffer, field.byteOffset + 5, field.byteLength - 5)
}

function extraField(extra: Uint8Array, id: number): DataView | undefined {
  const fields = view(extra)
  for (let at = 0; at + 4 <= extra.length; ) {
    const length = fields.getUint16(at + 2, true)
    if (at + 4 + length > extra.length) return undefined
    if (fields.getUint16(at, true) === id) return view(extra.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return undefined
}

const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'

function decodeCp437(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) =>
    byte < 128 ? String.fromCharCode(byte) : CP437.charAt(byte - 128),
  ).join('')
}

function uint64(from: DataView, at: number): number {
  const value = Number(from.getBigUint64(at, true))
  if (!Number.isSafeInteger(value)) throw damaged()
  return value
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function damaged(): AppError {
  return new AppError('invalid', 'The zip archive is damaged: its directory cannot be read')
}
