import { spaceOf } from '../../storage/service.ts'
import type { Check } from './check.ts'

const SHARE = 0.05
const MOST_BYTES = 1024 ** 3

/** Warns below twice the floor. */
export const checkDisk: Check = async (ctx) => {
  const { freeBytes, totalBytes } = await spaceOf(ctx)
  const floor = Math.min(totalBytes * SHARE, MOST_BYTES)
  const percent = Math.floor((freeBytes / totalBytes) * 100)
  const status = freeBytes < floor ? 'error' : freeBytes < 2 * floor ? 'warn' : 'ok'
  return { status, message: `${percent} % of the disk is free`, value: freeBytes }
}
