import type { LogsDb } from '../../db/logs-db.ts'
import type { Db } from '../../db/open.ts'
import type { DayKind } from '../../db/request-log/sums.ts'
import { prepared } from '../../db/statements.ts'
import type { Sums } from './model.ts'

/** `from` is included, `to` is not. `projectId` undefined: the whole workspace. */
export type Span = { projectId: string | undefined; from: number; to: number }

const SUMS = `coalesce(sum(views), 0) AS views, coalesce(sum(visitors), 0) AS visitors,
  coalesce(sum(requests), 0) AS requests, coalesce(sum(bots), 0) AS bots, coalesce(sum(bytes), 0) AS bytes,
  coalesce(sum(not_found), 0) AS notFound, coalesce(sum(errors), 0) AS errors`

/** In no order. Requests without a project have the id `''`. */
export function sumByProject(db: LogsDb, span: Span): (Sums & { projectId: string })[] {
  const sql = `SELECT project_id AS projectId, ${SUMS} FROM hours WHERE hour >= ? AND hour < ?`
  return all(db, sql, [span.from, span.to], span.projectId, 'GROUP BY project_id')
}

/** Errors after the time `since`; projects without any are left out. */
export function sumErrors(
  { sqlite }: LogsDb,
  { since, until }: { since: number; until: number },
  projectIds: readonly string[],
): { projectId: string; errors: number }[] {
  return sqlite
    .query<{ projectId: string; errors: number }, [number, number, string]>(
      `SELECT project_id AS projectId, sum(errors) AS errors FROM hours
       WHERE hour > ? AND hour <= ? AND project_id IN (SELECT value FROM json_each(?))
       GROUP BY project_id HAVING sum(errors) > 0`,
    )
    .all(since, until, JSON.stringify(projectIds))
}

/** A request that failed. `path` is canonical. */
export type FailedRow = {
  id: number
  at: number
  host: string
  method: string
  path: string
  status: number
  durationUs: number
  referrer: string | null
  userAgent: string
  weight: number
}
/** `from` is included, `to` is not; of `statuses` both are. `newest`: of so many, by default 10 000. */
export type FailureSpan = Span & {
  projectId: string
  statuses: { from: number; to: number }
  newest?: number
}

/** A flood of failures must not hold everybody else up. */
const MAX_FAILED = 10_000

/** The newest requests with a status of 400 and above, newest first. */
export function listFailed({ sqlite }: LogsDb, span: FailureSpan): FailedRow[] {
  const { projectId, from, to, statuses, newest = MAX_FAILED } = span
  return sqlite
    .query<FailedRow, [string, ...number[]]>(
      `SELECT id, at, host, method, coalesce(canonical_path, path) AS path, status, duration_us AS durationUs,
              referrer, user_agent AS userAgent, weight
       FROM requests INDEXED BY requests_failed
       WHERE status >= 400 AND project_id = ? AND at >= ? AND at < ? AND status BETWEEN ? AND ?
       ORDER BY at DESC, id DESC LIMIT ?`,
    )
    .all(projectId, from, to, statuses.from, statuses.to, newest)
}

/** In no order. `day` is the start of a day. The kind is in the text, so that the index of two kinds can be used. */
export function countNamesOfDay(
  db: LogsDb,
  projectId: string | undefined,
  day: number,
  kind: DayKind,
): { name: string; count: number }[] {
  const sql = `SELECT name, sum(count) AS count FROM days WHERE day = ? AND kind = '${kind}'`
  return all(db, sql, [day], projectId, 'GROUP BY name')
}

/** Who links to each of the paths, most requests first. */
export function listLinks(
  { sqlite }: LogsDb,
  { projectId, from, to }: Span & { projectId: string },
  paths: readonly string[],
): { path: string; from: string; requests: number }[] {
  return sqlite
    .query<{ path: string; from: string; requests: number }, [string, number, number, string]>(
      `SELECT path, linked_from AS "from", sum(count) AS requests FROM links
       WHERE project_id = ? AND day >= ? AND day < ? AND path IN (SELECT value FROM json_each(?))
       GROUP BY path, linked_from ORDER BY requests DESC, linked_from`,
    )
    .all(projectId, from, to, JSON.stringify(paths))
}

/** The HTML files of a deployment, as paths below a folder of it (`''` or `/dist`); at most `limit`. */
export function listPages(db: Db, deploymentId: string, basePath: string, limit: number): string[] {
  const prefix = basePath === '' ? '' : `${basePath.slice(1)}/`
  return prepared<{ path: string }>(
    db,
    `SELECT path FROM assets WHERE deployment_id = ? AND path >= ? AND path < ? AND path LIKE '%.html' LIMIT ?`,
  )
    .all(deploymentId, prefix, `${prefix}\u{10ffff}`, limit)
    .map(({ path }) => `/${path.slice(prefix.length)}`)
}

function all<Row>(
  { sqlite }: LogsDb,
  sql: string,
  values: number[],
  projectId: string | undefined,
  tail: string,
): Row[] {
  const isOne = projectId !== undefined
  const statement = sqlite.prepare<Row, (number | string)[]>(
    `${sql} ${isOne ? 'AND project_id = ?' : ''} ${tail}`,
  )
  const rows = statement.all(...values, ...(isOne ? [projectId] : []))
  statement.finalize()
  return rows
}
