import type { Database } from 'bun:sqlite'

/** Changes to a database that no server uses, when its workspace moves into a store or out of one. */

/** It is to live without the store that it comes from, or in another one. The schema may be older than stores. */
export function leaveStore(sqlite: Database): void {
  const has = sqlite.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
  if (has.get('removed_objects') !== null) sqlite.run('DELETE FROM removed_objects')
  if (has.get('store_identity') !== null) sqlite.run('DELETE FROM store_identity')
}

/** Each large content gets the id of its object. One that has an id keeps it: an earlier push may have sent it. */
export function nameObjects(sqlite: Database, newId: () => string): void {
  sqlite.transaction(() => {
    leaveStore(sqlite)
    const name = sqlite.query('UPDATE blobs SET object = ? WHERE id = ?')
    const unnamed = sqlite.query<{ id: number }, []>(
      'SELECT id FROM blobs WHERE pack IS NULL AND object IS NULL',
    )
    for (const { id } of unnamed.all()) name.run(newId(), id)
  })()
}
