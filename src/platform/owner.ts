import {
  closeSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { DataDirError } from '../domain/data-dir-error.ts'
import { messageOf } from '../domain/errors.ts'
import { shellWord } from '../domain/shell-word.ts'
import { randomBytes } from './random.ts'

export type Owner = { uid: number; gid: number }

/**
 * Whose data directory this process works in as root, if it is not root's own: what it makes there is theirs, or their
 * server could not read it. Process-wide, like the umask. contract 12.11.
 */
let heir: (Owner & { dir: string }) | undefined

/** Call it before anything is made in the folder. Throws `DataDirError` if this root may not give files away. */
export function workForOwnerOf(dataDir: string): void {
  heir = undefined
  const { uid, gid } = statSync(dataDir)
  if (process.getuid?.() !== 0 || uid === 0) return
  heir = { uid, gid, dir: realpathSync(dataDir) }
  tryToGive(dataDir, { uid, gid })
}

/** Gives a file or folder that was just made in the data directory to its owner. Never opens it, because of SQLite's locks. */
export function handOver(path: string): void {
  if (heir !== undefined && isInside(heir.dir, path)) give(path, heir, lstatSync(path))
}

/** The same for a file that `open` makes, if it is not there yet. */
export function handOverNew<T>(path: string, open: () => T): T {
  const isNew = heir !== undefined && statSync(path, { throwIfNoEntry: false }) === undefined
  const opened = open()
  if (isNew) handOver(path)
  return opened
}

/** The same for an open file in the data directory. */
export function handOverOpen(file: number): void {
  if (heir === undefined) return
  const { uid, gid } = fstatSync(file)
  if (uid !== heir.uid || gid !== heir.gid) fchownSync(file, heir.uid, heir.gid)
}

/** `mkdir -p` with mode 0700; returns the first folder that it made, if any. */
export function makeFolder(path: string): string | undefined {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first !== undefined && heir !== undefined)
    for (const folder of foldersBetween(first, path)) handOver(folder)
  return first
}

/**
 * The same for the data directory itself: as root, the new folders belong to the owner of the folder above, unless that is
 * root's.
 */
export function makeRootFolder(path: string): string | undefined {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 })
  if (first === undefined || process.getuid?.() !== 0) return first
  const above = statSync(dirname(resolve(first)))
  if (above.uid !== 0)
    for (const folder of foldersBetween(first, path)) give(folder, above, lstatSync(folder))
  return first
}

/** The command that gives everything in the folder to one user. */
export const chownLine = (folder: string, { uid, gid }: Owner): string =>
  `chown -R ${uid}:${gid} ${shellWord(folder)}`

/** `nobody (uid 65534)`; the name is left out where the system knows none. */
export function userName(uid: number): string {
  const [name] = passwd().find((fields) => fields[2] === String(uid)) ?? []
  return name === undefined ? `uid ${uid}` : `${name} (uid ${uid})`
}

function passwd(): string[][] {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
  } catch {
    return []
  }
}

/** A root without that right, as in some containers, is found out before it changes anything. */
function tryToGive(dataDir: string, owner: Owner): void {
  const probe = join(dataDir, `.owner-${randomBytes(6).toString('hex')}`)
  let file: number | undefined
  try {
    file = openSync(probe, 'wx', 0o600)
    handOverOpen(file)
  } catch (error) {
    // What cannot even be made has its own message later.
    if (file === undefined) return
    throw new DataDirError(
      `${dataDir} belongs to ${userName(owner.uid)}, and what root makes in it could not be given to that user (${messageOf(error)}): run this command as that user, or first ${chownLine(dataDir, owner)}`,
      { cause: error },
    )
  } finally {
    if (file !== undefined) closeSync(file)
    rmSync(probe, { force: true })
  }
}

/** Leaves a file with other names alone: whoever may write in the folder could have put another's file there. */
function give(path: string, { uid, gid }: Owner, found: Stats): void {
  if (found.uid === uid && found.gid === gid) return
  if (found.isDirectory() || (found.isFile() && found.nlink === 1)) lchownSync(path, uid, gid)
}

function* foldersBetween(first: string, last: string): Generator<string> {
  const top = resolve(first)
  for (let folder = resolve(last); folder.length >= top.length; folder = dirname(folder)) yield folder
}

const isInside = (dir: string, path: string): boolean =>
  `${realpathSync(dirname(path))}${sep}`.startsWith(`${dir}${sep}`)
