import { readSync } from 'node:fs'
import { frameSum, type Sum } from './checksum.ts'

/** The log of an SQLite database, as https://sqlite.org/fileformat2.html#walformat has it. */

const HEADER_SIZE = 32
const FRAME_HEADER = 24
const MAGIC = 0x377f0682
const VERSION = 3_007_000

/** Where reading goes on: in which run of the log (it begins again from time to time), and behind which frame. */
export type WalPosition = { salt: bigint; offset: number; sum: Sum }

/** What was committed since a position. */
export type WalBatch = {
  pageSize: number
  /** Where the log has the newest form of each page. It stays there until the log begins again. */
  pages: Map<number, number>
  /** The size of the database in pages, at the end and where it was smallest. */
  commit: number
  smallest: number
  next: WalPosition
}

type Header = { salt: bigint; pageSize: number; isBigEndian: boolean; sum: Sum }

/**
 * Reads the transactions that are whole, up to the first frame that was not written for them; null if there are none. A log that
 * began again since the position is read from its beginning: the caller has seen to it that nothing was unread.
 */
export function readWal(file: number, after: WalPosition | null): WalBatch | null {
  const header = readHeader(file)
  if (header === null) return null
  const isSameRun = after?.salt === header.salt
  let at = isSameRun ? after.offset : HEADER_SIZE
  let sum = isSameRun ? after.sum : header.sum
  const frame = new Uint8Array(FRAME_HEADER + header.pageSize)
  const view = new DataView(frame.buffer)
  const pages = new Map<number, number>()
  const open = new Map<number, number>()
  let smallest = Number.POSITIVE_INFINITY
  let found: { commit: number; next: WalPosition } | null = null
  while (readSync(file, frame, 0, frame.length, at) === frame.length) {
    sum = frameSum(frame, header.isBigEndian, sum)
    if (view.getBigUint64(8) !== header.salt || !isSum(view, sum)) break
    open.set(view.getUint32(0), at + FRAME_HEADER)
    at += frame.length
    const commit = view.getUint32(4)
    if (commit === 0) continue
    for (const [page, offset] of open) pages.set(page, offset)
    open.clear()
    smallest = Math.min(smallest, commit)
    found = { commit, next: { salt: header.salt, offset: at, sum } }
  }
  if (found === null) return null
  return { pageSize: header.pageSize, pages: within(pages, found.commit), smallest, ...found }
}

/** Whether anything stands behind the position, committed or not. Takes a few microseconds. */
export function hasMore(file: number, after: WalPosition | null): boolean {
  const header = readHeader(file)
  if (header === null) return false
  if (after?.salt !== header.salt) return true
  const frame = new Uint8Array(FRAME_HEADER)
  if (readSync(file, frame, 0, FRAME_HEADER, after.offset) < FRAME_HEADER) return false
  return new DataView(frame.buffer).getBigUint64(8) === header.salt
}

/** How many frames of its run of the log a position has behind it. */
export const framesBefore = ({ offset }: WalPosition, pageSize: number): number =>
  (offset - HEADER_SIZE) / (FRAME_HEADER + pageSize)

/** How many bytes a log of so many frames has behind a position. */
export function bytesAfter(file: number, after: WalPosition | null, frames: number): number {
  const header = readHeader(file)
  if (header === null) return 0
  const end = HEADER_SIZE + frames * (FRAME_HEADER + header.pageSize)
  return Math.max(0, end - (after?.salt === header.salt ? after.offset : HEADER_SIZE))
}

/** A later transaction may have made the database smaller. */
function within(pages: Map<number, number>, commit: number): Map<number, number> {
  for (const page of pages.keys()) if (page > commit) pages.delete(page)
  return pages
}

/** Null for a log that is empty, or was not begun for good: nothing in it counts. */
function readHeader(file: number): Header | null {
  const bytes = new Uint8Array(HEADER_SIZE)
  if (readSync(file, bytes, 0, HEADER_SIZE, 0) < HEADER_SIZE) return null
  const view = new DataView(bytes.buffer)
  const magic = view.getUint32(0)
  if ((magic & ~1) !== MAGIC || view.getUint32(4) !== VERSION) return null
  const isBigEndian = (magic & 1) === 1
  const sum = frameSum(bytes, isBigEndian, [0, 0])
  return isSum(view, sum)
    ? { salt: view.getBigUint64(16), pageSize: view.getUint32(8), isBigEndian, sum }
    : null
}

/** Of a header and of a frame the sum stands behind 24 and 16 bytes. */
const isSum = (view: DataView, [first, second]: Sum): boolean => {
  const at = view.byteLength === HEADER_SIZE ? 24 : 16
  return view.getUint32(at) === first && view.getUint32(at + 4) === second
}
