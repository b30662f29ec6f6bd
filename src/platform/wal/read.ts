import { readSync } from 'node:fs'
import { frameSum, type Sum } from './checksum.ts'

/** The log of an SQLite database, as https://sqlite.org/fileformat2.html#walformat has it. */

const HEADER_SIZE = 32
const FRAME_HEADER = 24
const MAGIC = 0x377f0682
const VERSION = 3_007_000

/** Where reading goes on: in which run of the log (it begins again from time to time), and behind which frame. */
export type WalPosition = { salt: bigint; offset: number; sum: Sum }

/** What was committed since a position: the newest form of each page, and the size of the database in pages. */
export type WalBatch = {
  pageSize: number
  pages: Map<number, Uint8Array>
  commit: number
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
  const pages = new Map<number, Uint8Array>()
  const open = new Map<number, Uint8Array>()
  let found: { commit: number; next: WalPosition } | null = null
  while (readSync(file, frame, 0, frame.length, at) === frame.length) {
    sum = frameSum(frame, header.isBigEndian, sum)
    if (view.getBigUint64(8) !== header.salt || !isSum(view, sum)) break
    at += frame.length
    open.set(view.getUint32(0), frame.slice(FRAME_HEADER))
    const commit = view.getUint32(4)
    if (commit === 0) continue
    for (const [page, data] of open) pages.set(page, data)
    open.clear()
    found = { commit, next: { salt: header.salt, offset: at, sum } }
  }
  return found === null ? null : { pageSize: header.pageSize, pages: within(pages, found.commit), ...found }
}

/** A later transaction may have made the database smaller. */
function within(pages: Map<number, Uint8Array>, commit: number): Map<number, Uint8Array> {
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
