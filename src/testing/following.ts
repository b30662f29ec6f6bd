import { join } from 'node:path'
import { openFollowed } from '../db/followed.ts'
import { type FollowingOptions, startFollowing } from '../db/replication/follower.ts'
import type { LogError } from '../db/replication/log-error.ts'
import { bringUpToDate } from '../db/replication/replica.ts'
import { createLog } from '../platform/log.ts'
import type { ObjectStore } from '../platform/object-store.ts'

export const STORE_ID = 'store-1'
/** A poll that never comes: the test looks by itself. */
const NEVER_MS = 2 ** 30

/** A data directory that follows a store, from the end of its log on. */
export async function followIn(dataDir: string, store: ObjectStore, own: Partial<FollowingOptions> = {}) {
  const file = join(dataDir, 'svc.db')
  const { number } = await bringUpToDate(store, STORE_ID, file, dataDir)
  return follow(dataDir, store, { number, ...own })
}

/** The same without asking the store first. */
export function follow(
  dataDir: string,
  store: ObjectStore,
  own: Partial<FollowingOptions> & { number: number },
) {
  const file = join(dataDir, 'svc.db')
  const db = openFollowed(file)
  const applied: number[] = []
  const stuck: LogError[] = []
  const lines: string[] = []
  const following = startFollowing({
    db,
    file,
    dataDir,
    store,
    storeId: STORE_ID,
    pollMs: NEVER_MS,
    newestSchema: '9999',
    log: createLog({ level: 'info', format: 'json', now: Date.now, write: (line) => lines.push(line) }),
    onApplied: (at) => applied.push(at),
    onStuck: (error) => stuck.push(error),
    ...own,
  })
  const end = async () => {
    await following.stop()
    db.close()
  }
  return { db, file, following, applied, stuck, lines, end }
}
