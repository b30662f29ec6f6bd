import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import type { Grant } from '../auth/authorize.ts'
import { type Project, projectOf } from '../projects/service.ts'
import { fileKey, filePath, fileUrl } from './keys.ts'
import { countFileRows, type Entry, listEntries, listFileRows } from './list-queries.ts'
import type { FileView } from './model.ts'
import { findFileById, type StoredFile, sumFiles, totalsOf } from './queries.ts'
import { type Deleted, deleteFiles } from './service.ts'

export type { Entry } from './list-queries.ts'
export type { FileView } from './model.ts'

/** The files of a project for its members: the API and the admin. contract 14.2. */

export function listFiles(
  ctx: Context,
  grant: Grant,
  query: PaginationQuery & { prefix?: string | undefined },
): Paginated<FileView> {
  const project = projectOf(ctx, grant)
  const page = parsePagination(query, {
    sortable: ['path', 'createdAt', 'size'],
    defaultSort: 'path',
    defaultOrder: 'asc',
  })
  const prefix = query.prefix ?? ''
  const rows = listFileRows(ctx.db.orm, project.id, prefix, page)
  const total = countFileRows(ctx.db.orm, project.id, prefix)
  return paginated(
    rows.map((row) => viewOf(project, row)),
    total,
    page,
  )
}

export function getFile(ctx: Context, grant: Grant, fileId: string): FileView {
  return viewOf(projectOf(ctx, grant), requireFile(ctx, grant, fileId))
}

/** Throws 404 for a file of another project, too. */
export function requireFile(ctx: Context, grant: Grant, fileId: string): StoredFile {
  const file = findFileById(ctx.db, projectOf(ctx, grant).id, fileId)
  if (file === undefined) throw noSuchFile()
  return file
}

/** Records that name it stay. */
export async function deleteFile(ctx: Context, grant: Grant, fileId: string): Promise<void> {
  const { path } = requireFile(ctx, grant, fileId)
  const { deleted } = await deleteFiles(
    ctx,
    projectOf(ctx, grant).id,
    { paths: [path] },
    { also: (gone) => note(ctx, grant, { id: fileId, what: { path } }, gone) },
  )
  if (deleted === 0) throw noSuchFile()
}

/** The same of everything in a folder. Throws `INVALID_PATH` for no folder. */
export async function deleteFolder(ctx: Context, grant: Grant, asked: string): Promise<Deleted> {
  const project = projectOf(ctx, grant)
  const prefix = filePath(project, asked)
  return deleteFiles(
    ctx,
    project.id,
    { folder: prefix },
    { also: (gone) => note(ctx, grant, { id: null, what: { prefix } }, gone) },
  )
}

export const filesInAll = (ctx: Context, grant: Grant): { files: number; bytes: number } =>
  totalsOf(ctx.db, projectOf(ctx, grant).id)

/** What a folder has in all, with the folder as it is stored. */
export function folderTotals(
  ctx: Context,
  grant: Grant,
  asked: string,
): { prefix: string; files: number; bytes: number } {
  const project = projectOf(ctx, grant)
  const prefix = filePath(project, asked)
  return { prefix, ...sumFiles(ctx.db, project.id, { folder: prefix }) }
}

/** A page of what stands in a folder; '' is the top. */
export function browseFiles(
  ctx: Context,
  grant: Grant,
  asked: string,
  page: { limit: number; offset: number },
): { folder: string; entries: Entry[]; total: number } {
  const project = projectOf(ctx, grant)
  const folder = asked === '' ? '' : `${filePath(project, asked)}/`
  return { folder, ...listEntries(ctx.db, project.id, folder, page) }
}

const viewOf = (project: Project, { projectId: _, ...file }: StoredFile): FileView => ({
  ...file,
  key: fileKey(project, file.path),
  url: fileUrl(file.path),
  createdAt: isoTime(file.createdAt),
  updatedAt: isoTime(file.updatedAt),
})

type Noted = { id: string | null; what: { path: string } | { prefix: string } }

/** What removes nothing leaves no entry. */
function note(ctx: Context, grant: Grant, { id, what }: Noted, { deleted, bytes }: Deleted): void {
  if (deleted === 0) return
  audit(ctx, ctx.db.orm, grant.actor, {
    action: 'file.delete',
    target: { kind: 'file', id, name: 'path' in what ? what.path : `${what.prefix}/` },
    projectId: grant.projectId,
    before: { ...what, count: deleted, bytes },
  })
}

const noSuchFile = () => new AppError('not_found', 'There is no such file', { code: 'FILE_NOT_FOUND' })
