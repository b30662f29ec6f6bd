import type { Db } from '../../db/open.ts'

/** Takes the write lock and writes a page, then rolls back. Throws when the database cannot be written. */
export function probeDatabase(db: Db): void {
  db.sqlite.run('BEGIN IMMEDIATE')
  try {
    db.sqlite.run('UPDATE site_generation SET sites = sites')
  } finally {
    db.sqlite.run('ROLLBACK')
  }
}
