import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { toNfc } from '../../domain/nfc.ts'
import { type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import { type StoredBlob, withContents } from '../../platform/blob-store.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import { findContent } from '../deployments/browse.ts'
import { type DeploymentRow, requireDeployment } from '../deployments/service.ts'
import { typeOfFile } from '../deployments/traits.ts'
import { diffOnThread, type Hunk } from './diff-thread.ts'
import { isTextContent } from './is-text.ts'
import type { ChangeView, ComparisonView, FileComparisonView, SideView } from './model.ts'
import { patchOf } from './patch.ts'
import { type ChangeKind, type ChangeRow, type Counts, listChanges, type Pair } from './queries.ts'
import { requireTarget } from './target.ts'

export type { ChangeView, ComparisonView, FileComparisonView } from './model.ts'
export { requireTarget } from './target.ts'

/** A side that is larger is not compared line by line. */
const MAX_BYTES = 1024 * 1024

type CompareQuery = PaginationQuery & { with: string; kind?: ChangeKind | '' | undefined }

/** What differs between the deployment `id` and the one before it, `with`. contract 17.4. */
export async function compareDeployments(
  ctx: Context,
  grant: Grant,
  id: string,
  query: CompareQuery,
): Promise<ComparisonView> {
  const page = parsePagination(query, {
    sortable: ['path'] as const,
    defaultSort: 'path',
    defaultOrder: 'asc',
  })
  const sides = sidesOf(ctx, grant, id, query.with)
  const { order, limit, offset } = page
  const found = await listChanges(ctx.db, pairOf(sides), {
    kind: query.kind || null,
    path: null,
    order,
    limit,
    offset,
  })
  const data: ChangeView[] = []
  for (const row of found.rows) data.push(await changeView(ctx, sides, row))
  authorizeAgain(ctx, grant, 'project:read', true)
  return {
    from: sideView(sides.from),
    to: sideView(sides.to),
    counts: found.counts,
    ...paginated(data, found.total, page),
  }
}

/** One file of both sides. Throws 404 for a path that neither has. */
export async function compareFile(
  ctx: Context,
  grant: Grant,
  id: string,
  query: { with: string; path: string },
): Promise<FileComparisonView> {
  const file = await findFile(ctx, grant, id, query)
  return viewOfFile(file, await differencesOf(ctx, grant, file, false))
}

/** The same as a unified diff. Throws `too_large` for what is not compared by lines. */
export async function filePatch(
  ctx: Context,
  grant: Grant,
  id: string,
  query: { with: string; path: string },
): Promise<Uint8Array<ArrayBuffer>> {
  const file = await findFile(ctx, grant, id, query)
  const differences = await differencesOf(ctx, grant, file, true)
  if (differences.tooLarge && file.kind !== 'moved')
    throw new AppError(
      'too_large',
      `There is no patch for ${file.path}, which has more than 1 MiB or 20,000 lines: fetch it with /content`,
    )
  return patchOf(viewOfFile(file, differences))
}

/** A file for the page about it: also the types and sizes of both sides, null where there is none. */
export type FileSides = FileComparisonView & {
  from: { path: string; size: number } | null
  to: { path: string; size: number } | null
  mimeType: string
}

export async function compareSides(
  ctx: Context,
  grant: Grant,
  id: string,
  query: { with: string; path: string },
): Promise<FileSides> {
  const file = await findFile(ctx, grant, id, query)
  const { path, fromPath, from, to } = file
  return {
    ...viewOfFile(file, await differencesOf(ctx, grant, file, false)),
    from: from && { path: fromPath ?? path, size: from.sizeBytes },
    to: to && { path, size: to.sizeBytes },
    mimeType: mimeTypeOf(ctx, path, to ?? from),
  }
}

/** How the files of two deployments differ, and the first of them. */
export type Differing = { counts: Counts; paths: ChangeRow[] }

const FIRST_PATHS = 200

export async function differencesBetween(
  ctx: Context,
  grant: Grant,
  fromId: string,
  toId: string,
): Promise<Differing> {
  const sides = {
    from: requireDeployment(ctx.db.orm, grant, fromId),
    to: requireDeployment(ctx.db.orm, grant, toId),
  }
  const all = { kind: null, path: null, order: 'asc', limit: FIRST_PATHS, offset: 0 } as const
  const { counts, rows } = await listChanges(ctx.db, pairOf(sides), all)
  authorizeAgain(ctx, grant, 'project:read', true)
  return { counts, paths: rows }
}

type Sides = { from: DeploymentRow; to: DeploymentRow }

/** One file as both sides have it; null where there is none. */
type ComparedFile = {
  kind: ChangeKind | 'unchanged'
  path: string
  fromPath: string | null
  from: StoredBlob | null
  to: StoredBlob | null
}
type Differences = { isText: boolean; tooLarge: boolean; hunks: Hunk[] }

const sidesOf = (ctx: Context, grant: Grant, id: string, target: string): Sides => ({
  to: requireDeployment(ctx.db.orm, grant, id),
  from: requireTarget(ctx, grant, target),
})

const pairOf = ({ from, to }: Sides): Pair => ({
  projectId: to.projectId,
  fromId: from.id,
  toId: to.id,
  fileCount: from.fileCount + to.fileCount,
})

const sideView = ({ id, number, title, commitSha }: DeploymentRow): SideView => ({
  id,
  number,
  title,
  commitSha,
})

async function changeView(ctx: Context, { from, to }: Sides, row: ChangeRow): Promise<ChangeView> {
  const { kind, path, fromPath, size, fromSize } = row
  const now = kind === 'removed' ? null : findContent(ctx.db, to.id, path)
  const old = kind === 'changed' || kind === 'removed' ? findContent(ctx.db, from.id, path) : null
  const blobs = [now, old].filter((blob) => blob !== null)
  return {
    kind,
    path,
    fromPath,
    size,
    fromSize,
    mimeType: mimeTypeOf(ctx, path, now ?? old),
    isText: await areText(ctx, blobs),
  }
}

/** The path alone says it of a file that was deleted meanwhile. */
const mimeTypeOf = (ctx: Context, path: string, blob: StoredBlob | null): string =>
  typeOfFile(ctx, { path, sha256: blob?.sha256 ?? '' })

async function areText(ctx: Context, blobs: readonly StoredBlob[]): Promise<boolean> {
  for (const blob of blobs) if (!(await isTextContent(ctx, blob))) return false
  return true
}

async function findFile(
  ctx: Context,
  grant: Grant,
  id: string,
  query: { with: string; path: string },
): Promise<ComparedFile> {
  const sides = sidesOf(ctx, grant, id, query.with)
  const path = assetPath(query.path)
  const from = findContent(ctx.db, sides.from.id, path)
  const to = findContent(ctx.db, sides.to.id, path)
  if (from !== null && to !== null)
    return { kind: from.sha256 === to.sha256 ? 'unchanged' : 'changed', path, fromPath: null, from, to }
  const all = { kind: null, path, order: 'asc', limit: 1, offset: 0 } as const
  const [row] = from === null && to === null ? [] : (await listChanges(ctx.db, pairOf(sides), all)).rows
  if (row === undefined) throw new AppError('not_found', 'Neither deployment has a file of this path')
  return {
    kind: row.kind,
    path: row.path,
    fromPath: row.fromPath,
    from: findContent(ctx.db, sides.from.id, row.fromPath ?? row.path),
    to: findContent(ctx.db, sides.to.id, row.path),
  }
}

/** As it is stored. A sender may begin it with `/`. */
export const assetPath = (path: string): string => toNfc(path.replace(/^\//, ''))

async function differencesOf(
  ctx: Context,
  grant: Grant,
  { kind, from, to }: ComparedFile,
  isPatch: boolean,
): Promise<Differences> {
  const blobs = [from, to].filter((blob) => blob !== null)
  if (blobs.some(({ sizeBytes }) => sizeBytes > MAX_BYTES))
    return { isText: await areText(ctx, blobs), tooLarge: true, hunks: [] }
  const [old, now] = [await bytesOf(ctx, from), await bytesOf(ctx, to)]
  const job = { from: old, to: now, isPatch: isPatch && kind !== 'unchanged' }
  const differences = await diffOnThread(grant.projectId ?? '', job)
  authorizeAgain(ctx, grant, 'project:read', true)
  return differences
}

const bytesOf = async (ctx: Context, blob: StoredBlob | null): Promise<Uint8Array | null> =>
  blob === null ? null : withContents(ctx, () => ctx.blobs.readSync(blob))

const viewOfFile = (
  { path, fromPath, kind }: ComparedFile,
  { isText, tooLarge, hunks }: Differences,
): FileComparisonView => ({ path, fromPath, kind, isText, tooLarge, hunks })
