import { resolve } from 'node:path'
import { backupObject, isStoreAddress } from '../config/backup-dir.ts'
import type { Config } from '../config/config.ts'
import { storeWarning } from '../config/store.ts'
import { storeAccess } from '../config/store-access.ts'
import type { ObjectStore } from '../platform/object-store.ts'
import { EXIT, type Io, UsageError } from './command.ts'

/** Where a backup is, as a command was told. No code of the store is loaded for a file. */
export type BackupPlace = { file: string } | { store: ObjectStore; key: string }

/** Throws a `ConfigError` where the settings of the store are missing. */
export async function backupPlace(word: string, config: Config, io: Io): Promise<BackupPlace> {
  if (!isStoreAddress(word)) return { file: resolve(io.cwd, word) }
  const object = backupObject(word)
  if (object === null)
    throw new UsageError(
      'a backup in an object store is named s3://bucket/key.tar, without user name, query or ..',
    )
  const options = storeAccess(config, { bucket: object.bucket, prefix: '' }, 's3://')
  const warning = storeWarning(config)
  // A server that runs this has warned at its start.
  if (warning !== null && io.isTerminal) io.stderr.write(`svc: ${warning}\n`)
  const { openObjectStore } = await import('../platform/object-store.ts')
  return {
    store: openObjectStore({ ...options, now: Date.now, writer: Bun.randomUUIDv7() }),
    key: object.key,
  }
}

/** Of what failed there: 78 where a setting or the store has to be changed. */
export async function exitCodeOf(place: BackupPlace, error: unknown): Promise<number> {
  if ('file' in place) return EXIT.failed
  const { StoreError } = await import('../platform/object-store.ts')
  return error instanceof StoreError && error.isSetting ? EXIT.badConfig : EXIT.failed
}
