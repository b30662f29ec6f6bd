import { setImmediate } from 'node:timers/promises'
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib'
import { ArchiveBudget, type ArchiveEntry, type ArchiveLimits, refusedEntry } from './entry.ts'
import { throughZlib } from './gzip.ts'
import { WindowedFile } from './windowed-file.ts'
import { DEFLATED, readZipDirectory, type ZipFile } from './zip-directory.ts'

const LOCAL_HEADER_BYTES = 30
/** A file up to this size, both packed and unpacked, is returned as one array. */
const WHOLE_BYTES = 1024 * 1024
const PIECE_BYTES = 256 * 1024

/**
 * Reads the files of a zip archive on disk (stored, deflate, zip64). Checks declared sizes against the limits before
 * unpacking, and the output against the declared sizes. Fails with `invalid` for encrypted entries, links, overlapping
 * entries, wrong sizes or checksums and truncation, and with `too_large` over the limits.
 */
export async function* readZip(path: string, limits: ArchiveLimits): AsyncGenerator<ArchiveEntry> {
  const archive = await WindowedFile.open(path)
  try {
    const { files, startsAt } = await readZipDirectory(archive, new ArchiveBudget(limits))
    let unpacked = 0
    for (const [index, file] of files.entries()) {
      const limit = files[index + 1]?.headerAt ?? startsAt
      const dataAt = await findData(archive, file, limit)
      const isWhole = file.sizeBytes <= WHOLE_BYTES && file.packedBytes <= WHOLE_BYTES
      const body = isWhole ? await unpackWhole(archive, file, dataAt) : unpackStream(archive, file, dataAt)
      yield { path: file.path, sizeBytes: file.sizeBytes, body }
      // Thousands of small files unpack without a wait, so yield to other work now and then.
      unpacked += file.sizeBytes
      if (unpacked > WHOLE_BYTES) {
        unpacked = 0
        await setImmediate()
      }
    }
  } finally {
    await archive.close()
  }
}

/**
 * The start of a file's bytes. They and their header must end before the next file begins, because zip bombs overlap
 * files.
 */
async function findData(archive: WindowedFile, file: ZipFile, limit: number): Promise<number> {
  const bytes = await archive.read(file.headerAt, LOCAL_HEADER_BYTES)
  const header = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (header.getUint32(0, true) !== 0x04034b50)
    throw refusedEntry(file.path, 'is not where the directory says')
  const dataAt = file.headerAt + LOCAL_HEADER_BYTES + header.getUint16(26, true) + header.getUint16(28, true)
  if (dataAt + file.packedBytes > limit)
    throw refusedEntry(file.path, 'shares bytes with another part of the archive')
  return dataAt
}

async function unpackWhole(archive: WindowedFile, file: ZipFile, dataAt: number): Promise<Uint8Array> {
  const packed = await archive.read(dataAt, file.packedBytes)
  const bytes = file.method === DEFLATED ? inflate(file, packed) : packed
  checkUnpacked(file, bytes.length, crc32(bytes))
  return bytes
}

function inflate(file: ZipFile, packed: Uint8Array): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, file.sizeBytes) })
  } catch (error) {
    const isTooLong = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    throw refusedEntry(file.path, isTooLong ? 'is larger than declared' : 'is damaged', error)
  }
}

async function* unpackStream(
  archive: WindowedFile,
  file: ZipFile,
  dataAt: number,
): AsyncGenerator<Uint8Array> {
  const packed = pieces(archive, dataAt, file.packedBytes)
  const damaged = (cause: unknown) => refusedEntry(file.path, 'is damaged', cause)
  const bytes = file.method === DEFLATED ? throughZlib(packed, createInflateRaw(), damaged) : packed
  let sizeBytes = 0
  let sum = 0
  for await (const piece of bytes) {
    sizeBytes += piece.length
    sum = crc32(piece, sum)
    if (sizeBytes > file.sizeBytes) throw refusedEntry(file.path, 'is larger than declared')
    yield piece
  }
  checkUnpacked(file, sizeBytes, sum)
}

async function* pieces(archive: WindowedFile, start: number, length: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < start + length; at += PIECE_BYTES)
    yield await archive.read(at, Math.min(PIECE_BYTES, start + length - at))
}

function checkUnpacked(file: ZipFile, sizeBytes: number, sum: number): void {
  if (sizeBytes !== file.sizeBytes) throw refusedEntry(file.path, 'does not have its declared size')
  if (sum !== file.crc32) throw refusedEntry(file.path, 'is damaged: its checksum is wrong')
}
