import { join } from 'node:path'
import { migrations } from '../../../migrations/index.ts'
import type { Machine } from '../../context.ts'
import { type Db, openDb } from '../../db/open.ts'
import { type Following, startFollowing } from '../../db/replication/follower.ts'
import type { LogError } from '../../db/replication/log-error.ts'
import { type Beat, newestBeat } from '../../db/stored-workspace/newest-beat.ts'
import { notPrimary } from '../../domain/store-errors.ts'
import { newSecretKey } from '../../platform/secret-keys.ts'
import { createFollowerApp, type Followed } from '../machines/follower-app.ts'
import { contextOn } from '../open-context.ts'
import { lastEpoch } from './epoch.ts'
import { noDuties, roleOfFollower, type Station, type Stint } from './stint.ts'

export const NEWEST_SCHEMA = migrations.at(-1)?.name ?? ''

export type FollowerStint = Stint & {
  readonly following: Following
  /** Who is primary by its own word, for a machine that cannot read the log any more. */
  askBeat(): Promise<void>
}

/** This machine follows the log of another. `db` is its copy, exactly at `number`. */
export function followerStint(
  station: Station,
  at: { db: Db; number: number; storeId: string; secretKeys: readonly string[] },
  onStuck: (error: LogError) => void,
): FollowerStint {
  const { config, store, parts } = station
  const { db, number, storeId } = at
  const following = startFollowing({
    db,
    file: join(config.dataDir, 'svc.db'),
    dataDir: config.dataDir,
    store,
    storeId,
    number,
    pollMs: config.storePollMs,
    log: parts.log,
    newestSchema: NEWEST_SCHEMA,
    onStuck,
  })
  const own = answering(station, { ...at, following }, () => following.state())
  let beat: Beat | null = null
  return {
    ...own,
    primary: () =>
      beat === null || beat.epoch <= own.epoch() ? own.primary() : { name: beat.name ?? '', url: beat.url },
    following,
    async askBeat() {
      beat = await newestBeat(store)
    },
    stop: () => following.stop(),
  }
}

/** The store is not reached: what this machine has is shown as it is. */
export function offlineStint(
  station: Station,
  at: { db: Db; number: number; secretKeys: readonly string[] },
  error: string,
): Stint {
  const since = performance.now()
  const state = () => ({
    number: at.number,
    unshippedBytes: 0,
    lagMs: Math.round(performance.now() - since),
    isStoreUp: false,
    error,
  })
  return { ...answering(station, { ...at, following: unheard(at.number) }, state), stop: async () => {} }
}

/** The store has no workspace yet, and this machine is not the one to begin it. */
export function emptyStint(station: Station): Stint {
  const db = openDb(':memory:', station.parts.now())
  db.log = { ...db.log, refusal: notPrimary, sync: () => Promise.reject(notPrimary()) }
  const state = () => ({ number: 0, unshippedBytes: 0, lagMs: 0, isStoreUp: true, error: null })
  // As of a schema that has nothing yet.
  const following = { ...unheard(0), isOlder: true }
  const at = { db, secretKeys: [newSecretKey()], following }
  return { ...answering(station, at, state), stop: async () => {} }
}

/** Of the log of a store that is not read. */
const unheard = (number: number): Followed => ({
  number,
  isNewer: false,
  isOlder: false,
  currentAt: Number.NEGATIVE_INFINITY,
  reached: async () => false,
})

function answering(
  { config, parts, machine }: Station,
  { db, secretKeys, following }: { db: Db; secretKeys: readonly string[]; following: Followed },
  state: Machine['state'],
): Omit<Stint, 'stop'> {
  const ctx = contextOn(parts, { db, secretKeys, machine })
  const app = createFollowerApp(ctx, machine, { following })
  const last = lastEpochKept(db)
  return {
    ...noDuties,
    ctx,
    app,
    role: () => roleOfFollower(config),
    epoch: () => last()?.epoch ?? 0,
    primary() {
      const epoch = last()
      return epoch === undefined ? null : { name: epoch.machine, url: epoch.url }
    },
    state,
    close() {
      app.close()
      db.close()
    },
  }
}

/** Read again only when something was written. */
function lastEpochKept(db: Db): () => ReturnType<typeof lastEpoch> {
  let writes = -1
  let kept: ReturnType<typeof lastEpoch>
  return () => {
    if (writes !== db.writes) {
      kept = lastEpoch(db.orm)
      writes = db.writes
    }
    return kept
  }
}
