import type { Database } from 'bun:sqlite'
import { renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { migrations as embedded, type Migration } from '../../migrations/index.ts'
import { DataDirError } from '../domain/data-dir-error.ts'
import { syncNow } from '../platform/sync-now.ts'

/** Each may throw, and leaves the database as it is then. */
export type MigrationGuards = {
  /** Nothing was ever applied: the database is a new one. */
  beforeFirst?: () => void
  /** A database of an earlier version is about to be changed. */
  beforeChange?: () => void
}

/**
 * Applies what is pending, each migration in one transaction with its bookkeeping row, and returns the names applied.
 * A database that already holds data is copied to `<file>.before-<first pending>` first.
 * Throws `DataDirError` when the database was written by a newer version.
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
  const applied = sqlite.query<{ name: string }, []>('SELECT name FROM schema_migrations ORDER BY name').all()
  const names = new Set(applied.map((row) => row.name))
  refuseUnknown(names, migrations)

  const pending = migrations.filter(({ name }) => !names.has(name))
  if (names.size === 0) beforeFirst?.()
  else if (pending[0] !== undefined) {
    beforeChange?.()
    copyFirst(sqlite, pending[0].name)
  }
  for (const migration of pending) apply(sqlite, migration, now)
  return pending.map(({ name }) => name)
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
    // One of an earlier try may be half a copy, or weeks old.
    rmSync(partial, { force: true })
    sqlite.query('VACUUM INTO ?').run(partial)
    syncNow(partial)
    renameSync(partial, copy)
    syncNow(dirname(copy))
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

function apply(sqlite: Database, { name, sql }: Migration, now: number): void {
  sqlite
    .transaction(() => {
      sqlite.run(sql)
      sqlite.query('INSERT INTO schema_migrations VALUES (?, ?)').run(name, now)
    })
    .immediate()
}
