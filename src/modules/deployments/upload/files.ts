import type { Context } from '../../../context.ts'
import { type AssetPathSource, findClash, normalizeAssetPath } from '../../../domain/asset-path.ts'
import { CHECKS_FILE, checksPathOf, chosenChecks } from '../../../domain/checks-file.ts'
import { AppError, invalidChoice } from '../../../domain/errors.ts'
import { nestedFolder, withoutFolder } from '../../../domain/nested-folder.ts'
import type { AddedBlob } from '../../../platform/blob-store.ts'
import { refuseLargeChecks } from '../../releases/checks-file.ts'
import type { LeftOut } from './left-out.ts'

/** Skipped files (`.git`, `node_modules`) do not count for the deployment, but reading them needs a limit too. */
export const MAX_LEFT_OUT = 200_000

/** A file of an upload: its stored path, and its staged content. */
export type UploadedFile = { path: string; sha256: string; sizeBytes: number }

/**
 * The stored path; null for folders and skipped files, of which the latter are noted. A checks file is taken in although it is a dot file, see `splitChecks`.
 * Throws `invalid` naming an entry that is refused.
 */
export function storedPath(raw: string, source: AssetPathSource, leftOut: LeftOut): string | null {
  const result = normalizeAssetPath(raw, source)
  if (result.kind === 'refused') throw new AppError('invalid', `${shown(raw)}: ${result.reason}`)
  if (result.kind === 'left_out') {
    const checks = checksPathOf(raw, source)
    if (checks === null) leftOut.add(raw)
    return checks
  }
  return result.kind === 'file' ? result.path : null
}

const isChecks = ({ path }: { path: string }): boolean =>
  path === CHECKS_FILE || path.endsWith(`/${CHECKS_FILE}`)

/** Checks files are no files of the deployment. */
export const splitChecks = (
  received: readonly UploadedFile[],
): { files: UploadedFile[]; checks: UploadedFile[] } => ({
  files: received.filter((file) => !isChecks(file)),
  checks: received.filter(isChecks),
})

/** The checks file that counts for what is served, of those that were sent. Throws `CHECKS_INVALID` for one too large. */
export function checksToRead(
  sent: readonly UploadedFile[],
  basePath: string | null,
  unwrapped: string | null,
): UploadedFile | null {
  const moved = sent.map((file) =>
    unwrapped === null ? file : { ...file, path: withoutFolder(file.path, unwrapped) },
  )
  const chosen = chosenChecks(moved, basePath)
  if (chosen === undefined) return null
  refuseLargeChecks(chosen)
  return chosen
}

/** The files of one upload, and the folder around them that was taken away, if there was one. */
export type Upload = { files: UploadedFile[]; unwrapped: string | null }

/** The files of one upload as they arrive. One path twice is one file if the bytes are the same. contract 12.9. */
export class UploadedFiles {
  readonly #ctx: Context
  readonly #byPath = new Map<string, UploadedFile>()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /** Throws `invalid` for other bytes under a path that is known, `too_large` for more files than a deployment may have. */
  add(path: string, { sha256, sizeBytes }: AddedBlob): void {
    const known = this.#byPath.get(path)
    if (known !== undefined && known.sha256 !== sha256)
      throw new AppError(
        'invalid',
        `${shown(path)} comes twice in this upload, with different contents: send it once`,
      )
    this.#byPath.set(path, { path, sha256, sizeBytes })
    if (this.#byPath.size > this.#ctx.config.maxDeploymentFiles) throw tooManyFiles(this.#ctx)
  }

  find(path: string): UploadedFile | undefined {
    return this.#byPath.get(path)
  }

  /** Throws `invalid` when there are no files. `whatToSend` tells the sender what to send. */
  all(whatToSend: string): UploadedFile[] {
    if (this.#byPath.values().every(isChecks))
      throw invalidChoice('file', `The upload holds no files: ${whatToSend}. ${LEFT_OUT}`)
    return [...this.#byPath.values()]
  }
}

/** Takes away the folder that everything lies in by mistake. Throws `invalid` if that puts two contents under one path. */
export function unwrap(ctx: Context, files: readonly UploadedFile[]): Upload {
  const folder = nestedFolder(files.map(({ path }) => path))
  if (folder === null) return { files: [...files], unwrapped: null }
  const moved = new UploadedFiles(ctx)
  for (const file of files) moved.add(withoutFolder(file.path, folder), file)
  return { files: moved.all(''), unwrapped: folder }
}

/** Throws `invalid` naming two paths, one of which would have to be both a file and a folder. */
export function refuseClash(paths: readonly string[]): void {
  const clash = findClash(paths)
  if (clash !== null) throw clashing(clash.path, clash.below)
}

export const clashing = (path: string, below: string): AppError =>
  new AppError('invalid', `${shown(path)} cannot be both a file and the folder of ${shown(below)}`)

export function tooManyFiles(ctx: Context): AppError {
  return new AppError(
    'too_large',
    `A deployment may have ${ctx.config.maxDeploymentFiles} files (MAX_DEPLOYMENT_FILES); this one would have more`,
  )
}

const LEFT_OUT =
  'Files and folders whose name begins with a dot (except .well-known), node_modules and __MACOSX are left out.'

/** A path in a message. */
export const shown = (path: string): string =>
  JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path)
