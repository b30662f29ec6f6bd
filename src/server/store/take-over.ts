import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Config, ConfigError } from '../../config/config.ts'
import { type Db, openDb } from '../../db/open.ts'
import { leaveShippedFile } from '../../db/replication/leave-file.ts'
import { type Marker, writeMarker } from '../../db/replication/marker.ts'
import { type Shipper, startShipping } from '../../db/replication/shipper.ts'
import { AppError } from '../../domain/errors.ts'
import type { Log } from '../../platform/log.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { createSecretBox } from '../../platform/secret-box.ts'
import { readSecretKeys } from '../../platform/secret-keys.ts'
import { ServeError } from '../listeners.ts'
import type { Reason } from './claim.ts'
import { beginEpoch, hasIdentity, refuseOtherKey } from './epoch.ts'
import { keepMarker } from './keep-marker.ts'
import { rememberTakeOver } from './last-primary.ts'

export type Source = { now: () => number; newId: () => string; log: Log }
export type Place = { store: ObjectStore; storeId: string }
/** `number`: what the file of the database is at, exactly; 0 where there is none. */
export type Claim = { number: number; reason: Reason; onDeposed: () => void }

export type Primary = {
  db: Db
  shipper: Shipper
  epoch: number
  secretKeys: readonly string[]
  isDeposed: () => boolean
  /** Ships what is left. The database is closed afterwards. */
  stop(): Promise<void>
  /** Of a deposed one: leaves the file to a follower. What has the database open keeps it as it is. */
  leave(): Promise<void>
}

/**
 * Creates the next number of the log with a new epoch: this machine is primary then. Null where another machine was quicker; the
 * file holds what is in the store in any case. Throws `ConfigError` and `ServeError`.
 */
export async function takeOver(
  config: Config,
  source: Source,
  { store, storeId }: Place,
  { number, reason, onDeposed }: Claim,
): Promise<Primary | null> {
  const { dataDir } = config
  const file = join(dataDir, 'svc.db')
  const openedAt = source.now()
  const leave = (has: number, seen: number) => leaveTo(file, { store: storeId, number: has, seen })
  try {
    // Until the store has what is written now: see `keepMarker`.
    await writeMarker(dataDir, { store: storeId, number: 0, seen: number, isWhole: true })
    const db = openDb(file, openedAt, { isShipped: true })
    const secretKeys = keysFor(config, db, storeId)
    rememberTakeOver(dataDir, store.writer)
    const secrets = createSecretBox(secretKeys)
    const epoch = beginEpoch(db, source, config, { storeId, writer: store.writer, secrets, reason })
    const marker = keepMarker(dataDir, storeId, () => shipper.number)
    const state = { isPrimary: false, isDeposed: false }
    const shipper: Shipper = startShipping(db, {
      store,
      number,
      epoch,
      now: source.now,
      log: source.log,
      wantsBase: number > 0 && wasMigrated(db, openedAt),
      markShipped: (shipped) => marker.has(shipped),
      onDeposed() {
        state.isDeposed = true
        if (state.isPrimary) onDeposed()
      },
    })
    const stop = () => end(shipper, marker)
    state.isPrimary = await ships(shipper).catch(async (error) => {
      await stop()
      throw error
    })
    if (state.isPrimary) await marker.has(number)
    const primary: Primary = {
      db,
      shipper,
      epoch,
      secretKeys,
      isDeposed: () => state.isDeposed,
      stop,
      async leave() {
        const has = marker.fileHas()
        await stop()
        await leave(has, shipper.number)
      },
    }
    if (state.isPrimary) return primary
    await stop()
    await leave(number, number)
    db.close()
    return null
  } catch (error) {
    await leave(number, number)
    throw error
  }
}

/**
 * What has the database open keeps it as it is, and its log, which the store does not have; in its place is what the file has
 * without that.
 */
async function leaveTo(file: string, marker: Omit<Marker, 'isWhole'>): Promise<void> {
  await leaveShippedFile(file)
  await writeMarker(dirname(file), { ...marker, isWhole: false })
}

async function end(shipper: Shipper, marker: ReturnType<typeof keepMarker>): Promise<void> {
  await shipper.stop()
  const isWhole = await shipper.sync().then(
    () => true,
    () => false,
  )
  await marker.stop({ isWhole })
}

const wasMigrated = ({ sqlite }: Db, openedAt: number): boolean =>
  sqlite.query('SELECT 1 FROM schema_migrations WHERE applied_at = ?').get(openedAt) !== null

/** False if another machine created the number. */
async function ships(shipper: Shipper): Promise<boolean> {
  try {
    await shipper.sync()
    return true
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code === 'NOT_PRIMARY') return false
    throw new ServeError(`the object store does not take the log: ${shipper.state().error ?? 'no answer'}`)
  }
}

/** The keys of a machine that may write. Throws `ConfigError` where they are not those of the workspace. */
export function keysFor({ secretKey, dataDir }: Config, db: Db, storeId: string): readonly string[] {
  const keys = secretKey === null ? keysOfFile(join(dataDir, 'secret.key'), db, storeId) : [secretKey]
  refuseOtherKey(db, storeId, createSecretBox(keys))
  return keys
}

/** A new `secret.key` is made only for a workspace that never had one. */
function keysOfFile(path: string, db: Db, storeId: string): readonly string[] {
  if (!existsSync(path) && hasIdentity(db, storeId))
    throw new ConfigError(
      'SECRET_KEY is missing: this machine has neither it nor secret.key, and the workspace was begun with a key. Give this machine the same',
    )
  return readSecretKeys(path)
}
