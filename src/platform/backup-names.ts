import { realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'

const ROOT_FILE = /^(svc\.db|secret\.key)$/
const BLOB = /^blobs\/(packs\/[\w-]+\.pack|files\/[0-9a-f]{2}\/[0-9a-f]{64})$/

/** Whether a file of the data directory, by its path in there with `/`, is one that a backup holds. */
export function isBackupName(path: string): boolean {
  if (ROOT_FILE.test(path) || BLOB.test(path)) return true
  const [folder, ...rest] = path.split('/')
  return folder === 'certs' && rest.length > 0 && rest.every(isPlainName)
}

/** What a file manager or a fault left among the contents is of no use, and must not spoil a backup or a restore. */
export const isStray = (path: string): boolean =>
  path.startsWith('blobs/') && path.split('/').every(isPlainName) && !BLOB.test(path)

const isPlainName = (name: string): boolean => !/^\.{0,2}$|[\\\p{Cc}]/u.test(name)

/** Names in the data directory that are the server's, whatever stands behind them. */
const OURS = /^(svc\.db|logs\.db|secret\.key|serve\.lock|backup-running|blobs|certs|tmp|lost\+found)/

/** A backup there would be taken for something else, by the server or by SQLite, or be swept away. */
export function isPlaceOfServer(dataDir: string, file: string): boolean {
  const path = relative(realOf(dataDir), join(realOf(dirname(file)), basename(file)))
  return path !== '' && !path.startsWith(`..${sep}`) && OURS.test(path)
}

/** The file's own folder may not be there; then nothing is written anyway. */
function realOf(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return resolve(folder)
  }
}
