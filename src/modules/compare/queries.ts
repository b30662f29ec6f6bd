import type { Db } from '../../db/open.ts'
import { readApart } from '../../db/read-apart.ts'
import { prepared } from '../../db/statements.ts'

export type ChangeKind = 'added' | 'changed' | 'removed' | 'moved'

/** `size` is that of the old side where the file was removed. */
export type ChangeRow = {
  kind: ChangeKind
  path: string
  /** Null except where the file moved. */
  fromPath: string | null
  size: number
  /** Null where only one side has the file. */
  fromSize: number | null
}
export type Counts = Record<ChangeKind | 'unchanged', number>

/** Two deployments of a project, and how many files they have together. */
export type Pair = { projectId: string; fromId: string; toId: string; fileCount: number }
/** `kind` null: all; `path` null: all, else the row about the file of that path on either side. */
export type ChangeFilter = {
  kind: ChangeKind | null
  path: string | null
  order: 'asc' | 'desc'
  limit: number
  offset: number
}

/** Reading more takes longer than a request may hold up others. */
const APART_FROM = 4_000

/** What differs, by path in UTF-8 bytes, and how often. On a thread of its own for large deployments. */
export async function listChanges(
  db: Db,
  { projectId, fromId, toId, fileCount }: Pair,
  { kind, path, order, limit, offset }: ChangeFilter,
): Promise<{ counts: Counts; rows: ChangeRow[]; total: number }> {
  const sql = order === 'asc' ? ASCENDING : DESCENDING
  const values = [fromId, toId, kind, path, limit, offset]
  const found =
    fileCount < APART_FROM
      ? prepared<ChangeRow | CountsRow>(db, sql).all(...values)
      : await readApart<ChangeRow | CountsRow>(db, projectId, sql, values)
  const counts: Counts = { added: 0, changed: 0, removed: 0, moved: 0, unchanged: 0 }
  const rows: ChangeRow[] = []
  for (const row of found) {
    if (row.kind === 'counts') Object.assign(counts, JSON.parse(row.path))
    else rows.push(row)
  }
  const { unchanged: _, ...changes } = counts
  const total = kind === null ? Object.values(changes).reduce((sum, count) => sum + count, 0) : counts[kind]
  return { counts, rows, total }
}

type CountsRow = { kind: 'counts'; path: string }

const fileName = (path: string): string =>
  `substr(${path}, length(rtrim(${path}, replace(${path}, '/', ''))) + 1)`

const onlyIn = (side: string, other: string): string => `
  SELECT f.path, f.size_bytes AS size, f.blob_id AS blob, ${fileName('f.path')} AS name
  FROM assets f LEFT JOIN assets g ON g.deployment_id = ${other} AND g.path = f.path
  WHERE f.deployment_id = ${side} AND g.path IS NULL`

/** The files of one side that may have moved, numbered within those that are alike. */
const numbered = (table: 'added' | 'removed', alike: string, where = 'TRUE'): string => `
  SELECT path, size, blob, name, row_number() OVER (PARTITION BY ${alike} ORDER BY path) AS nth
  FROM ${table} WHERE blob IN (SELECT blob FROM ${table === 'added' ? 'removed' : 'added'}) AND ${where}`

/** ?1 from, ?2 to, ?3 kind, ?4 path, ?5 limit, ?6 offset. A moved file keeps its name if another can, else the order decides. */
const changes = (order: 'ASC' | 'DESC'): string => `
  WITH added AS MATERIALIZED (${onlyIn('?2', '?1')}),
  removed AS MATERIALIZED (${onlyIn('?1', '?2')}),
  changed AS MATERIALIZED (
    SELECT n.path, n.size_bytes AS size, o.size_bytes AS fromSize
    FROM assets n JOIN assets o ON o.deployment_id = ?1 AND o.path = n.path
    WHERE n.deployment_id = ?2 AND o.blob_id <> n.blob_id),
  named AS MATERIALIZED (
    SELECT n.path, o.path AS fromPath, n.size
    FROM (${numbered('added', 'blob, name')}) n JOIN (${numbered('removed', 'blob, name')}) o USING (blob, name, nth)),
  moved AS MATERIALIZED (
    SELECT * FROM named
    UNION ALL SELECT n.path, o.path, n.size
    FROM (${numbered('added', 'blob', 'path NOT IN (SELECT path FROM named)')}) n
    JOIN (${numbered('removed', 'blob', 'path NOT IN (SELECT fromPath FROM named)')}) o USING (blob, nth)),
  counted AS MATERIALIZED (
    SELECT (SELECT count(*) FROM added) AS added, (SELECT count(*) FROM removed) AS removed,
      (SELECT count(*) FROM changed) AS changed, (SELECT count(*) FROM moved) AS moved,
      (SELECT count(*) FROM assets WHERE deployment_id = ?2) AS files)
  SELECT 'counts' AS kind, json_object(
      'added', added - moved, 'changed', changed, 'removed', removed - moved, 'moved', moved,
      'unchanged', files - added - changed) AS path,
    NULL AS fromPath, 0 AS size, NULL AS fromSize
  FROM counted
  UNION ALL SELECT * FROM (
    SELECT * FROM (
      SELECT 'added' AS kind, path, NULL AS fromPath, size, NULL AS fromSize
      FROM added WHERE path NOT IN (SELECT path FROM moved)
      UNION ALL SELECT 'changed', path, NULL, size, fromSize FROM changed
      UNION ALL SELECT 'removed', path, NULL, size, NULL
      FROM removed WHERE path NOT IN (SELECT fromPath FROM moved)
      UNION ALL SELECT 'moved', path, fromPath, size, size FROM moved)
    WHERE (?3 IS NULL OR kind = ?3) AND (?4 IS NULL OR path = ?4 OR fromPath = ?4)
    ORDER BY path ${order} LIMIT ?5 OFFSET ?6)`

const ASCENDING = changes('ASC')
const DESCENDING = changes('DESC')
