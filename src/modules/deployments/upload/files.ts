import type { Context } from '../../../context.ts'
import { type AssetPathSource, findClash, normalizeAssetPath } from '../../../domain/asset-path.ts'
import { AppError, invalidChoice } from '../../../domain/errors.ts'
import type { AddedBlob } from '../../../platform/blob-store.ts'

/** Skipped files (`.git`, `node_modules`) do not count for the deployment, but reading them needs a limit too. */
export const MAX_LEFT_OUT = 200_000

/** A file of an upload: its stored path, and its staged content. */
export type UploadedFile = { path: string; sha256: string; sizeBytes: number }

/** The stored path; null for folders and skipped files. Throws `invalid` naming an entry that is refused. */
export function storedPath(raw: string, source: AssetPathSource): string | null {
  const result = normalizeAssetPath(raw, source)
  if (result.kind === 'refused') throw new AppError('invalid', `${shown(raw)}: ${result.reason}`)
  return result.kind === 'file' ? result.path : null
}

/** The files of one upload as they arrive. Of equal paths the last one counts, as in a tar that was appended to. */
export class UploadedFiles {
  readonly #ctx: Context
  readonly #byPath = new Map<string, UploadedFile>()

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /** Throws `too_large` as soon as there are more files than one deployment may have. */
  add(path: string, { sha256, sizeBytes }: AddedBlob): void {
    this.#byPath.set(path, { path, sha256, sizeBytes })
    if (this.#byPath.size > this.#ctx.config.maxDeploymentFiles) throw tooManyFiles(this.#ctx)
  }

  /** Throws `invalid` when there are no files. `whatToSend` tells the sender what to send. */
  all(whatToSend: string): UploadedFile[] {
    if (this.#byPath.size === 0)
      throw invalidChoice('file', `The upload holds no files: ${whatToSend}. ${LEFT_OUT}`)
    return [...this.#byPath.values()]
  }
}

/** Throws `invalid` naming two paths, one of which would have to be both a file and a folder. */
export function refuseClash(paths: readonly string[]): void {
  const clash = findClash(paths)
  if (clash !== null)
    throw new AppError(
      'invalid',
      `${shown(clash.path)} cannot be both a file and the folder of ${shown(clash.below)}`,
    )
}

export function tooManyFiles(ctx: Context): AppError {
  return new AppError(
    'too_large',
    `A deployment may have ${ctx.config.maxDeploymentFiles} files (MAX_DEPLOYMENT_FILES); this one would have more`,
  )
}

const LEFT_OUT =
  'Files and folders whose name begins with a dot (except .well-known), node_modules and __MACOSX are left out.'

const shown = (path: string): string => JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path)
