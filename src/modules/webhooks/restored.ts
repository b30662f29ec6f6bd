import { Database } from 'bun:sqlite'
import { failUnsent } from './outbox.ts'
import { unsentTry } from './tries.ts'

/** In the database of a backup at `path`, before a server opens it: what waited then is old, and not sent. */
export function failRestored(path: string, now: number): void {
  const sqlite = new Database(path, { strict: true })
  try {
    const known = sqlite.query("SELECT 1 FROM sqlite_master WHERE name = 'webhook_deliveries'").get()
    if (known !== null) failUnsent({ sqlite }, 'created_at > ?', -1, unsentTry(now, 'restored'))
  } finally {
    sqlite.run('PRAGMA wal_checkpoint(TRUNCATE)')
    sqlite.close()
  }
}
