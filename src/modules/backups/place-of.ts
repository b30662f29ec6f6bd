import { resolve } from 'node:path'
import type { Context } from '../../context.ts'
import { folderPlace } from './folder.ts'
import type { BackupPlace } from './place.ts'
import { storePlace } from './store.ts'

/** Null when backups are not set up. */
export function placeOf({ config }: Context): BackupPlace | null {
  if (config.backupDir === null) return null
  const { text, store } = config.backupDir
  return store === null ? folderPlace(resolve(text)) : storePlace(config, store)
}
