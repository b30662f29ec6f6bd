import type { Database } from 'bun:sqlite'

/** In a database that is to live without the store that it comes from, or in another one. */
export function leaveStore(sqlite: Database): void {
  for (const table of ['removed_objects', 'store_identity'])
    if (sqlite.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== null)
      sqlite.run(`DELETE FROM ${table}`)
}
