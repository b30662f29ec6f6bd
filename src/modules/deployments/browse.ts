import type { Context } from '../../context.ts'
import { cacheControlOf } from '../../domain/cache-control.ts'
import { mimeTypeOf } from '../../domain/content-type.ts'
import type { StoredBlob } from '../../platform/blob-store.ts'

/** What stands directly in a folder of a deployment. `path` is the whole one; a folder's ends in `/`. */
export type FolderEntry = { name: string; path: string; fileCount: number; sizeBytes: number }
export type Folder = { folders: FolderEntry[]; files: FolderEntry[]; total: number }

export type FileDetail = {
  path: string
  sizeBytes: number
  sha256: string
  mimeType: string
  cacheControl: string
  /** The content where it is UTF-8 text of at most 256 KiB; else null. */
  text: string | null
}

export type PathChange = { kind: 'added' | 'changed' | 'removed'; path: string; sizeBytes: number }
/** `paths` are the first of all, those of a kind together. */
export type Comparison = { added: number; changed: number; removed: number; paths: PathChange[] }

const MOST_ENTRIES = 1000
const MOST_PATHS = 200
const MOST_TEXT_BYTES = 256 * 1024

/** `folder` is empty or ends in `/`. The first 1000 entries; `total` counts all. */
export function listFolder(ctx: Context, deploymentId: string, folder: string): Folder {
  const rows = ctx.db.sqlite
    .query<{ name: string; fileCount: number; sizeBytes: number }, [string, string, string]>(
      `SELECT CASE WHEN instr(rest, '/') = 0 THEN rest ELSE substr(rest, 1, instr(rest, '/')) END AS name,
              count(*) AS fileCount, sum(size_bytes) AS sizeBytes
       FROM (SELECT substr(path, length(?2) + 1) AS rest, size_bytes FROM assets
             WHERE deployment_id = ?1 AND path >= ?2 AND path < ?3)
       GROUP BY name ORDER BY name`,
    )
    .all(deploymentId, folder, `${folder}\u{10ffff}`)
  const entries = rows.slice(0, MOST_ENTRIES).map((row) => ({ ...row, path: folder + row.name }))
  const isFolder = ({ name }: FolderEntry) => name.endsWith('/')
  return {
    folders: entries.filter(isFolder),
    files: entries.filter((entry) => !isFolder(entry)),
    total: rows.length,
  }
}

/** Undefined where the deployment has no such file. */
export function getFileDetail(
  ctx: Context,
  deploymentId: string,
  path: string,
  isPublic: boolean,
): FileDetail | undefined {
  const blob = ctx.db.sqlite
    .query<StoredBlob, [string, string]>(
      `SELECT b.sha256, b.size_bytes AS sizeBytes, b.pack, b.offset
       FROM assets a JOIN blobs b ON b.sha256 = a.sha256 WHERE a.deployment_id = ? AND a.path = ?`,
    )
    .get(deploymentId, path)
  if (blob === null) return undefined
  const { sizeBytes, sha256 } = blob
  return {
    path,
    sizeBytes,
    sha256,
    mimeType: mimeTypeOf(path),
    cacheControl: cacheControlOf(path, isPublic),
    text: sizeBytes > MOST_TEXT_BYTES ? null : textOf(ctx.blobs.readSync(blob)),
  }
}

/** Null for what is no text. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** What `toId` has that `fromId` has not, has otherwise, or lacks. */
export function compareDeployments(ctx: Context, fromId: string, toId: string): Comparison {
  const rows = ctx.db.sqlite
    .query<PathChange, [string, string]>(
      `SELECT 'added' AS kind, n.path, n.size_bytes AS sizeBytes
       FROM assets n LEFT JOIN assets o ON o.deployment_id = ?1 AND o.path = n.path
       WHERE n.deployment_id = ?2 AND o.path IS NULL
       UNION ALL SELECT 'changed', n.path, n.size_bytes
       FROM assets n JOIN assets o ON o.deployment_id = ?1 AND o.path = n.path
       WHERE n.deployment_id = ?2 AND o.sha256 <> n.sha256
       UNION ALL SELECT 'removed', o.path, o.size_bytes
       FROM assets o LEFT JOIN assets n ON n.deployment_id = ?2 AND n.path = o.path
       WHERE o.deployment_id = ?1 AND n.path IS NULL`,
    )
    .all(fromId, toId)
  const count = (kind: PathChange['kind']) => rows.filter((row) => row.kind === kind).length
  return {
    added: count('added'),
    changed: count('changed'),
    removed: count('removed'),
    paths: rows.slice(0, MOST_PATHS),
  }
}
