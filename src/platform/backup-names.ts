import { realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'

const ROOT_FILE = /^(svc\.db|secret\.key)$/
const BLOB = /^blobs\/(packs\/[\w-]+\.pack|files\/[0-9a-f]{2}\/[0-9a-f]{64})$/

/** Whether a backup includes this file, given its path in the data directory with `/`. */
export function isBackupName(path: string): boolean {
  if (ROOT_FILE.test(path) || BLOB.test(path)) return true
  const [folder, ...rest] = path.split('/')
  return folder === 'certs' && rest.length > 0 && rest.every(isPlainName)
}

/**
 * Files that a file manager or a crash left among the contents. They are useless, and must not break a backup or
 * restore.
 */
export const isStray = (path: string): boolean =>
  path.startsWith('blobs/') && path.split('/').every(isPlainName) && !BLOB.test(path)

const isPlainName = (name: string): boolean => !/^\.{0,2}$|[\\\p{Cc}]/u.test(name)

/** Names in the data directory that belong to the server, with any suffix, but what it makes to be fetched. */
const OURS =
  /^(svc\.db|logs\.db|secret\.key|serve\.lock|reserve|backup-running|last-backup|blobs|certs|tmp(?![/\\]download-)|lost\+found)/

/** A backup in such a place would be mistaken for another file, by the server or by SQLite, or be cleaned up. */
export function isPlaceOfServer(dataDir: string, file: string): boolean {
  const path = relative(realOf(dataDir), join(realOf(dirname(file)), basename(file)))
  return path !== '' && !path.startsWith(`..${sep}`) && OURS.test(path)
}

/** The folder may not exist; then nothing is written anyway. */
function realOf(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return resolve(folder)
  }
}
