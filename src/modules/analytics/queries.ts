import type { LogsDb } from '../../db/logs-db.ts'
import type { DayKind } from '../../platform/request-log/sums.ts'
import type { Sums } from './model.ts'

/** `from` included, `to` not. `projectId` undefined: the whole workspace. */
export type Span = { projectId: string | undefined; from: number; to: number }

const SUMS = `coalesce(sum(views), 0) AS views, coalesce(sum(visitors), 0) AS visitors,
  coalesce(sum(requests), 0) AS requests, coalesce(sum(bots), 0) AS bots, coalesce(sum(bytes), 0) AS bytes,
  coalesce(sum(not_found), 0) AS notFound, coalesce(sum(errors), 0) AS errors`

export function sumAll(db: LogsDb, span: Span): Sums | undefined {
  return all<Sums>(db, span, `SELECT ${SUMS} FROM hours WHERE hour >= ? AND hour < ? AND`)[0]
}

/** Only buckets in which something came; `bucketMs` divides a day. */
export function sumByTime(db: LogsDb, span: Span, bucketMs: number): (Sums & { at: number })[] {
  const bucket = `hour - hour % ${bucketMs}`
  return all(
    db,
    span,
    `SELECT ${bucket} AS at, ${SUMS} FROM hours WHERE hour >= ? AND hour < ? AND`,
    `GROUP BY ${bucket} ORDER BY at`,
  )
}

/** `''` for what belongs to none. */
export function sumByProject(db: LogsDb, span: Span): (Sums & { projectId: string })[] {
  return all(
    db,
    span,
    `SELECT project_id AS projectId, ${SUMS} FROM hours WHERE hour >= ? AND hour < ? AND`,
    'GROUP BY project_id ORDER BY views DESC, requests DESC',
  )
}

/** Behind the time `since`; projects without any are left out. */
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

/** The most frequent first. Days are whole: `from` and `to` are their beginnings. */
export function countNames(
  db: LogsDb,
  span: Span,
  kind: DayKind,
  limit: number,
): { name: string; count: number }[] {
  return all(
    db,
    span,
    `SELECT name, sum(count) AS count FROM days WHERE day >= ? AND day < ? AND kind = '${kind}' AND`,
    `GROUP BY name ORDER BY count DESC, name LIMIT ${limit}`,
  )
}

function all<T>({ sqlite }: LogsDb, { projectId, from, to }: Span, head: string, tail = ''): T[] {
  if (projectId === undefined) return sqlite.query<T, [number, number]>(`${head} true ${tail}`).all(from, to)
  return sqlite.query<T, [number, number, string]>(`${head} project_id = ? ${tail}`).all(from, to, projectId)
}
