/**
 * The parts of an LTX file, format version 3: a header, page frames in rising order, an index of them, a trailer. All numbers
 * are big-endian.
 */

export const HEADER_SIZE = 100
export const PAGE_HEADER_SIZE = 6
export const SIZE_FIELD = 4
export const INDEX_SIZE_FIELD = 8
export const TRAILER_SIZE = 16
/** Of a page header: its frame says its size, and the page is an LZ4 block. */
export const HAS_SIZE = 1

const MAGIC = 0x4c545831
/** Of the header: no checksum of the whole database is kept. */
const NO_CHECKSUM = 2
const MIN_PAGE = 512
const MAX_PAGE = 65_536
/** Byte of a database file on whose page SQLite keeps its locks; that page is never stored. */
const LOCK_BYTE = 0x40000000
/** Set in every checksum, so that none is 0. */
export const CHECKSUM_FLAG = 1n << 63n

/** Why bytes are no LTX file that can be used. */
export class LtxError extends Error {
  override readonly name = 'LtxError'
}

/** Which transactions a file holds, and how many pages the database has after them. `timestamp` in milliseconds. */
export type LtxHeader = {
  pageSize: number
  commit: number
  first: number
  last: number
  timestamp: number
}

/** The page that SQLite locks, which no file holds. */
export const lockPage = (pageSize: number): number => Math.floor(LOCK_BYTE / pageSize) + 1

/** A file from the first transaction on is a whole database. */
export const isSnapshot = ({ first }: LtxHeader): boolean => first === 1

export function writeHeader({
  pageSize,
  commit,
  first,
  last,
  timestamp,
}: LtxHeader): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEADER_SIZE)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, MAGIC)
  view.setUint32(4, NO_CHECKSUM)
  view.setUint32(8, pageSize)
  view.setUint32(12, commit)
  view.setBigUint64(16, BigInt(first))
  view.setBigUint64(24, BigInt(last))
  view.setBigUint64(32, BigInt(timestamp))
  return bytes
}

export function readHeader(bytes: Uint8Array): LtxHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_SIZE)
  if (view.getUint32(0) !== MAGIC) throw new LtxError('It does not begin with LTX1')
  if ((view.getUint32(4) & ~NO_CHECKSUM) !== 0) throw new LtxError('Its header has unknown flags')
  const header = {
    pageSize: view.getUint32(8),
    commit: view.getUint32(12),
    first: wholeNumber(view.getBigUint64(16)),
    last: wholeNumber(view.getBigUint64(24)),
    timestamp: Number(view.getBigInt64(32)),
  }
  if (!isPageSize(header.pageSize)) throw new LtxError(`${header.pageSize} bytes is no size of a page`)
  if (header.first === 0 || header.first > header.last)
    throw new LtxError(`It cannot hold transactions ${header.first} to ${header.last}`)
  return header
}

function wholeNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new LtxError(`The number ${value} is too large`)
  return Number(value)
}

const isPageSize = (size: number): boolean =>
  size >= MIN_PAGE && size <= MAX_PAGE && (size & (size - 1)) === 0

/** Checks that a page may follow the one before (0: none) and belongs into the database. */
export function checkPageNumber(header: LtxHeader, page: number, before: number): void {
  const lock = lockPage(header.pageSize)
  if (page > header.commit) throw new LtxError(`Page ${page} lies beyond the end of the database`)
  if (page === lock) throw new LtxError(`Page ${page} is the one that SQLite locks`)
  const next = before + 1 === lock ? before + 2 : before + 1
  if (isSnapshot(header) ? page !== next : page <= before)
    throw new LtxError(`Page ${page} is out of order after page ${before}`)
}

/** Unsigned LEB128, up to 2^53. */
export function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  bytes.push(rest)
  return bytes
}
