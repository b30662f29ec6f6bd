import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { getTableName } from 'drizzle-orm'
import { tables } from '../testing/tables.ts'

/**
 * Only one folder writes each table, so that the invariants of its rows are kept in one place. Exceptions: triggers write
 * `site_generation` (decision 4), `given_versions`, `deployment_counters` and `project_file_totals`, migration 0016 wrote `email_keys`, and `svc key rotate-secret` re-encrypts what others
 * stored and `svc store push` (`stored-workspace/`) names the objects of their contents, while no server runs.
 */

const SRC = join(import.meta.dir, '..')
const IS_LOOKED_AT = /^(?!cli\/|testing\/|db\/stored-workspace\/).*(?<!\.test|\.fixture)\.ts$/

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

const written = tables
  .map(({ variable, table }) => ({ variable, table: getTableName(table) }))
  .filter(
    ({ table }) =>
      ![
        'site_generation',
        'given_versions',
        'deployment_counters',
        'project_file_totals',
        'email_keys',
      ].includes(table),
  )

test.each(written)('$table is written by one folder', ({ variable, table }) => {
  expect(writersOf(variable, table)).toHaveLength(1)
})
