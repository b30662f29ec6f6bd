import type { Db } from '../../../db/open.ts'
import { prepared } from '../../../db/statements.ts'
import type { ContentKey } from '../../../domain/store-keys.ts'
import { hasPack } from './queries.ts'

/** Objects of the store that lost their last row. Noted in the transaction that deletes the row. */
export function noteRemoved(db: Db, key: string, now: number): void {
  prepared(db, 'INSERT OR IGNORE INTO removed_objects (key, removed_at) VALUES (?, ?)').run(key, now)
}

/** Those noted up to `until`. */
export function listRemoved(db: Db, until: number, limit: number): string[] {
  return prepared<{ key: string }>(
    db,
    'SELECT key FROM removed_objects WHERE removed_at <= ? ORDER BY key LIMIT ?',
  )
    .all(until, limit)
    .map(({ key }) => key)
}

/** They are no longer in the store. */
export function forgetRemoved(db: Db, keys: readonly string[]): void {
  prepared(db, 'DELETE FROM removed_objects WHERE key IN (SELECT value FROM json_each(?))').run(
    JSON.stringify(keys),
  )
}

/** Whether a row has its content in the object, or in the pack. */
export const isNamed = (db: Db, content: ContentKey): boolean =>
  content.pack === null
    ? prepared(db, 'SELECT 1 FROM blobs WHERE sha256 = ? AND object = ?').get(
        content.sha256,
        content.object,
      ) !== null
    : hasPack(db, content.pack)
