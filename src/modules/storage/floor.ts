import { statfsSync } from 'node:fs'
import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'

/** Of the disk of the data directory. `floorBytes`: what must stay free; 0 for no floor. */
export type DiskSpace = { freeBytes: number; totalBytes: number; floorBytes: number; isLow: boolean }

const SHARE = 0.05
const MOST_BYTES = 2 ** 30

/** Free is what an unprivileged process may use. */
export function diskSpace({ config }: Pick<Context, 'config'>): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(config.dataDir)
  const freeBytes = bavail * bsize
  const totalBytes = blocks * bsize
  const floorBytes = config.minFreeDisk ?? Math.min(MOST_BYTES, Math.floor(totalBytes * SHARE))
  return { freeBytes, totalBytes, floorBytes, isLow: freeBytes < floorBytes }
}

/** Throws `DISK_LOW` below the floor. For what stores files, before its body is read. contract 16 §3. */
export function refuseLowDisk(ctx: Context): void {
  const { freeBytes: free, floorBytes: floor, isLow } = diskSpace(ctx)
  if (!isLow) return
  const message = `${free} bytes are free, and ${floor} must stay free (MIN_FREE_DISK)`
  throw new AppError('storage_full', `The server's disk is nearly full: ${message}. Nothing was stored.`, {
    code: 'DISK_LOW',
    details: [{ path: 'freeBytes', message, free, floor }],
  })
}

/** For pages, which are shown all the same when the disk cannot be asked. */
export function isDiskLow(ctx: Context): boolean {
  try {
    return diskSpace(ctx).isLow
  } catch {
    return false
  }
}
