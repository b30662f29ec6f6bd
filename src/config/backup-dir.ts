import { missingKey, type StoreConfig, type StoreUrl, storeUrl } from './store.ts'
import { type Parsed, text } from './values.ts'

/** Where scheduled backups go, as it was given, and what it means in an object store; null for a folder. */
export type BackupDir = { text: string; store: StoreUrl | null }

export const isStoreAddress = (given: string): boolean => /^s3:/i.test(given)

export function backupDir(given: string): Parsed<BackupDir> {
  const parsed = isStoreAddress(given) ? storeUrl(given) : null
  if (parsed !== null)
    return 'value' in parsed ? { value: { text: given, store: parsed.value } } : { expected: EXPECTED }
  const folder = text(given)
  return 'value' in folder ? { value: { text: folder.value, store: null } } : folder
}

const EXPECTED = 'a folder, or s3://bucket/prefix/ without user name, query or ..'

/** The object that `s3://bucket/key.tar` means; null for any other text. */
export function backupObject(given: string): { bucket: string; key: string } | null {
  const parsed = storeUrl(given)
  if (!('value' in parsed) || !given.endsWith('.tar')) return null
  const key = parsed.value.prefix.slice(0, -1)
  return key === '' ? null : { bucket: parsed.value.bucket, key }
}

/** Describes a conflict between settings in a sentence that starts with the variable; null if there is none. */
export const backupConflict = (config: StoreConfig & { backupDir: BackupDir | null }): string | null =>
  config.backupDir?.store ? missingKey(config, 'BACKUP_DIR') : null
