import { MAX_PATH_BYTES } from '../../../domain/asset-path.ts'
import { type LeftOutPaths, leftOutKind } from '../../../domain/deploy-report/left-out.ts'

const MAX_OF_A_KIND = 100

/** Notes what of an upload is not taken in. Contents are never looked at. */
export class LeftOut implements LeftOutPaths {
  readonly paths: string[] = []
  readonly counts = { 'left-out': 0, 'secret-left-out': 0 }

  /** A folder is not noted, nor what is no path. */
  add(path: string): void {
    if (path.endsWith('/') || path.length > MAX_PATH_BYTES || !path.isWellFormed()) return
    const kind = leftOutKind(path)
    if (this.counts[kind] < MAX_OF_A_KIND) {
      if (this.paths.includes(path)) return
      this.paths.push(path)
    }
    this.counts[kind] += 1
  }
}
