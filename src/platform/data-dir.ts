import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ConfigError } from '../config/config.ts'
import { chownLine, makeRootFolder, userName, workForOwnerOf } from './owner.ts'

const { R_OK, W_OK, X_OK } = constants

/**
 * Creates the data directory if there is none; what this process makes from now on is for its user alone and, in there as
 * root, belongs to the owner of the directory.
 * Throws `ConfigError` if it cannot be used, `DataDirError` if root may not give files to its owner.
 */
export function enterDataDir(path: string): void {
  try {
    makeRootFolder(path)
    accessSync(path, R_OK | W_OK | X_OK)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const why = code === undefined ? '' : ` (${code})`
    throw new ConfigError(
      (code === 'EACCES' ? unusable(path, R_OK | W_OK | X_OK, path) : undefined) ??
        `DATA_DIR is "${path}", but must be a folder that can be created and written to${why}`,
    )
  }
  process.umask(0o077)
  workForOwnerOf(path)
}

/** What a server writes to, in the data directory. Whatever else lies there need not be its own. */
const WRITTEN = [
  'svc.db',
  'svc.db-wal',
  'svc.db-shm',
  'logs.db',
  'logs.db-wal',
  'logs.db-shm',
  'serve.lock',
  'reserve',
]
const FOLDERS = ['blobs', 'blobs/packs', 'blobs/files', 'certs', 'tmp']

/**
 * The first file of the data directory that this process may not read, or not write to, with its owner, this user and the
 * command that helps; undefined if there is none.
 */
export function findUnusable(dataDir: string): string | undefined {
  if (process.getuid?.() === 0) return undefined
  const at = (name: string, mode: number) => unusable(join(dataDir, name), mode, dataDir)
  const within = (folder: string, mode: number) =>
    firstOf(namesIn(join(dataDir, folder)), (name) => at(join(folder, name), mode))
  return (
    firstOf(WRITTEN, (name) => at(name, R_OK | W_OK)) ??
    at('secret.key', R_OK) ??
    firstOf(FOLDERS, (name) => at(name, R_OK | W_OK | X_OK)) ??
    within('certs', R_OK | W_OK) ??
    within('blobs/packs', R_OK) ??
    within('blobs/files', R_OK | W_OK | X_OK)
  )
}

function unusable(path: string, mode: number, dataDir: string): string | undefined {
  const owner = statSync(path, { throwIfNoEntry: false })
  if (owner === undefined || mayUse(path, mode)) return undefined
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return `${path} belongs to ${userName(owner.uid)}, and this is ${userName(uid)}, who may not ${
    mayUse(path, R_OK) ? 'write to' : 'read'
  } it: ${chownLine(resolve(dataDir), { uid, gid })}`
}

function mayUse(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch (error) {
    // A file that left meanwhile, such as a log of SQLite, is no obstacle.
    return error instanceof Error && 'code' in error && error.code === 'ENOENT'
  }
}

function firstOf<T>(names: Iterable<string>, find: (name: string) => T | undefined): T | undefined {
  for (const name of names) {
    const found = find(name)
    if (found !== undefined) return found
  }
  return undefined
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
