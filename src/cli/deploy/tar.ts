import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { MAX_FILLED_BYTES, type TarSource, tarEntries } from '../../platform/archive/tar-write.ts'
import { CommandFailure } from '../command.ts'
import { unreadable } from './files.ts'
import { changedWhileRead, type HashedFile, withOpenFile } from './manifest.ts'

const PIECE_BYTES = 256 * 1024

/** Counts the bytes and files that are sent. */
type OnRead = (bytes: number, files: number) => void

/**
 * A tar of the files' contents, each named by its SHA-256, as a request body that reads only when the connection
 * wants more. A file that changed since it was hashed makes the stream fail, so that the tar stays incomplete.
 */
export function tarStream(files: readonly HashedFile[], onRead: OnRead): ReadableStream<Uint8Array> {
  const chunks = tarEntries(contentsOf(files, onRead))
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

function* contentsOf(files: readonly HashedFile[], onRead: OnRead): Generator<TarSource> {
  for (const file of files) {
    const isSmall = file.size <= MAX_FILLED_BYTES
    const body = isSmall
      ? (into: Uint8Array) => fillUnchanged(file, into)
      : readUnchanged(file, (bytes) => onRead(bytes, 0))
    yield { name: file.sha256, sizeBytes: file.size, body }
    onRead(isSmall ? file.size : 0, 1)
  }
}

/**
 * The bytes of a small file. Its times, checked after reading, tell whether it changed since it was hashed: a folder that is
 * still being written should be published when it is complete. The server verifies the hash in any case.
 */
function fillUnchanged(file: HashedFile, into: Uint8Array): void {
  withOpenFile(file, (fd) => {
    for (let read = 0; read < into.length; ) {
      const count = readSync(fd, into, read, into.length - read, null)
      if (count === 0) throw changedWhileRead(file)
      read += count
    }
    const { size, mtimeMs, ctimeMs } = fstatSync(fd)
    const isSame = size === file.size && mtimeMs === file.modifiedMs && ctimeMs === file.changedMs
    if (!isSame) throw changedWhileRead(file)
  })
}

/** The bytes that were hashed. Throws a `CommandFailure` if the file changed. */
async function* readUnchanged(file: HashedFile, onRead: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  let fd: number | undefined
  try {
    fd = openSync(file.absolutePath, 'r')
    const { size, mtimeMs } = fstatSync(fd)
    if (size !== file.size || mtimeMs !== file.modifiedMs) throw changedWhileRead(file)
    const hasher = new Bun.CryptoHasher('sha256')
    for (let rest = size; rest > 0; ) {
      const piece = new Uint8Array(Math.min(rest, PIECE_BYTES))
      const count = readSync(fd, piece, 0, piece.length, null)
      if (count === 0) throw changedWhileRead(file)
      rest -= count
      hasher.update(piece.subarray(0, count))
      if (rest === 0 && hasher.digest('hex') !== file.sha256) throw changedWhileRead(file)
      onRead(count)
      yield piece.subarray(0, count)
    }
  } catch (error) {
    throw error instanceof CommandFailure ? error : unreadable(file.path, error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
