import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { migrations } from '../../migrations/index.ts'
import { migrate } from '../db/migrate.ts'
import { CHEAP } from './cheap-passwords.ts'

/** Makes the database that a version before the named migration left, and lets `fill` store something in it. */
export function makeDatabaseBefore(
  folder: string,
  migration: string,
  fill: (sqlite: Database) => void,
): void {
  const sqlite = new Database(join(folder, 'svc.db'), { create: true, strict: true })
  sqlite.run('PRAGMA journal_mode = WAL')
  const earlier = migrations.filter(({ name }) => name < migration)
  migrate(sqlite, Date.now(), earlier)
  fill(sqlite)
  sqlite.close()
}

/** An account as such a version stored it, with the hash of the password as it was sent. */
export function storeUser(
  sqlite: Database,
  { email, password, role = 'member' }: { email: string; password: string; role?: string },
): string {
  const id = Bun.randomUUIDv7()
  const hash = Bun.password.hashSync(password, CHEAP.costs)
  sqlite.run(
    `INSERT INTO users (id, email, password_hash, role, created_at, updated_at)
     VALUES (?, ?, ?, ?, (SELECT count(*) FROM users), 0)`,
    [id, email, hash, role],
  )
  return id
}
