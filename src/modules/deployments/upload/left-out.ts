import { MAX_PATH_BYTES } from '../../../domain/asset-path.ts'

const MAX_PATHS = 100

/** The first paths of an upload that were not taken in. Their contents are never looked at. */
export class LeftOut {
  readonly paths: string[] = []

  /** A folder is not noted, nor what is no path. */
  add(path: string): void {
    if (this.paths.length === MAX_PATHS || this.paths.includes(path) || path.length > MAX_PATH_BYTES) return
    if (path.endsWith('/') || !path.isWellFormed()) return
    this.paths.push(path)
  }
}
