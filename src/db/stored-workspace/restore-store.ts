import { Database } from 'bun:sqlite'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ObjectStore } from '../../platform/object-store.ts'
import { LogError } from '../replication/log-error.ts'
import { copyDatabase } from '../replication/replica.ts'
import { fetchContents } from './fetch-contents.ts'

/** The store may be in use: what a database names is removed an hour after it is not named any more. */
const TRIES = 4

/**
 * Copies the newest state of a store into a folder as a data directory, and changes nothing in the store. Returns the number
 * of files. Throws `LogError` and `StoreError`.
 */
export async function copyWorkspace(store: ObjectStore, folder: string, stop: AbortSignal): Promise<number> {
  const path = join(folder, 'svc.db')
  const done = new Set<string>()
  for (let tries = 1; ; tries += 1) {
    if ((await copyDatabase(store, path)) === null)
      throw new LogError('missing', 'the store holds no database yet')
    const sqlite = new Database(path, { readwrite: true })
    try {
      await fetchContents(store, sqlite, { blobs: join(folder, 'blobs'), done, stop })
      return done.size + 1
    } catch (error) {
      if (tries < TRIES && error instanceof LogError && error.kind === 'missing') continue
      throw error
    } finally {
      sqlite.close()
      for (const beside of ['-wal', '-shm']) await rm(`${path}${beside}`, { force: true })
    }
  }
}
