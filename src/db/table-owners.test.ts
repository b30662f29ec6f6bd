import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { getTableName, is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import * as schema from './schema.ts'
import * as recordTables from './schema-records.ts'

/**
 * Only one folder writes each table, so that the invariants of its rows are kept in one place. Exceptions: triggers write
 * `site_generation` (decision 4), and `svc key rotate-secret` re-encrypts what others stored, while no server runs.
 */

const SRC = join(import.meta.dir, '..')
const IS_LOOKED_AT = /^(?!cli\/|testing\/).*(?<!\.test|\.fixture)\.ts$/

const sources = [...new Bun.Glob('**/*.ts').scanSync(SRC)].filter((path) => IS_LOOKED_AT.test(path))
const texts = new Map(
  await Promise.all(sources.map(async (path) => [path, await Bun.file(join(SRC, path)).text()] as const)),
)

/** `modules/aliases`, `db`, `pipelines`. */
const folderOf = (path: string): string => /^modules\/[^/]+|^[^/]+/.exec(path)?.[0] ?? path

function writersOf(variable: string, table: string): string[] {
  const drizzle = `\\.(insert|update|delete)\\(${variable}\\)`
  const sql = `(INSERT (OR \\w+ )?INTO|UPDATE|DELETE FROM) (\\$\\{${variable}\\}|${table}\\b)`
  const writes = new RegExp(`${drizzle}|${sql}`)
  const writing = [...texts].filter(([, text]) => writes.test(text)).map(([path]) => folderOf(path))
  return [...new Set(writing)].sort()
}

const tables = Object.entries({ ...schema, ...recordTables })
  .flatMap(([variable, table]) => (is(table, SQLiteTable) ? [{ variable, table: getTableName(table) }] : []))
  .filter(({ table }) => table !== 'site_generation')

test.each(tables)('$table is written by one folder', ({ variable, table }) => {
  expect(writersOf(variable, table)).toHaveLength(1)
})
