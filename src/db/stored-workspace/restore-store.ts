import { Database } from 'bun:sqlite'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ObjectStore } from '../../platform/object-store.ts'
import { LogError } from '../replication/log-error.ts'
import { copyDatabase } from '../replication/replica.ts'
import { untilStill } from '../replication/until-still.ts'
import { fetchCertificates } from './certificates.ts'
import { fetchContents } from './fetch-contents.ts'

/**
 * Copies the newest state of a store into a folder as a data directory, and changes nothing in the store. Returns the number
 * of files. Throws `LogError` and `StoreError`.
 */
export async function copyWorkspace(store: ObjectStore, folder: string, stop: AbortSignal): Promise<number> {
  const path = join(folder, 'svc.db')
  const done = new Set<string>()
  // What a database names is removed an hour after it is not named any more: a newer one does not name it.
  await untilStill(async () => {
    if ((await copyDatabase(store, path)) === null)
      throw new LogError('missing', 'the store holds no database yet')
    const sqlite = new Database(path, { readwrite: true })
    try {
      await fetchContents(store, sqlite, { blobs: join(folder, 'blobs'), done, stop })
    } finally {
      sqlite.close()
      for (const beside of ['-wal', '-shm']) await rm(`${path}${beside}`, { force: true })
    }
  })
  return done.size + 1 + (await fetchCertificates(store, folder))
}
