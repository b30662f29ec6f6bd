import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import { CommandFailure, EXIT } from '../command.ts'

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
const MAX_LINKS = 40

/** An open folder. It stays the same one, whoever renames it or puts a link in its place: root works in it by its names. */
export class OpenFolder {
  readonly fd: number
  /** For messages. */
  readonly path: string

  constructor(fd: number, path: string) {
    this.fd = fd
    this.path = path
  }

  /** What a call of the system is to be given for a name in it. */
  at(name: string): string {
    return `/proc/self/fd/${this.fd}/${name}`
  }

  /** Undefined if nothing has the name. */
  find(name: string): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false })
  }

  /** Throws if it is no folder, or a link. */
  enter(name: string): OpenFolder {
    return new OpenFolder(openSync(this.at(name), FOLDER), join(this.path, name))
  }

  /** Makes the folder with exactly this mode. */
  make(name: string, mode: number): OpenFolder {
    mkdirSync(this.at(name), { mode: 0o700 })
    const made = this.enter(name)
    fchmodSync(made.fd, mode)
    this.sync()
    return made
  }

  /** New names survive a power failure from here on. */
  sync(): void {
    fsyncSync(this.fd)
  }

  close(): void {
    closeSync(this.fd)
  }
}

/**
 * Does `work` in a folder, whose path is absolute and begins at `root`; links are read as if `root` were the whole file system.
 * `makes`: what is missing is made, with mode 0755; else undefined is returned. Follows no link that somebody else than root
 * and this user could have placed. What the system refuses becomes a `CommandFailure`.
 */
export function inFolder<T>(
  root: string,
  path: string,
  { makes }: { makes: boolean },
  work: (folder: OpenFolder) => T,
): T | undefined {
  let folder: OpenFolder | undefined
  try {
    folder = walk(root, path, makes)
    return folder && work(folder)
  } catch (error) {
    throw refusedAt(join(root, path), error)
  } finally {
    folder?.close()
  }
}

function walk(root: string, path: string, makes: boolean): OpenFolder | undefined {
  const first = openRoot(root, makes)
  if (first === undefined) return undefined
  const way = [first]
  let names = namesOf(path)
  try {
    for (let links = 0, name = names.shift(); name !== undefined; name = names.shift()) {
      const here = way.at(-1) ?? first
      if (name === '..') {
        if (way.length > 1) way.pop()?.close()
        continue
      }
      const found = here.find(name)
      if (found === undefined && !makes) return undefined
      if (found?.isSymbolicLink()) {
        links += 1
        const target = targetOf(here, name, found, links)
        if (target.startsWith('/')) for (const one of way.splice(1)) one.close()
        names = [...namesOf(target), ...names]
      } else way.push(found === undefined ? here.make(name, 0o755) : here.enter(name))
    }
    return way.pop()
  } finally {
    for (const one of way) one.close()
  }
}

/** It is whatever the operator named, through links too. */
function openRoot(root: string, makes: boolean): OpenFolder | undefined {
  if (makes) mkdirSync(root, { recursive: true })
  else if (lstatSync(root, { throwIfNoEntry: false }) === undefined) return undefined
  return new OpenFolder(openSync(root, FOLDER & ~constants.O_NOFOLLOW), root)
}

const namesOf = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.')

function targetOf(folder: OpenFolder, name: string, link: Stats, links: number): string {
  const above = fstatSync(folder.fd)
  if (![link, above].every(isOurs) || isOpenToAll(above))
    throw new CommandFailure(
      `${join(folder.path, name)} is a link that another user could have placed: put a folder of root's there; nothing was changed`,
    )
  if (links > MAX_LINKS)
    throw new CommandFailure(`${join(folder.path, name)} is a link that leads in a circle`)
  return readlinkSync(folder.at(name))
}

/** It belongs to root or to this user. */
export const isOurs = ({ uid }: Stats): boolean => uid === 0 || uid === process.geteuid?.()

/** Without the sticky bit, anybody may replace what lies in a folder that all may write to. */
const isOpenToAll = ({ mode }: Stats): boolean => (mode & 0o002) !== 0 && (mode & 0o1000) === 0

/** The system's own words, without the path by which the folder was reached. */
function refusedAt(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error instanceof CommandFailure) return error
  const [reason] = error.message.split(/, \w+(?: '|$)/)
  return new CommandFailure(`${path}: ${reason}`, EXIT.failed, { cause: error })
}
