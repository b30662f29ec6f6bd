import type { Database } from 'bun:sqlite'
import { failUnsent } from './outbox.ts'
import { unsentTry } from './tries.ts'

/** In the database of a backup: what waited then is old, and not sent. */
export function failRestoredDeliveries(sqlite: Database, now: number): void {
  const known = sqlite.query("SELECT 1 FROM sqlite_master WHERE name = 'webhook_deliveries'").get()
  if (known !== null) failUnsent({ sqlite }, 'created_at > ?', -1, unsentTry(now, 'restored'))
}
