import { statSync } from 'node:fs'
import { refuseMoved } from '../../db/database-file.ts'
import { diskFailed } from '../../db/log-sync.ts'
import type { Db } from '../../db/open.ts'

/** Reads a row. Throws when the database cannot be read here. */
export function probeCopy({ sqlite }: Db): void {
  sqlite.query('SELECT sites FROM site_generation').get()
}

/** Takes the write lock and writes a page, then rolls back. Throws when the database cannot be written here. */
export function probeDatabase(db: Db): void {
  refuseMoved(db.file)
  if (db.log.failure !== undefined) throw diskFailed()
  refuseCut(db)
  db.sqlite.run('BEGIN IMMEDIATE')
  try {
    db.sqlite.run('UPDATE site_generation SET sites = sites')
  } finally {
    db.sqlite.run('ROLLBACK')
  }
}

/** An open database keeps working when its file is truncated, and everything it writes is lost. */
function refuseCut({ sqlite: { filename: path } }: Db): void {
  if (path !== ':memory:' && statSync(path).size < HEADER_BYTES)
    throw new Error(`${path} was cut off while it was in use`)
}

/** The size of the header of every SQLite database. */
const HEADER_BYTES = 100
