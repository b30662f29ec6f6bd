import type { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { migrations as embedded, type Migration } from '../../migrations/index.ts'
import { DataDirError } from '../domain/data-dir-error.ts'

/**
 * Applies what is pending, each migration in one transaction with its bookkeeping row, and returns the names applied.
 * A database that already holds data is copied to `<file>.before-<first pending>` first.
 * Throws `DataDirError` when the database was written by a newer version.
 */
export function migrate(
  sqlite: Database,
  now: number,
  migrations: readonly Migration[] = embedded,
): string[] {
  sqlite.run(
    'CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT',
  )
  const applied = sqlite.query<{ name: string }, []>('SELECT name FROM schema_migrations ORDER BY name').all()
  const names = new Set(applied.map((row) => row.name))
  refuseUnknown(names, migrations)

  const pending = migrations.filter(({ name }) => !names.has(name))
  if (names.size > 0 && pending[0] !== undefined) copyFirst(sqlite, pending[0].name)
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
  if (!existsSync(copy)) sqlite.query('VACUUM INTO ?').run(copy)
}

function apply(sqlite: Database, { name, sql }: Migration, now: number): void {
  sqlite
    .transaction(() => {
      sqlite.run(sql)
      sqlite.query('INSERT INTO schema_migrations VALUES (?, ?)').run(name, now)
    })
    .immediate()
}
