import type { Context } from '../../../context.ts'
import type { DeploymentRow } from '../queries.ts'
import { clashing, refuseClash, tooManyFiles, type UploadedFile } from '../upload/files.ts'
import { isBeingChecked } from './being-checked.ts'
import { findFileBelow, listAssetsAt, listStoredAssets, type NewAsset } from './queries.ts'

type Stored = ReadonlyMap<string, NewAsset>

/**
 * What a publish makes of a commit. `none`: its newest version is the same already. `into`: files are added to it, since no
 * alias ever showed it or is about to. `new`: the next version, with the files that it keeps of the one before. `known`: files that were at the
 * paths of the upload, as far as they matter.
 */
export type Plan =
  | { kind: 'none'; version: DeploymentRow; known: Stored }
  | { kind: 'into'; version: DeploymentRow; known: Stored }
  | { kind: 'new'; before: DeploymentRow | undefined; kept: readonly NewAsset[] }

/** `below`: what is replaced, which is empty for everything, or a folder such as `/dist`; null: nothing, files are appended. */
type Publishing = { files: readonly UploadedFile[]; below: string | null }

/**
 * Throws `invalid` for paths that clash with files that stay, `too_large` when the version would have too many files. contract
 * 16 §1.
 */
export function planPublish(ctx: Context, before: DeploymentRow | undefined, publishing: Publishing): Plan {
  return before !== undefined &&
    publishing.below === null &&
    !before.wasShown &&
    !isBeingChecked(ctx, before.id)
    ? planInto(ctx, before, publishing)
    : planNew(ctx, before, publishing)
}

/** Looks at the paths of the upload only: a commit may be published file by file. */
function planInto(ctx: Context, version: DeploymentRow, { files }: Publishing): Plan {
  const paths = files.map(({ path }) => path)
  const known = byPath(listAssetsAt(ctx.db, version.id, paths))
  const added = paths.filter((path) => !known.has(path))
  if (version.fileCount + added.length > ctx.config.maxDeploymentFiles) throw tooManyFiles(ctx)
  refuseClash(paths)
  refuseClashInside(ctx, version, added)
  return { kind: hasAll(known, files) ? 'none' : 'into', version, known }
}

/** Asks for single paths, unless these are more than the version has files. */
function refuseClashInside(ctx: Context, version: DeploymentRow, added: readonly string[]): void {
  const folders = foldersAbove(added, version.fileCount - added.length)
  if (folders === undefined)
    refuseClash([...listStoredAssets(ctx.db, version.id).map(({ path }) => path), ...added])
  else refuseClashAt(ctx, version.id, added, folders)
}

function refuseClashAt(
  ctx: Context,
  deploymentId: string,
  added: readonly string[],
  folders: ReadonlySet<string>,
): void {
  const [file] = listAssetsAt(ctx.db, deploymentId, [...folders])
  if (file !== undefined)
    throw clashing(file.path, added.find((path) => path.startsWith(`${file.path}/`)) ?? '')
  const clash = findFileBelow(ctx.db, deploymentId, added)
  if (clash !== undefined) throw clashing(clash.path, clash.below)
}

function planNew(ctx: Context, before: DeploymentRow | undefined, { files, below }: Publishing): Plan {
  const stored = byPath(before === undefined ? [] : listStoredAssets(ctx.db, before.id))
  const sent = new Set(files.map(({ path }) => path))
  const kept = [...stored.values()].filter(({ path }) => !sent.has(path) && !isBelow(path, below))
  if (kept.length + sent.size > ctx.config.maxDeploymentFiles) throw tooManyFiles(ctx)
  refuseClash([...kept.map(({ path }) => path), ...sent])
  const isSame = stored.size === kept.length + sent.size && hasAll(stored, files)
  if (before !== undefined && isSame) return { kind: 'none', version: before, known: stored }
  return { kind: 'new', before, kept }
}

const byPath = (assets: readonly NewAsset[]): Stored => new Map(assets.map((asset) => [asset.path, asset]))

const hasAll = (stored: Stored, files: readonly UploadedFile[]): boolean =>
  files.every(({ path, sha256 }) => stored.get(path)?.sha256 === sha256)

const isBelow = (path: string, folder: string | null): boolean =>
  folder !== null && (folder === '' || `/${path}`.startsWith(`${folder}/`))

/** `a/b/c` lies in `a/b` and in `a`. Undefined for more than `most` folders. */
function foldersAbove(paths: readonly string[], most: number): ReadonlySet<string> | undefined {
  const folders = new Set<string>()
  for (const path of paths)
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const folder = path.slice(0, slash)
      if (folders.has(folder)) break
      folders.add(folder)
      if (folders.size > most) return undefined
    }
  return folders.size > most ? undefined : folders
}
