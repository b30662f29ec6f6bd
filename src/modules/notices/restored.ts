import type { Database } from 'bun:sqlite'
import { failUnsentMails } from './queries.ts'

/** In the database of a backup: what waited then is old, and not sent. */
export function failRestoredMails(sqlite: Database, now: number): void {
  const known = sqlite.query("SELECT 1 FROM sqlite_master WHERE name = 'mails'").get()
  if (known !== null) failUnsentMails({ sqlite }, { sql: '1', values: [] }, 'restored', now)
}
