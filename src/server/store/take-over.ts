import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from '../../config/config.ts'
import { type Db, openDb } from '../../db/open.ts'
import { writeMarker } from '../../db/replication/marker.ts'
import { bringUpToDate } from '../../db/replication/replica.ts'
import { type Shipper, startShipping } from '../../db/replication/shipper.ts'
import { AppError } from '../../domain/errors.ts'
import type { Log } from '../../platform/log.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { createSecretBox } from '../../platform/secret-box.ts'
import { readSecretKeys } from '../../platform/secret-keys.ts'
import { ServeError } from '../listeners.ts'
import { beginEpoch, hasIdentity, refuseLitestream, refuseOtherKey } from './epoch.ts'
import { keepMarker } from './keep-marker.ts'
import { asStartFailure } from './open-store.ts'

export type Source = { now: () => number; newId: () => string; log: Log }
type Place = { store: ObjectStore; storeId: string; onDeposed: () => void }

export type Primary = {
  db: Db
  shipper: Shipper
  epoch: number
  secretKeys: readonly string[]
  /** Ships what is left. The database is closed afterwards. */
  stop(): Promise<void>
}

/** How often another machine may be quicker. */
const TRIES = 20
/** Databases of lost tries. Closing the last connection would copy its log into the file. */
const left: Db[] = []

/**
 * Takes the database from the end of the log and creates the next number with a new epoch: this machine is primary then. Throws
 * `ConfigError` and `ServeError`; nothing in the data directory is touched where it is not a copy of this store.
 */
export async function takeOver(config: Config, source: Source, place: Place): Promise<Primary> {
  for (let tries = 1; ; tries += 1) {
    const primary = await tryOnce(config, source, place, tries === 1)
    if (primary !== undefined) return primary
    if (tries === TRIES)
      throw new ServeError('other machines take over this workspace all the time: stop all but one')
  }
}

async function tryOnce(
  config: Config,
  source: Source,
  { store, storeId, onDeposed }: Place,
  isFirst: boolean,
): Promise<Primary | undefined> {
  const { dataDir } = config
  const file = join(dataDir, 'svc.db')
  const { number } = await asStartFailure(() => bringUpToDate(store, storeId, file, dataDir))
  // Until the store has what is written now: see `keepMarker`.
  await writeMarker(dataDir, { store: storeId, number: 0, seen: number, isWhole: true })
  const openedAt = source.now()
  const db = openDb(file, openedAt, { isShipped: true })
  refuseLitestream(db)
  const secretKeys = keysOf(config, db, storeId)
  if (isFirst) await asStartFailure(() => store.probe(source.newId()))
  const secrets = createSecretBox(secretKeys)
  refuseOtherKey(db, storeId, secrets)
  const epoch = beginEpoch(db, source, config, { storeId, writer: store.writer, secrets })
  const marker = keepMarker(dataDir, storeId, () => shipper.number)
  let isPrimary = false
  const shipper: Shipper = startShipping(db, {
    store,
    number,
    epoch,
    now: source.now,
    log: source.log,
    wantsBase: number > 0 && wasMigrated(db, openedAt),
    markShipped: (shipped) => marker.has(shipped),
    onDeposed: () => isPrimary && onDeposed(),
  })
  if (await ships(shipper)) {
    isPrimary = true
    await marker.has(number)
    return { db, shipper, epoch, secretKeys, stop: () => stop(shipper, marker) }
  }
  // The next try needs another file, as this one's log is still open here.
  await marker.stop({ isWhole: false })
  left.push(db)
  return undefined
}

async function stop(shipper: Shipper, marker: ReturnType<typeof keepMarker>): Promise<void> {
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

/** A new `secret.key` is made only for a workspace that never had one. */
function keysOf({ secretKey, dataDir }: Config, db: Db, storeId: string): readonly string[] {
  if (secretKey !== null) return [secretKey]
  const path = join(dataDir, 'secret.key')
  if (!existsSync(path) && hasIdentity(db, storeId))
    throw new ConfigError(
      'SECRET_KEY is missing: this machine has neither it nor secret.key, and the workspace was begun with a key. Give this machine the same',
    )
  return readSecretKeys(path)
}
