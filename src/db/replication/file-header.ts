import { closeSync, openSync, readSync, writeSync } from 'node:fs'

/** The header of a database file, as https://sqlite.org/fileformat2.html#the_database_header has it. */

const HEADER_SIZE = 100
const NAME = 'SQLite format 3\0'
const PAGE_SIZE = 16
/** Two bytes: 2 where there is a log, 1 where pages are written into the file. */
const VERSIONS = 18
const IN_FILE = 1
const CHANGES = 24
/** In pages. It counts where `VALID_FOR` is the number of changes. */
const SIZE = 28
const VALID_FOR = 92

/** Of a database file; null for any other. */
export function pageSizeOf(fd: number): number | null {
  const header = headerOf(fd)
  if (header === null) return null
  const size = header.readUInt16BE(PAGE_SIZE)
  return size === 1 ? 65_536 : size
}

/** How often the file was changed, as connections tell it: they drop what they hold of it when this is another number. */
export const changesOf = (fd: number): number => headerOf(fd)?.readUInt32BE(CHANGES) ?? 0

/** Whether a log may stand beside the file. */
export function isForLog(path: string): boolean {
  const fd = openSync(path, 'r')
  try {
    return headerOf(fd)?.[VERSIONS] !== IN_FILE
  } finally {
    closeSync(fd)
  }
}

/** The file as it is now has so many pages, and is to be read without a log. */
export function markChanged(fd: number, { changes, pages }: { changes: number; pages: number }): void {
  const versions = Buffer.of(IN_FILE, IN_FILE)
  const counted = Buffer.alloc(8)
  counted.writeUInt32BE(changes)
  counted.writeUInt32BE(pages, SIZE - CHANGES)
  writeSync(fd, versions, 0, versions.length, VERSIONS)
  writeSync(fd, counted, 0, counted.length, CHANGES)
  writeSync(fd, counted, 0, 4, VALID_FOR)
}

/** Lets the file be read without a log. Nobody has it open. */
export function restInFile(fd: number): void {
  const header = headerOf(fd)
  if (header === null || (header[VERSIONS] === IN_FILE && header[VERSIONS + 1] === IN_FILE)) return
  writeSync(fd, Buffer.of(IN_FILE, IN_FILE), 0, 2, VERSIONS)
}

function headerOf(fd: number): Buffer | null {
  const bytes = Buffer.alloc(HEADER_SIZE)
  if (readSync(fd, bytes, 0, HEADER_SIZE, 0) < HEADER_SIZE) return null
  return bytes.subarray(0, NAME.length).toString('latin1') === NAME ? bytes : null
}
