import type { LogsDb } from '../../db/logs-db.ts'
import type { LoggedRequest } from '../../db/request-log/row.ts'

/** Times in milliseconds, both ends included; statuses from and to. */
type RequestFilter = {
  projectId: string | undefined
  host: string | undefined
  path: string | undefined
  method: string | undefined
  status: { from: number; to: number } | undefined
  isBot: boolean | undefined
  /** Whether a project answered it. */
  ofProject: boolean | undefined
  from: number | undefined
  to: number | undefined
}

type Bound = string | number
type Row = Omit<LoggedRequest, 'durationMs'> & { durationUs: number }

/** The most that is counted: nobody turns that many pages, and counting must not take long. */
const MAX_COUNTED = 10_000

const COLUMNS = `id, at, project_id AS projectId, method, host, path, status, duration_us AS durationUs,
  size_bytes AS sizeBytes, referrer, user_agent AS userAgent, bot, visitor, weight`

/** Ids grow with time, so they give the order. */
export function listRequests(
  { sqlite }: LogsDb,
  filter: RequestFilter,
  page: { limit: number; offset: number; order: 'asc' | 'desc' },
): LoggedRequest[] {
  const { where, values } = matching(filter)
  const sql = `SELECT ${COLUMNS} FROM requests ${where} ORDER BY id ${page.order} LIMIT ? OFFSET ?`
  return rowsOf(sqlite, sql, [...values, page.limit, page.offset])
}

/** Counts up to 10 000. */
export function countRequests({ sqlite }: LogsDb, filter: RequestFilter): number {
  const { where, values } = matching(filter)
  const statement = sqlite.prepare<{ n: number }, Bound[]>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM requests ${where} LIMIT ${MAX_COUNTED})`,
  )
  const found = statement.get(...values)
  statement.finalize()
  return found?.n ?? 0
}

/** Requests after `id`, in order. */
export function listRequestsAfter({ sqlite }: LogsDb, id: number, limit: number): LoggedRequest[] {
  return rowsOf(sqlite, `SELECT ${COLUMNS} FROM requests WHERE id > ? ORDER BY id LIMIT ?`, [id, limit])
}

/** 0 if there is none. */
export function findNewestId({ sqlite }: LogsDb): number {
  return sqlite.query<{ id: number | null }, []>('SELECT max(id) AS id FROM requests').get()?.id ?? 0
}

/** Removes some requests from before `before`; returns how many. Times may be out of order: clocks are set back. */
export function deleteRequestsBefore({ sqlite }: LogsDb, before: number, limit: number): number {
  return sqlite
    .query('DELETE FROM requests WHERE id IN (SELECT id FROM requests WHERE at < ? ORDER BY at LIMIT ?)')
    .run(before, limit).changes
}

/** Removes some requests beyond the newest `keep`; returns how many. */
export function deleteRequestsPast({ sqlite }: LogsDb, keep: number, limit: number): number {
  return sqlite
    .query(
      `DELETE FROM requests WHERE id IN
         (SELECT id FROM requests WHERE id <= (SELECT max(id) FROM requests) - ? ORDER BY id LIMIT ?)`,
    )
    .run(keep, limit).changes
}

/** Looks up each next project in the index: `DISTINCT` would read every hour. */
export function listCountedProjects({ sqlite }: LogsDb): string[] {
  return sqlite
    .query<{ id: string }, []>(
      `WITH RECURSIVE found (id) AS (
         SELECT min(project_id) FROM hours WHERE project_id > ''
         UNION ALL
         SELECT (SELECT min(project_id) FROM hours WHERE project_id > found.id) FROM found WHERE id IS NOT NULL)
       SELECT id FROM found WHERE id IS NOT NULL`,
    )
    .all()
    .map(({ id }) => id)
}

const someOf = (table: string, key: string, where: string): string =>
  `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${where} LIMIT ?)`

const OLD_COUNTS = [
  someOf('hours', 'project_id, hour', 'hour < ?'),
  someOf('days', 'project_id, day, kind, name', 'day < ?'),
  someOf('links', 'project_id, day, path, linked_from', 'day < ?'),
]

/** Deletes some sums of hours and days that are too old; returns how many. */
export const deleteOldCounts = (db: LogsDb, before: number, limit: number): number =>
  deleteFirst(db, OLD_COUNTS, before, limit)

/** The hours last: until then the project is counted, and found again after a crash. */
const OF_PROJECT = [
  someOf('requests', 'id', 'project_id = ?'),
  someOf('days', 'project_id, day, kind, name', 'project_id = ?'),
  someOf('links', 'project_id, day, path, linked_from', 'project_id = ?'),
  someOf('visitors', 'day, project_id, visitor', 'day IN (SELECT day FROM salts) AND project_id = ?'),
  someOf('hours', 'project_id, hour', 'project_id = ?'),
]

/** Deletes some of what is logged and counted of a project; returns how many rows. */
export const deleteProjectLog = (db: LogsDb, projectId: string, limit: number): number =>
  deleteFirst(db, OF_PROJECT, projectId, limit)

/** Runs the first of the statements that still deletes something. */
function deleteFirst({ sqlite }: LogsDb, statements: readonly string[], of: Bound, limit: number): number {
  for (const sql of statements) {
    const { changes } = sqlite.query(sql).run(of, limit)
    if (changes > 0) return changes
  }
  return 0
}

function rowsOf(sqlite: LogsDb['sqlite'], sql: string, values: readonly Bound[]): LoggedRequest[] {
  const statement = sqlite.prepare<Row, Bound[]>(sql)
  const rows = statement.all(...values)
  statement.finalize()
  return rows.map(({ durationUs, ...row }) => ({ ...row, durationMs: durationUs / 1000 }))
}

function matching(filter: RequestFilter): { where: string; values: Bound[] } {
  const parts: { sql: string; values: Bound[] }[] = []
  const add = (sql: string, ...values: (Bound | undefined)[]): void => {
    const given = values.filter((value) => value !== undefined)
    if (given.length === values.length) parts.push({ sql, values: given })
  }
  add('project_id = ?', filter.projectId)
  add('host = ?', filter.host)
  add('substr(path, 1, length(?)) = ?', filter.path, filter.path)
  add('method = ?', filter.method)
  add('status BETWEEN ? AND ?', filter.status?.from, filter.status?.to)
  if (filter.isBot !== undefined) add(filter.isBot ? 'bot IS NOT NULL' : 'bot IS NULL')
  if (filter.ofProject !== undefined) add(filter.ofProject ? 'project_id IS NOT NULL' : 'project_id IS NULL')
  add('at >= ?', filter.from)
  add('at <= ?', filter.to)
  return {
    where: parts.length === 0 ? '' : `WHERE ${parts.map(({ sql }) => sql).join(' AND ')}`,
    values: parts.flatMap(({ values }) => values),
  }
}
