import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CommandFailure } from '../command.ts'
import { inFolder, isOurs, type OpenFolder } from './open-folder.ts'

/** What is read whole. */
const MAX_BYTES = 1024 * 1024

/** `mode`: undefined for a file of another user, who could change it at any time. */
type Facts = { mode: number | undefined; size: number; dev: number; ino: number }

export type PlainFile = { bytes: Buffer; mode: number | undefined }

/** What `path` below `root` holds; undefined if nothing is there. Throws for a link, and whatever else is no file. */
export const readPlainFile = (root: string, path: string): PlainFile | undefined =>
  withPlainFile(root, path, (file, { mode, size }) => {
    if (size > MAX_BYTES) throw new CommandFailure(`${join(root, path)} is larger than ${MAX_BYTES} bytes`)
    return { bytes: readFileSync(file), mode }
  })

/** Hands the open file on; undefined if nothing is there. */
export function withPlainFile<T>(
  root: string,
  path: string,
  work: (file: number, facts: Facts) => T,
): T | undefined {
  const shown = join(root, path)
  return inFolder(root, dirname(path), { makes: false }, (folder) => {
    const found = folder.find(basename(path))
    if (found === undefined) return undefined
    if (found.isSymbolicLink())
      throw new CommandFailure(
        `${shown} is a link, which is left alone: put a file there; nothing was changed`,
      )
    if (!found.isFile()) throw new CommandFailure(`${shown} is no file; nothing was changed`)
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
    const file = openSync(folder.at(basename(path)), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const facts = fstatSync(file)
      const { size, dev, ino } = facts
      return work(file, { mode: isOurs(facts) ? facts.mode & 0o7777 : undefined, size, dev, ino })
    } finally {
      closeSync(file)
    }
  })
}

/** Writes a file of root's beside and renames it, so that at any moment there is the old one or the new one. */
export function replaceFile(
  root: string,
  path: string,
  mode: number,
  content: Uint8Array | ((file: number) => void),
): void {
  inFolder(root, dirname(path), { makes: true }, (folder) => {
    const draft = `.${basename(path)}.partial`
    try {
      writeDraft(folder, draft, mode, content)
      renameSync(folder.at(draft), folder.at(basename(path)))
    } catch (error) {
      rmSync(folder.at(draft), { force: true })
      throw error
    }
    folder.sync()
  })
}

function writeDraft(
  folder: OpenFolder,
  draft: string,
  mode: number,
  content: Uint8Array | ((file: number) => void),
): void {
  // Of a run that was killed.
  rmSync(folder.at(draft), { force: true })
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const file = openSync(folder.at(draft), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    if (content instanceof Uint8Array) writeWhole(file, content)
    else content(file)
    // A folder may give its own group to what is made in it.
    if (process.geteuid?.() === 0 && fstatSync(file).gid !== 0) fchownSync(file, 0, 0)
    fchmodSync(file, mode)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

export function writeWhole(file: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
}

/** Nothing is there afterwards. */
export function removeFile(root: string, path: string): void {
  inFolder(root, dirname(path), { makes: false }, (folder) => {
    if (folder.find(basename(path)) !== undefined) unlinkSync(folder.at(basename(path)))
    folder.sync()
  })
}
