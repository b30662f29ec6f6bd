import type { Db } from '../../../db/open.ts'
import { prepared } from '../../../db/statements.ts'

/** Objects of the store that lost their last row. Noted in the transaction that deletes the row. */
export function noteRemoved(db: Db, key: string, now: number): void {
  prepared(db, 'INSERT OR IGNORE INTO removed_objects (key, removed_at) VALUES (?, ?)').run(key, now)
}
