import { and, eq, gte, lt, type SQL } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { blobs } from '../../db/schema-contents.ts'
import { projectFiles } from '../../db/schema-files.ts'
import { countRows, inPage } from '../../db/select.ts'
import { prepared } from '../../db/statements.ts'
import type { Page } from '../../domain/pagination.ts'
import type { StoredFile } from './queries.ts'

const SORT = { path: projectFiles.path, createdAt: projectFiles.createdAt, size: projectFiles.sizeBytes }
export type FileSort = keyof typeof SORT

/** Files whose path begins with `prefix`. */
export function listFileRows(
  db: DbOrTx,
  projectId: string,
  prefix: string,
  page: Page<FileSort>,
): StoredFile[] {
  const matching = db
    .select({
      id: projectFiles.id,
      projectId: projectFiles.projectId,
      path: projectFiles.path,
      size: projectFiles.sizeBytes,
      sha256: blobs.sha256,
      contentType: projectFiles.contentType,
      isRegistered: projectFiles.isRegistered,
      createdAt: projectFiles.createdAt,
      updatedAt: projectFiles.updatedAt,
    })
    .from(projectFiles)
    .innerJoin(blobs, eq(blobs.id, projectFiles.blobId))
    .where(beginning(projectId, prefix))
    .$dynamic()
  return inPage(matching, page, SORT[page.sort], projectFiles.path).all()
}

export const countFileRows = (db: DbOrTx, projectId: string, prefix: string): number =>
  countRows(db, projectFiles, beginning(projectId, prefix))

const beginning = (projectId: string, prefix: string): SQL | undefined =>
  and(
    eq(projectFiles.projectId, projectId),
    prefix === '' ? undefined : gte(projectFiles.path, prefix),
    prefix === '' ? undefined : lt(projectFiles.path, `${prefix}\u{10ffff}`),
  )

/** What stands in a folder: a file, whose `id` it has, or a folder with what is below it. */
export type Entry = { name: string; id: string | null; files: number; bytes: number }

/** `folder` is empty or ends in a slash. Folders come first. */
export const listEntries = (
  db: Db,
  projectId: string,
  folder: string,
  { limit, offset }: Pick<Page, 'limit' | 'offset'>,
): { entries: Entry[]; total: number } => {
  const rows = prepared<Entry & { total: number }>(
    db,
    `WITH below AS (
       SELECT id, size_bytes, substr(path, length(?2) + 1) AS rest FROM project_files
       WHERE project_id = ?1 AND path >= ?2 AND path < ?2 || char(1114111)),
     named AS (
       SELECT CASE instr(rest, '/') WHEN 0 THEN rest ELSE substr(rest, 1, instr(rest, '/') - 1) END AS name,
         CASE instr(rest, '/') WHEN 0 THEN id END AS id, size_bytes FROM below)
     SELECT name, max(id) AS id, count(*) AS files, sum(size_bytes) AS bytes, count(*) OVER () AS total
     FROM named GROUP BY name, id IS NULL ORDER BY id IS NOT NULL, name LIMIT ?3 OFFSET ?4`,
  ).all(projectId, folder, limit, offset)
  return { entries: rows.map(({ total: _, ...entry }) => entry), total: rows[0]?.total ?? 0 }
}
