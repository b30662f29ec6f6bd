import { Database } from 'bun:sqlite'
import { writeFileSync } from 'node:fs'
import { type Db, dbOf, openDb } from '../db/open.ts'

/** A new database as `openDb` makes it, in memory without a path: a copy of the first, because its migrations take long. */
export function newDatabase(now: number, path?: string): Db {
  if (path === undefined) return dbOf(Database.deserialize(template(now), { strict: true }), ':memory:', now)
  writeFileSync(path, template(now), { mode: 0o600 })
  return openDb(path, now)
}

let made: Uint8Array | undefined

function template(now: number): Uint8Array {
  if (made === undefined) {
    const db = openDb(':memory:', now)
    made = db.sqlite.serialize()
    db.close()
  }
  return made
}
