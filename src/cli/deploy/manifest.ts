import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { nestedFolder, withoutFolder } from '../../domain/nested-folder.ts'
import { CommandFailure } from '../command.ts'
import { type FileFacts, type FoundFile, unreadable } from './files.ts'
import type { HashThread } from './hash-thread.ts'

/** A file as it was when it was hashed. `sha256` is hex. */
export type HashedFile = FoundFile & FileFacts

const READ_BYTES = 1024 * 1024
/** From this many files on, sharing them with a thread pays off. */
const SHARED_FILES = 256

/**
 * Hashes the files in flat memory; with many files, `thread` takes its share. Synchronous within a thread on purpose: one
 * open, stat and read per small file is faster than a pool of promises. `onFiles` is called now and then with the bytes and
 * files read so far.
 */
export async function hashFiles(
  files: readonly FoundFile[],
  onFiles: (bytes: number, files: number) => void,
  thread?: HashThread,
): Promise<HashedFile[]> {
  const shared = files.length < SHARED_FILES ? undefined : thread?.share(files)
  const buffer = new Uint8Array(READ_BYTES)
  const own = new Map<number, FileFacts>()
  const hashOwn = (file: FoundFile, place: number) => {
    const facts = hashFile(file, buffer)
    own.set(place, facts)
    onFiles(facts.size, 1)
    return facts
  }
  if (shared !== undefined)
    for (let block = shared.takeBlock(); block !== undefined; block = shared.takeBlock()) {
      files.slice(block.from, block.to).forEach((file, place) => {
        hashOwn(file, block.from + place)
      })
      onFiles(...shared.takeProgress())
    }
  const others = await shared?.results()
  onFiles(...(shared?.takeProgress() ?? [0, 0]))
  // Files that the thread skipped (large, or unreadable for it) are hashed here, where an error is reported.
  return files.map((file, place) => ({
    ...file,
    ...(own.get(place) ?? others?.get(place) ?? hashOwn(file, place)),
  }))
}

/** The files, sorted, without the folder that all of the site is in. One path twice with the same bytes is one file. */
export function unwrapped(files: readonly HashedFile[]): HashedFile[] {
  const folder = nestedFolder(files.map(({ path }) => path))
  if (folder === null) return [...files]
  const byPath = new Map<string, HashedFile>()
  for (const file of files) {
    const path = withoutFolder(file.path, folder)
    const known = byPath.get(path)
    if (known !== undefined && known.sha256 !== file.sha256)
      throw new CommandFailure(
        `${path} is both at the top and in ${folder}, with different contents; remove one`,
      )
    byPath.set(path, { ...file, path })
  }
  return [...byPath.keys()].sort().flatMap((path) => byPath.get(path) ?? [])
}

/** The commit SHA of a folder that no commit names: SHA-256 over `<sha256>  <path>` lines, sorted by path. */
export function manifestSha(files: readonly HashedFile[]): string {
  const hasher = new Bun.CryptoHasher('sha256')
  for (const { sha256, path } of files) hasher.update(`${sha256}  ${path}\n`)
  return hasher.digest('hex')
}

function hashFile(file: FoundFile, buffer: Uint8Array): FileFacts {
  return withOpenFile(file, (fd) => {
    const { size, mtimeMs, ctimeMs } = fstatSync(fd)
    const times = { modifiedMs: mtimeMs, changedMs: ctimeMs }
    const hasher = new Bun.CryptoHasher('sha256')
    for (let rest = size; rest > 0; ) {
      const count = readSync(fd, buffer, 0, Math.min(rest, buffer.length), null)
      if (count === 0) throw changedWhileRead(file)
      hasher.update(buffer.subarray(0, count))
      rest -= count
    }
    return { size, sha256: hasher.digest('hex'), ...times }
  })
}

/** Opens, hands over the descriptor and closes; a system error names the file. */
export function withOpenFile<T>(file: FoundFile, use: (fd: number) => T): T {
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
