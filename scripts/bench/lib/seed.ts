import { Database } from 'bun:sqlite'
import { join } from 'node:path'

/** Everything that a published site consists of, parents first. */
const TABLES = ['projects', 'permissions', 'memberships', 'deployments', 'assets', 'aliases', 'host_labels']

/** Columns that name a row of these tables: each copy gets its number into the first eight digits of the UUID. */
const IDS = ['id', 'project_id', 'deployment_id', 'alias_id']

/** What else must differ from copy to copy. */
const OVERRIDES: Readonly<Record<string, string>> = {
  'projects.name': `name || '-' || n`,
  'host_labels.label': `replace(label, '--bench--', '--bench-' || n || '--')`,
}

/** The host of copy `n` (from 1) of acme/bench. */
export const siteHost = (n: number) => `production--bench-${n}--acme.localhost`

/**
 * Repeats the one project of a stopped appliance's database, acme/bench with its files and host labels. The rows are
 * as an upload would write them; the contents are shared, as equal contents are. By the API it would take an hour.
 */
export function cloneSites(dataDir: string, copies: number): void {
  const db = new Database(join(dataDir, 'svc.db'), { strict: true })
  db.run('PRAGMA synchronous = OFF')
  db.run('PRAGMA foreign_keys = OFF')
  db.run('CREATE TEMP TABLE numbers (n INTEGER PRIMARY KEY)')
  db.run(
    'WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < ?) INSERT INTO numbers SELECT n FROM up',
    [copies],
  )
  for (const table of TABLES) cloneRows(db, table)
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

function cloneRows(db: Database, table: string): void {
  const columns = db.query<{ name: string }, []>(`PRAGMA table_info(${table})`).all()
  const names = columns.map(({ name }) => `"${name}"`).join(', ')
  const values = columns.map(({ name }) => copiedValue(table, name)).join(', ')
  db.run(`CREATE TEMP TABLE "template_${table}" AS SELECT * FROM ${table}`)
  db.run(`INSERT INTO ${table} (${names}) SELECT ${values} FROM numbers, "template_${table}" ORDER BY n`)
}

function copiedValue(table: string, column: string): string {
  const override = OVERRIDES[`${table}.${column}`]
  if (override !== undefined) return override
  return IDS.includes(column) ? `printf('%08x', n) || substr("${column}", 9)` : `"${column}"`
}
