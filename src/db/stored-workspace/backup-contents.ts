import { Database } from 'bun:sqlite'
import type { BackupEntry } from '../../platform/backup.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { damaged, LogError } from '../replication/log-error.ts'
import { type ContentObject, listContents } from './contents.ts'
import { PartsCheck } from './parts-check.ts'

/**
 * The contents that a copy of the database names, from the store, as entries of a backup. Each is compared with its SHA-256 as
 * it comes. Throws `LogError` for one that is missing or another, and `StoreError`.
 */
export async function* backupContents(store: ObjectStore, copy: string): AsyncGenerator<BackupEntry> {
  const sqlite = new Database(copy, { readonly: true })
  try {
    for (const object of listContents(sqlite)) yield await entryOf(store, object)
  } finally {
    sqlite.close()
  }
}

async function entryOf(store: ObjectStore, object: ContentObject): Promise<BackupEntry> {
  const { key, path, parts } = object
  if (key === null)
    throw new LogError('damaged', `the content ${parts[0]?.sha256} is in no object of the store`)
  const found = await store.head(key)
  if (found === null) throw new LogError('missing', `the store has no ${key}`)
  return { name: `blobs/${path}`, sizeBytes: found.sizeBytes, body: checked(store, key, object) }
}

async function* checked(store: ObjectStore, key: string, object: ContentObject): AsyncGenerator<Uint8Array> {
  const opened = await store.open(key)
  if (opened === null) throw new LogError('missing', `the store has no ${key}`)
  const check = new PartsCheck(object)
  for await (const piece of opened.pieces) {
    check.push(piece)
    yield piece
  }
  const [wrong] = check.end()
  if (wrong !== undefined) throw damaged(key, `the content ${wrong.sha256} in it is another`)
}
