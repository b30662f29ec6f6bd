import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { BASE_FOLDER, logKey } from '../../domain/store-keys.ts'
import { syncFolder } from '../../platform/durable-file.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { DatabaseCopy } from './database-copy.ts'
import { applyLog, withObject } from './fetch-log.ts'
import { behind, LogError, missing } from './log-error.ts'
import { type Base, type LogRange, lastOf, listBases, listLog } from './log-objects.ts'
import { type Marker, readMarker, writeMarker } from './marker.ts'
import { untilStill } from './until-still.ts'

/**
 * Brings the database file of a data directory to the end of the store's log, whatever state a crash left it in, and without
 * what this machine wrote and did not ship. `number` is that end; `isNew`: the store has no database yet, and there is no file.
 * Throws `LogError`, `StoreError` and `DataDirError`.
 */
export async function bringUpToDate(
  store: ObjectStore,
  storeId: string,
  file: string,
  dataDir: string,
): Promise<{ number: number; isNew: boolean }> {
  const marker = readMarker(dataDir)
  refuseOthers(marker, storeId, file, dataDir)
  for (const left of ['-object', '-incoming', '-incoming-object']) await rm(`${file}${left}`, { force: true })
  const known = marker ?? { store: storeId, number: 0, seen: 0, isWhole: false }
  const number = (await goOn(store, known, file, dataDir)) ?? (await beginAnew(store, known, file, dataDir))
  return { number, isNew: number === 0 }
}

/** Builds the newest database of the store in a new file; null where the store has none yet, and there is no file then. */
export const copyDatabase = (
  store: ObjectStore,
  path: string,
  onEnd: (end: number) => Promise<void> | void = () => {},
): Promise<{ number: number } | null> => untilStill(() => copyOnce(store, path, onEnd))

/** Where a database is begun: the newest base, or the log from its first number on. */
export type Beginning = { base: Base | null; range: LogRange }

/** Null where the store has no database. Throws `missing` where the log does not go on from the newest base. */
export async function findBeginning(store: ObjectStore): Promise<Beginning | null> {
  const base = (await listBases(store)).at(-1) ?? null
  const from = base?.number ?? 1
  const range = await listLog(store, from)
  if (range === null && base === null) return null
  if (range?.first !== from)
    throw missing(
      logKey(from),
      base === null ? `and there is no base in "${BASE_FOLDER}"` : `and "${base.key}" needs it`,
    )
  return { base, range }
}

async function copyOnce(
  store: ObjectStore,
  path: string,
  onEnd: (end: number) => Promise<void> | void,
): Promise<{ number: number } | null> {
  const beginning = await findBeginning(store)
  const number = beginning === null ? 0 : lastOf(beginning.range)
  await onEnd(number)
  if (beginning === null) return null
  const { base, range } = beginning
  const whole = { key: base?.key ?? logKey(1), first: 1, last: base?.number ?? 1 }
  const copy = DatabaseCopy.create(path)
  try {
    await withObject(store, whole, (pieces) => copy.begin(whole, pieces))
    await applyLog(store, copy, { range, after: whole.last })
    copy.sync()
    return { number }
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    copy.close()
  }
}

function refuseOthers(marker: Marker | null, storeId: string, file: string, dataDir: string): void {
  if (marker === null && existsSync(file))
    throw new LogError(
      'not_ours',
      `${dataDir} holds a workspace of its own, and nothing in it was touched: svc store push moves it into an empty store`,
    )
  if (marker !== null && marker.store !== storeId)
    throw new LogError(
      'not_ours',
      `${dataDir} is a copy of the store ${marker.store}, not of ${storeId}, and nothing in it was touched: choose another DATA_DIR or STORE_URL`,
    )
}

/** The file lacks only the end of the log. Null where it cannot go on from there. */
async function goOn(
  store: ObjectStore,
  known: Marker,
  file: string,
  dataDir: string,
): Promise<number | null> {
  if (known.number === 0) return null
  const range = await listLog(store, known.number).catch(nullWhereMissing)
  // What was removed as old, or an end that is behind, is found out by beginning anew.
  if (range?.first !== known.number) return null
  const end = lastOf(range)
  requireSeen(end, known)
  const copy = DatabaseCopy.open(file)
  if (copy === null) return null
  try {
    await writeMarker(dataDir, { ...known, seen: end, isWhole: false })
    await dropLocalLog(file)
    await applyLog(store, copy, { range, after: known.number })
    copy.sync()
  } catch (error) {
    return nullWhereMissing(error)
  } finally {
    copy.close()
  }
  await writeMarker(dataDir, { store: known.store, number: end, seen: end, isWhole: true })
  return end
}

function nullWhereMissing(error: unknown): null {
  if (error instanceof LogError && error.kind === 'missing') return null
  throw error
}

async function beginAnew(store: ObjectStore, known: Marker, file: string, dataDir: string): Promise<number> {
  const incoming = `${file}-incoming`
  const copied = await copyDatabase(store, incoming, async (end) => {
    requireSeen(end, known)
    await writeMarker(dataDir, { ...known, seen: end })
  })
  const { seen } = readMarker(dataDir) ?? known
  await writeMarker(dataDir, { ...known, seen, isWhole: false })
  await dropLocalLog(file)
  if (copied === null) {
    await rm(file, { force: true })
    return 0
  }
  await rename(incoming, file)
  await syncFolder(dirname(file))
  const { number } = copied
  await writeMarker(dataDir, { store: known.store, number, seen: number, isWhole: true })
  return number
}

/** What SQLite had in its log was either shipped, and comes from the store, or never acknowledged. */
async function dropLocalLog(file: string): Promise<void> {
  for (const beside of ['-wal', '-shm', '-journal']) await rm(`${file}${beside}`, { force: true })
}

function requireSeen(end: number, { seen }: Marker): void {
  if (end < seen) throw behind(end, seen)
}
