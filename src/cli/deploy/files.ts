import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { normalizeAssetPath } from '../../domain/asset-path.ts'
import { messageOf } from '../../domain/errors.ts'
import { CommandFailure, UsageError } from '../command.ts'

/** A file to publish. `path` is its path in the deployment: `/` between the parts, NFC. */
export type FoundFile = { path: string; absolutePath: string }

/** What was read of a file. `modifiedMs` and `changedMs` (which cannot be set back) tell whether it changed since. */
export type FileFacts = { size: number; sha256: string; modifiedMs: number; changedMs: number }

/**
 * The files below `folder` that belong to a deployment, by path. Skips and refuses what the server would skip and refuse, all
 * refusals in one failure.
 * A symbolic link to a file inside the folder counts as that file. Every other link, and anything that is neither file nor
 * folder, is refused, so that nothing outside the folder is published by accident. `onLeftOut` gets what is skipped, a
 * folder once.
 */
export function findFiles(folder: string, onLeftOut: (path: string) => void = () => {}): FoundFile[] {
  const root = realFolder(folder)
  const files: FoundFile[] = []
  const refusals = new Refusals()
  const pending = ['']
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const folderPath = join(root, path)
    for (const entry of refusals.tried(() => listFolder(folderPath)) ?? []) {
      const entryPath = path === '' ? entry.name : `${path}/${entry.name}`
      const stored = normalizeAssetPath(entryPath, 'sender')
      if (stored.kind === 'left_out') {
        onLeftOut(entryPath)
        continue
      }
      const file = refusals.tried(() => {
        refuseOtherEncoding(folderPath, entryPath, entry)
        if (stored.kind === 'refused') throw new CommandFailure(`${entryPath}: ${stored.reason}`)
        return entry.isDirectory() ? null : fileOf(root, folderPath, entryPath, entry)
      })
      if (file === null) pending.push(entryPath)
      else if (file !== undefined) files.push(file)
    }
  }
  const sorted = inOrder(files, (path) =>
    refusals.add(`${path} exists twice, spelled with different Unicode forms; remove one`),
  )
  refusals.throwAll()
  return sorted
}

/** Everything that is wrong with a folder, to be told at once. contract 12.9. */
class Refusals {
  readonly #messages: string[] = []

  add(message: string): void {
    this.#messages.push(message.replaceAll('\n', ' '))
  }

  /** Undefined if it was refused. */
  tried<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error
      this.add(error.message)
      return undefined
    }
  }

  throwAll(): void {
    if (this.#messages.length > 0) throw new CommandFailure(this.#messages.sort().join('\n'))
  }
}

const fileOf = (root: string, folder: string, path: string, entry: Dirent): FoundFile => ({
  path: path.normalize('NFC'),
  absolutePath: publishable(root, folder, path, entry),
})

function realFolder(folder: string): string {
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats === undefined) throw new UsageError(`there is no folder ${folder}`)
  if (!stats.isDirectory()) throw new UsageError(`${folder} is not a folder`)
  return realpathSync(folder)
}

function listFolder(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** Node replaces bytes that are not UTF-8 by U+FFFD, and no file is found under such a name. */
function refuseOtherEncoding(folder: string, path: string, { name }: Dirent): void {
  if (!name.includes('\uFFFD') || lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined)
    return
  throw new CommandFailure(`${path} has a name that is not in UTF-8; rename it`)
}

/** The file's path on this machine. Throws a failure that says why it cannot be published. */
function publishable(root: string, folder: string, path: string, entry: Dirent): string {
  const absolutePath = `${folder}${sep}${entry.name}`
  if (entry.name.includes('\\'))
    throw new CommandFailure(`${path} has a \\ in its name, which a deployment takes for a /; rename it`)
  if (entry.isSymbolicLink()) refuseLinkOut(root, path, absolutePath)
  else if (!entry.isFile()) throw new CommandFailure(`${path} is neither a file nor a folder; remove it`)
  return absolutePath
}

function refuseLinkOut(root: string, path: string, absolutePath: string): void {
  let target: string
  try {
    target = realpathSync(absolutePath)
  } catch {
    throw new CommandFailure(`${path} is a symbolic link that leads nowhere; remove it`)
  }
  if (!target.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new CommandFailure(
      `${path} is a symbolic link out of the folder, to ${target}; copy the file in instead`,
    )
  if (!statSync(target).isFile())
    throw new CommandFailure(
      `${path} is a symbolic link to a folder; only links to files are followed, so copy it instead`,
    )
}

function inOrder(files: readonly FoundFile[], onTwice: (path: string) => void): FoundFile[] {
  const byPath = new Map<string, FoundFile>()
  for (const file of files) {
    if (byPath.has(file.path)) onTwice(file.path)
    byPath.set(file.path, file)
  }
  // Sorting plain strings is much faster than sorting with a comparison function.
  return [...byPath.keys()].sort().flatMap((path) => byPath.get(path) ?? [])
}

/** For a file or folder that cannot be opened or read. */
export function unreadable(path: string, cause: unknown): CommandFailure {
  return new CommandFailure(`${path} cannot be read: ${messageOf(cause)}`, undefined, { cause })
}
