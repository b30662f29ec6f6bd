import type { Context } from '../../context.ts'
import { cacheControlOf } from '../../domain/cache-control.ts'
import { isTypedByBytes, mimeTypeOf } from '../../domain/content-type.ts'
import { findAliasByName } from '../aliases/service.ts'
import type { Grant } from '../auth/authorize.ts'
import { findContent, listAliasesWithStartPage, listEntries, listPaths } from './browse/queries.ts'
import { requireDeployment } from './service.ts'
import { typeOfFile } from './traits.ts'

/** A direct child of a folder in a deployment. `path` is the full path; that of a folder, which has no type, ends in `/`. */
export type FolderEntry = {
  name: string
  path: string
  mimeType: string | null
  fileCount: number
  sizeBytes: number
}
export type Folder = { folders: FolderEntry[]; files: FolderEntry[]; total: number }

export type FileDetail = {
  path: string
  sizeBytes: number
  sha256: string
  mimeType: string
  cacheControl: string
  /** The content if it is UTF-8 text of at most 256 KiB; else null. */
  text: string | null
}

export { findContent } from './browse/queries.ts'

const MAX_ENTRIES = 1000
const MAX_TEXT_BYTES = 256 * 1024

/** `photo-2` comes before `photo-10`. */
const names = new Intl.Collator('en', { numeric: true })

/** `folder` is empty or ends in `/`. Returns the first 1000 entries; `total` counts all. */
export function listFolder(ctx: Context, grant: Grant, deploymentId: string, folder: string): Folder {
  const { id } = requireDeployment(ctx.db.orm, grant, deploymentId)
  const rows = listEntries(ctx.db, id, folder)
  const entries = rows
    .slice(0, MAX_ENTRIES)
    .map((row) => ({ ...row, path: folder + row.name, mimeType: entryType(ctx, id, folder + row.name) }))
    .sort((a, b) => names.compare(a.name, b.name))
  const isFolder = ({ mimeType }: FolderEntry) => mimeType === null
  return {
    folders: entries.filter(isFolder),
    files: entries.filter((entry) => !isFolder(entry)),
    total: rows.length,
  }
}

function entryType(ctx: Context, deploymentId: string, path: string): string | null {
  if (path.endsWith('/')) return null
  const content = isTypedByBytes(path) ? findContent(ctx.db, deploymentId, path) : null
  return content === null ? mimeTypeOf(path) : typeOfFile(ctx, { path, sha256: content.sha256 })
}

/** Whether the deployment's own address shows a page: its base path has an `index.html`. */
export function hasStartPage(ctx: Context, grant: Grant, deploymentId: string): boolean {
  const { id, basePath } = requireDeployment(ctx.db.orm, grant, deploymentId)
  return findContent(ctx.db, id, `${basePath}/index.html`.slice(1)) !== null
}

/** The aliases of the project whose address shows a page now, by name. */
export const aliasesWithStartPage = (ctx: Context, { projectId }: Grant): string[] =>
  projectId === null ? [] : listAliasesWithStartPage(ctx.db, projectId)

/** More are not listed. */
const MAX_SHOWN_PATHS = 5000

/** All paths of the deployment that an alias shows; null if there is no such alias, or if they are too many. */
export function pathsShownBy(ctx: Context, { projectId }: Grant, alias: string): string[] | null {
  const shown = projectId === null ? undefined : findAliasByName(ctx, projectId, alias)
  return shown === undefined ? null : listPaths(ctx.db, shown.deploymentId, MAX_SHOWN_PATHS)
}

/** Undefined when the deployment has no such file. */
export function getFileDetail(
  ctx: Context,
  grant: Grant,
  deploymentId: string,
  path: string,
  isPublic: boolean,
): FileDetail | undefined {
  const { id } = requireDeployment(ctx.db.orm, grant, deploymentId)
  const blob = findContent(ctx.db, id, path)
  if (blob === null) return undefined
  const { sizeBytes, sha256 } = blob
  return {
    path,
    sizeBytes,
    sha256,
    mimeType: typeOfFile(ctx, { path, sha256 }),
    cacheControl: cacheControlOf(path, isPublic),
    text: sizeBytes > MAX_TEXT_BYTES ? null : textOf(ctx.blobs.readSync(blob)),
  }
}

/** Null for binary content. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
