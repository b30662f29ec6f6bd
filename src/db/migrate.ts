import type { Database } from 'bun:sqlite'
import { renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { migrations as embedded, type Migration } from '../../migrations/index.ts'
import { DataDirError } from '../domain/data-dir-error.ts'
import { handOver } from '../platform/owner.ts'
import { syncNow } from '../platform/sync-now.ts'

/** Each may throw, which leaves the database unchanged. */
export type MigrationGuards = {
  /** Called if no migration was ever applied: the database is new. */
  beforeFirst?: () => void
  /** Called before a database of an earlier version is changed. */
  beforeChange?: () => void
}

/**
 * Applies pending migrations, each in one transaction with its bookkeeping row, and returns their names. First copies a
 * database that contains data to `<file>.before-<first pending>`. Throws `DataDirError` if a newer version wrote the
 * database.
 */
export function migrate(
  sqlite: Database,
  now: number,
  migrations: readonly Migration[] = embedded,
  { beforeFirst, beforeChange }: MigrationGuards = {},
): string[] {
  sqlite.run(
    'CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT',
  )
  const names = appliedIn(sqlite)
  refuseUnknown(names, migrations)
  if (names.size === 0) return begin(sqlite, now, migrations, beforeFirst)

  const pending = migrations.filter(({ name }) => !names.has(name))
  if (pending[0] !== undefined) {
    beforeChange?.()
    copyFirst(sqlite, pending[0].name)
  }
  for (const migration of pending) apply(sqlite, migration, now)
  return pending.map(({ name }) => name)
}

/** A new database gets all of them in one transaction: a process that starts beside this one sees none or all. */
const begin = (
  sqlite: Database,
  now: number,
  migrations: readonly Migration[],
  beforeFirst: MigrationGuards['beforeFirst'],
): string[] =>
  sqlite
    .transaction(() => {
      if (appliedIn(sqlite).size > 0) return []
      beforeFirst?.()
      for (const migration of migrations) apply(sqlite, migration, now)
      return migrations.map(({ name }) => name)
    })
    .immediate()

function appliedIn(sqlite: Database): ReadonlySet<string> {
  const rows = sqlite.query<{ name: string }, []>('SELECT name FROM schema_migrations').all()
  return new Set(rows.map(({ name }) => name))
}

function refuseUnknown(names: ReadonlySet<string>, migrations: readonly Migration[]): void {
  const known = new Set(migrations.map(({ name }) => name))
  const unknown = [...names].find((name) => !known.has(name))
  if (unknown !== undefined)
    throw new DataDirError(
      `the database was written by a newer svc (migration ${unknown}): run that version or newer`,
    )
}

function copyFirst(sqlite: Database, pending: string): void {
  if (sqlite.filename === '' || sqlite.filename === ':memory:') return
  const copy = `${sqlite.filename}.before-${pending}`
  const partial = `${copy}.partial`
  try {
    // A copy left by an earlier attempt may be incomplete, or weeks old.
    rmSync(partial, { force: true })
    sqlite.query('VACUUM INTO ?').run(partial)
    handOver(partial)
    syncNow(partial)
    renameSync(partial, copy)
    syncNow(dirname(copy))
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

/** Inside the transaction of a new database, whose tables are empty, foreign keys stay as they are. */
function apply(sqlite: Database, migration: Migration, now: number): void {
  const { foreign_keys } = sqlite.query<{ foreign_keys: 0 | 1 }, []>('PRAGMA foreign_keys').get() ?? {}
  if (migration.rebuildsTables) sqlite.run('PRAGMA foreign_keys = OFF')
  try {
    applyNow(sqlite, migration, now)
  } finally {
    if (foreign_keys === 1) sqlite.run('PRAGMA foreign_keys = ON')
  }
}

function applyNow(sqlite: Database, { name, sql, complete }: Migration, now: number): void {
  sqlite
    .transaction(() => {
      // Another process may have applied it while this one waited for its lock.
      if (sqlite.query('SELECT 1 FROM schema_migrations WHERE name = ?').get(name) !== null) return
      sqlite.run(sql)
      complete?.(sqlite)
      sqlite.query('INSERT INTO schema_migrations VALUES (?, ?)').run(name, now)
    })
    .immediate()
}
