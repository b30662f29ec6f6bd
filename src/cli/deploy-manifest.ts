import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { CommandFailure } from './command.ts'
import { type FoundFile, unreadable } from './deploy-files.ts'

/**
 * A file as it was when it was hashed. `sha256` is hex; `modifiedMs` tells whether it changed since, and `changedMs`, which
 * nobody can set back, whether it was rewritten under the old time. `content`: its bytes, where they were kept, so that
 * sending it need not open it again.
 */
export type HashedFile = FoundFile & {
  size: number
  sha256: string
  modifiedMs: number
  changedMs: number
  content?: Uint8Array
}

const READ_BYTES = 1024 * 1024
/** Contents of up to so many bytes are kept, as long as all of them are not more than that. */
const KEPT_FILE_BYTES = 256 * 1024
const KEPT_BYTES = 64 * 1024 * 1024

/**
 * Hashes the files in order. Synchronous on purpose: one open, stat and read per small file is as fast as a pool
 * of promises, and memory stays at one buffer and what is kept. `onFile` is called after each.
 */
export function hashFiles(files: readonly FoundFile[], onFile: (file: HashedFile) => void): HashedFile[] {
  const buffer = new Uint8Array(READ_BYTES)
  let room = KEPT_BYTES
  return files.map((file) => {
    const hashed = hashFile(file, buffer, Math.min(room, KEPT_FILE_BYTES))
    room -= hashed.content?.length ?? 0
    onFile(hashed)
    return hashed
  })
}

/** The commit SHA of a folder that no commit names: SHA-256 over `<sha256>  <path>` lines, sorted by path. */
export function manifestSha(files: readonly HashedFile[]): string {
  const hasher = new Bun.CryptoHasher('sha256')
  for (const { sha256, path } of files) hasher.update(`${sha256}  ${path}\n`)
  return hasher.digest('hex')
}

function hashFile(file: FoundFile, buffer: Uint8Array, keptBytes: number): HashedFile {
  return withOpenFile(file, (fd) => {
    const { size, mtimeMs, ctimeMs } = fstatSync(fd)
    const times = { modifiedMs: mtimeMs, changedMs: ctimeMs }
    if (size <= keptBytes) {
      const content = readWhole(file, fd, size)
      return { ...file, size, sha256: Bun.SHA256.hash(content, 'hex'), ...times, content }
    }
    const hasher = new Bun.CryptoHasher('sha256')
    for (let rest = size; rest > 0; ) {
      const count = readSync(fd, buffer, 0, Math.min(rest, buffer.length), null)
      if (count === 0) throw changedWhileRead(file)
      hasher.update(buffer.subarray(0, count))
      rest -= count
    }
    return { ...file, size, sha256: hasher.digest('hex'), ...times }
  })
}

function readWhole(file: FoundFile, fd: number, size: number): Uint8Array {
  const content = new Uint8Array(size)
  for (let read = 0; read < size; ) {
    const count = readSync(fd, content, read, size - read, null)
    if (count === 0) throw changedWhileRead(file)
    read += count
  }
  return content
}

/** Opens, hands over the descriptor and closes; a system error names the file. */
function withOpenFile<T>(file: FoundFile, use: (fd: number) => T): T {
  let fd: number | undefined
  try {
    fd = openSync(file.absolutePath, 'r')
    return use(fd)
  } catch (error) {
    throw error instanceof CommandFailure ? error : unreadable(file.path, error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

export function changedWhileRead(file: FoundFile): CommandFailure {
  return new CommandFailure(
    `${file.path} changed while it was being published; nothing was published, run it again`,
  )
}
