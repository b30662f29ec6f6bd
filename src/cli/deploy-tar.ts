import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { type TarSource, tarEntries } from '../platform/archive-tar-write.ts'
import { CommandFailure } from './command.ts'
import { unreadable } from './deploy-files.ts'
import { changedWhileRead, type HashedFile } from './deploy-manifest.ts'

const PIECE_BYTES = 256 * 1024

/**
 * A tar of the files' contents, each named by its SHA-256, as a request body that reads only when the connection
 * wants more. Each file that was not kept is checked against its hash on the way: one that changed makes the stream fail, so that
 * the tar stays without its end. `onRead` counts bytes of contents and files that are done.
 */
export function tarStream(
  files: readonly HashedFile[],
  onRead: (bytes: number, files: number) => void,
): ReadableStream<Uint8Array> {
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

function* contentsOf(
  files: readonly HashedFile[],
  onRead: (bytes: number, files: number) => void,
): Generator<TarSource> {
  for (const file of files) {
    const { content } = file
    if (content !== undefined) refuseChanged(file)
    const body = content ?? readUnchanged(file, (bytes) => onRead(bytes, 0))
    yield { name: file.sha256, sizeBytes: file.size, body }
    onRead(content?.length ?? 0, 1)
  }
}

/** Of a file whose bytes were kept: a folder that is being written is better published when it is done. */
function refuseChanged(file: HashedFile): void {
  const stats = statSync(file.absolutePath, { throwIfNoEntry: false })
  const isSame =
    stats?.size === file.size && stats.mtimeMs === file.modifiedMs && stats.ctimeMs === file.changedMs
  if (!isSame) throw changedWhileRead(file)
}

/** The bytes that were hashed, or a `CommandFailure`. */
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
