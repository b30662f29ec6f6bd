import { SQLiteError } from 'bun:sqlite'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { openFollowed } from '../../db/followed.ts'
import type { Db } from '../../db/open.ts'
import { readMarker } from '../../db/replication/marker.ts'
import { bringUpToDate } from '../../db/replication/replica.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { newSecretKey, readSecretKeys } from '../../platform/secret-keys.ts'
import { readBeat } from './beat.ts'
import { type Reason, reasonAtStart } from './claim.ts'
import { lastEpoch, refuseLitestream } from './epoch.ts'
import { NEWEST_SCHEMA } from './follower-stint.ts'
import { asStartFailure, idOf } from './open-store.ts'
import { keysFor } from './take-over.ts'

/** What a machine finds when it reaches its store. */
export type Arrival = { storeId: string; number: number; reason: Reason | null }

export const databaseFile = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'svc.db')

/**
 * Brings the copy of the database to the end of the log, and says whether and why this machine takes over then. Refuses what must
 * not go on: throws `ConfigError` and `ServeError`. Nobody has the copy open.
 */
export async function arrive(config: Config, store: ObjectStore, newId: () => string): Promise<Arrival> {
  const storeId = await idOf(store)
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const number = await catchUp(config, store, storeId)
  const db = number === 0 ? null : openFollowed(databaseFile(config))
  try {
    const isWriter = config.role !== 'node'
    if (db !== null) refuseLitestream(db)
    if (db !== null && (isWriter || config.tls === 'auto')) keysFor(config, db, storeId)
    if (isWriter) await asStartFailure(() => store.probe(newId()))
    const reason = db !== null && isNewer(db) ? null : await reasonFor(config, store, db)
    return { storeId, number, reason }
  } finally {
    db?.close()
  }
}

/** Returns the end of the log, which the file of the database is at then. */
export async function catchUp(config: Config, store: ObjectStore, storeId: string): Promise<number> {
  const { dataDir } = config
  const { number } = await asStartFailure(() => bringUpToDate(store, storeId, databaseFile(config), dataDir))
  return number
}

/**
 * What a data directory has of its store, where it can be shown without it; else null. A primary that was not stopped has a log
 * beside its file: neither was on the disk for sure when the power went.
 */
export function wholeCopy(config: Config): { db: Db; number: number } | null {
  const marker = readMarker(config.dataDir)
  const file = databaseFile(config)
  if (marker === null || !marker.isWhole || !existsSync(file)) return null
  const wasStopped = !existsSync(`${file}-wal`)
  const db = wasStopped ? openFollowed(file) : openIntact(file)
  return db === null ? null : { db, number: marker.number }
}

/** Null where it is no database, or one whose parts are of different times. */
function openIntact(file: string): Db | null {
  let db: Db | undefined
  try {
    db = openFollowed(file)
    if (isIntact(db)) return db
  } catch (error) {
    if (!(error instanceof SQLiteError)) throw error
  }
  db?.close()
  return null
}

const isIntact = ({ sqlite }: Db): boolean =>
  sqlite.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()?.integrity_check ===
    'ok' && sqlite.query('PRAGMA foreign_key_check').get() === null

/** The keys of a machine that decides nothing by them where it has none. */
export function keysToRead({ secretKey, dataDir }: Config): readonly string[] {
  if (secretKey !== null) return [secretKey]
  const path = join(dataDir, 'secret.key')
  return existsSync(path) ? readSecretKeys(path) : [newSecretKey()]
}

async function reasonFor(config: Config, store: ObjectStore, db: Db | null): Promise<Reason | null> {
  const last = db === null ? undefined : lastEpoch(db.orm)
  const beat = await asStartFailure(() => readBeat(store, last?.epoch ?? 0))
  return reasonAtStart(config, { last, hasSteppedDown: beat?.hasSteppedDown === true })
}

const isNewer = ({ sqlite }: Db): boolean =>
  (sqlite.query<{ name: string | null }, []>('SELECT max(name) AS name FROM schema_migrations').get()?.name ??
    '') > NEWEST_SCHEMA
