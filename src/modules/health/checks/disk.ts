import { diskSpace } from '../../storage/floor.ts'
import type { Check } from './check.ts'

/** Warns below twice the floor, as the event `disk.low` does. */
export const checkDisk: Check = (ctx) => {
  const { freeBytes: value, totalBytes, floorBytes, isLow } = diskSpace(ctx)
  const message = `${Math.floor((value / totalBytes) * 100)} % of the disk is free`
  if (floorBytes === 0) return { status: 'off', message: `${message}, and no floor is set`, value }
  if (isLow) return { status: 'error', message: `${message}, so nothing more is stored`, value }
  return { status: value < 2 * floorBytes ? 'warn' : 'ok', message, value }
}
