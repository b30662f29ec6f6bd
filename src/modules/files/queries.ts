import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import type { KnownBlob } from '../deployments/traits.ts'

export type StoredFile = {
  id: string
  projectId: string
  path: string
  size: number
  sha256: string
  contentType: string
  /** A record was made of it. */
  isRegistered: boolean
  createdAt: number
  updatedAt: number
}

type Row = Omit<StoredFile, 'isRegistered'> & { isRegistered: 0 | 1 }

const FILES = `SELECT f.id, f.project_id AS projectId, f.path, f.size_bytes AS size, b.sha256,
    f.content_type AS contentType, f.is_registered AS isRegistered, f.created_at AS createdAt, f.updated_at AS updatedAt
  FROM project_files f JOIN blobs b ON b.id = f.blob_id`

const fileOf = (row: Row | null): StoredFile | undefined =>
  row === null ? undefined : { ...row, isRegistered: row.isRegistered === 1 }

export const findFileRow = (db: Db, projectId: string, path: string): StoredFile | undefined =>
  fileOf(prepared<Row>(db, `${FILES} WHERE f.project_id = ? AND f.path = ?`).get(projectId, path))

export const findFileById = (db: Db, projectId: string, id: string): StoredFile | undefined =>
  fileOf(prepared<Row>(db, `${FILES} WHERE f.id = ? AND f.project_id = ?`).get(id, projectId))

/** Where its bytes are now. */
export const findPlaceRow = (db: Db, fileId: string): KnownBlob | null =>
  prepared<KnownBlob>(
    db,
    `SELECT b.sha256, b.size_bytes AS sizeBytes, b.pack, b.offset, b.object, b.traits, b.is_brotli AS isBrotli
     FROM project_files f JOIN blobs b ON b.id = f.blob_id WHERE f.id = ?`,
  ).get(fileId)

/** Adds the file, or replaces the one of that path. Its content has a row. */
export function putFileRow(db: Db, file: StoredFile): void {
  prepared(
    db,
    `INSERT INTO project_files
       (id, project_id, path, blob_id, size_bytes, content_type, is_registered, created_at, updated_at)
     VALUES (?, ?, ?, (SELECT id FROM blobs WHERE sha256 = ?), ?, ?, ?, ?, ?)
     ON CONFLICT (project_id, path) DO UPDATE SET blob_id = excluded.blob_id, size_bytes = excluded.size_bytes,
       content_type = excluded.content_type, is_registered = excluded.is_registered, updated_at = excluded.updated_at`,
  ).run(
    file.id,
    file.projectId,
    file.path,
    file.sha256,
    file.size,
    file.contentType,
    file.isRegistered ? 1 : 0,
    file.createdAt,
    file.updatedAt,
  )
}

export function markRegistered(db: Db, id: string): void {
  prepared(db, 'UPDATE project_files SET is_registered = 1 WHERE id = ?').run(id)
}

export type Totals = { files: number; bytes: number }
const NOTHING: Totals = { files: 0, bytes: 0 }

export const totalsOf = (db: Db, projectId: string): Totals =>
  prepared<Totals>(db, 'SELECT files, bytes FROM project_file_totals WHERE project_id = ?').get(projectId) ??
  NOTHING

/** Of the whole workspace. */
export const sumTotals = (db: Db): Totals =>
  prepared<Totals>(
    db,
    'SELECT coalesce(sum(files), 0) AS files, coalesce(sum(bytes), 0) AS bytes FROM project_file_totals',
  ).get() ?? NOTHING

/** What is to go: a folder, all that begins like a text (of the list), or these paths. */
export type Which = { folder: string } | { paths: readonly string[] }

/** The folder alone: `/` and what sorts behind everything below it. */
const where = (which: Which): { sql: string; values: string[] } =>
  'folder' in which
    ? { sql: 'path >= ? AND path < ?', values: [`${which.folder}/`, `${which.folder}0`] }
    : { sql: 'path IN (SELECT value FROM json_each(?))', values: [JSON.stringify(which.paths)] }

export function sumFiles(db: Db, projectId: string, which: Which): Totals {
  const { sql, values } = where(which)
  return (
    prepared<Totals>(
      db,
      `SELECT count(*) AS files, coalesce(sum(size_bytes), 0) AS bytes FROM project_files
       WHERE project_id = ? AND ${sql}`,
    ).get(projectId, ...values) ?? NOTHING
  )
}

/** Deletes up to `limit` of those that were there at `until`; returns how many. */
export function deleteSomeFiles(
  db: Db,
  projectId: string,
  which: Which,
  { until, limit }: { until: number; limit: number },
): number {
  const { sql, values } = where(which)
  return prepared(
    db,
    `DELETE FROM project_files WHERE id IN
       (SELECT id FROM project_files WHERE project_id = ? AND ${sql} AND updated_at <= ? LIMIT ?)`,
  ).run(projectId, ...values, until, limit).changes
}

/** Each content of the project's files once. */
export const listFileContents = (db: Db, projectId: string): { sha256: string; sizeBytes: number }[] =>
  prepared<{ sha256: string; sizeBytes: number }>(
    db,
    `SELECT sha256, size_bytes AS sizeBytes FROM blobs
     WHERE id IN (SELECT blob_id FROM project_files WHERE project_id = ?)`,
  ).all(projectId)

/** When a record was made of the path last; null if none was in the last day. */
export const spentAt = (db: Db, projectId: string, path: string): number | null =>
  prepared<{ at: number }>(
    db,
    'SELECT spent_at AS at FROM spent_uploads WHERE project_id = ? AND path = ?',
  ).get(projectId, path)?.at ?? null

export function putSpent(db: Db, projectId: string, path: string, at: number): void {
  prepared(
    db,
    `INSERT INTO spent_uploads (project_id, path, spent_at) VALUES (?, ?, ?)
     ON CONFLICT (project_id, path) DO UPDATE SET spent_at = excluded.spent_at`,
  ).run(projectId, path, at)
}

export function deleteSpentBefore(db: Db, before: number, limit: number): void {
  prepared(
    db,
    `DELETE FROM spent_uploads WHERE (project_id, path) IN
       (SELECT project_id, path FROM spent_uploads WHERE spent_at < ? LIMIT ?)`,
  ).run(before, limit)
}
