import { isoTime } from '../../domain/iso-time.ts'
import { FILE_FOLDER, LOG_FOLDER, logKey, numberOfLog, PACK_FOLDER } from '../../domain/store-keys.ts'
import type { StoreFile } from '../../platform/object-store/store-file.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { listBases } from '../replication/log-objects.ts'
import { newestBeat } from './newest-beat.ts'

/** contract 18 §1. Times are ISO 8601. */
export type StoreStatus = {
  id: string
  url: string
  format: string
  primary: {
    name: string | null
    url: string | null
    epoch: number
    lastSeenAt: string | null
    isAlive: boolean
  } | null
  log: { first: number | null; last: number | null; bytes: number }
  base: { last: number; bytes: number; at: string | null } | null
  contents: { objects: number; bytes: number }
}

export async function storeStatus(
  store: ObjectStore,
  { id, format }: StoreFile,
  { url, now, silenceMs }: { url: string; now: number; silenceMs: number },
): Promise<StoreStatus> {
  const { modifiedAt, ...log } = await logStatus(store)
  return {
    id,
    url,
    format,
    primary: await primaryOf(store, { last: log.last, modifiedAt, now, silenceMs }),
    log,
    base: await baseStatus(store),
    contents: await contentsStatus(store),
  }
}

/** What is stored, without who writes it. */
export async function storeTotals(
  store: ObjectStore,
): Promise<Pick<StoreStatus, 'log' | 'base' | 'contents'>> {
  const { modifiedAt: _, ...log } = await logStatus(store)
  return { log, base: await baseStatus(store), contents: await contentsStatus(store) }
}

async function baseStatus(store: ObjectStore): Promise<StoreStatus['base']> {
  const base = (await listBases(store)).at(-1)
  return base === undefined ? null : { last: base.number, bytes: base.sizeBytes, at: timeOf(base.modifiedAt) }
}

async function logStatus(store: ObjectStore): Promise<StoreStatus['log'] & { modifiedAt: number | null }> {
  const log = {
    first: null as number | null,
    last: null as number | null,
    bytes: 0,
    modifiedAt: null as number | null,
  }
  for await (const { key, sizeBytes, modifiedAt } of store.list(LOG_FOLDER)) {
    const number = numberOfLog(key)
    if (number === null) continue
    log.first ??= number
    log.last = number
    log.bytes += sizeBytes
    log.modifiedAt = modifiedAt
  }
  return log
}

async function contentsStatus(store: ObjectStore): Promise<StoreStatus['contents']> {
  const contents = { objects: 0, bytes: 0 }
  for (const folder of [PACK_FOLDER, FILE_FOLDER])
    for await (const { sizeBytes } of store.list(folder)) {
      contents.objects += 1
      contents.bytes += sizeBytes
    }
  return contents
}

type Seen = { last: number | null; modifiedAt: number | null; now: number; silenceMs: number }

/** Who wrote the newest number, or a beat since; alive where one of the two is younger than a take-over waits for. */
async function primaryOf(
  store: ObjectStore,
  { last, modifiedAt, now, silenceMs }: Seen,
): Promise<StoreStatus['primary']> {
  if (last === null) return null
  const beat = await newestBeat(store)
  const epoch = Math.max(beat?.epoch ?? 0, (await store.head(logKey(last)))?.epoch ?? 0)
  // What svc store push made was made by no primary.
  if (epoch === 0) return null
  const own = beat?.epoch === epoch ? beat : null
  const lastSeen = Math.max(own?.at ?? 0, modifiedAt ?? 0)
  return {
    name: own?.name ?? null,
    url: own?.url ?? null,
    epoch,
    lastSeenAt: lastSeen === 0 ? null : isoTime(lastSeen),
    isAlive: now - lastSeen < silenceMs && own?.isDown !== true,
  }
}

const timeOf = (at: number | null): string | null => (at === null ? null : isoTime(at))
