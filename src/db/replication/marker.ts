import { readFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { DataDirError } from '../../domain/data-dir-error.ts'
import { MARKER_FILE } from '../../platform/copy-of-store.ts'
import { syncFolder } from '../../platform/durable-file.ts'
import { handOver } from '../../platform/owner.ts'

export type Marker = {
  /** The id in `svc.json`. */
  store: string
  /** The database file holds at least the log up to this number; 0 where there may be no file. */
  number: number
  /** The highest number that is known to have been in the store. */
  seen: number
  /**
   * Whether the file, together with SQLite's own log where there is one, is the database as it once was, so that it can be read
   * without the store; without such a log it is at `number` exactly, if that is not 0. False while pages are put into it.
   */
  isWhole: boolean
}

/** Null: the data directory is no copy of a store. Throws `DataDirError` for a marker that cannot be read. */
export function readMarker(dataDir: string): Marker | null {
  const path = join(dataDir, MARKER_FILE)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  const marker = parse(text)
  if (marker === null)
    throw new DataDirError(
      `${path} cannot be read: remove it together with svc.db, svc.db-wal and svc.db-shm to take the database from the store again`,
    )
  return marker
}

/** Durable when it resolves. One at a time. */
export async function writeMarker(dataDir: string, { store, number, seen, isWhole }: Marker): Promise<void> {
  const path = join(dataDir, MARKER_FILE)
  const partial = `${path}.partial`
  const file = await open(partial, 'w', 0o600)
  try {
    handOver(partial)
    await file.writeFile(`${JSON.stringify({ store, number, seen, isWhole })}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(partial, path)
  await syncFolder(dataDir)
}

function parse(text: string): Marker | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null) return null
  const { store, number, seen, isWhole } = value as Record<string, unknown>
  return typeof store === 'string' && isNumber(number) && isNumber(seen) && number <= seen
    ? { store, number, seen, isWhole: isWhole === true }
    : null
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
