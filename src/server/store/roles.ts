import type { Config } from '../../config/config.ts'
import type { Machine } from '../../context.ts'
import { openFollowed } from '../../db/followed.ts'
import { leaveShippedFile } from '../../db/replication/leave-file.ts'
import type { LogError } from '../../db/replication/log-error.ts'
import { findBeginning } from '../../db/replication/replica.ts'
import { messageOf } from '../../domain/errors.ts'
import type { Log } from '../../platform/log.ts'
import type { StoreActivity } from '../../platform/object-store/activity.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { ServeError } from '../listeners.ts'
import { startFollowerDuties } from '../machines/follower-duties.ts'
import { openParts, type ProcessParts, systemNow } from '../open-context.ts'
import { prepare } from '../prepare.ts'
import type { Serving } from '../serving.ts'
import type { Workspace } from '../workspace.ts'
import { arrive, catchUp, databaseFile, keysToRead, wholeCopy } from './arrive.ts'
import { askToGiveWay } from './beat.ts'
import type { Reason } from './claim.ts'
import { openControl } from './control.ts'
import { emptyStint, type FollowerStint, followerStint, offlineStint } from './follower-stint.ts'
import { idOf } from './open-store.ts'
import { type PrimaryStint, primaryStint } from './primary-stint.ts'
import { Silence } from './silence.ts'
import { roleOfFollower, type Station, type Stint } from './stint.ts'
import { type Primary, takeOver } from './take-over.ts'

export type RolesOptions = {
  config: Config
  version: string
  write: (text: string) => void
  log: Log
  store: ObjectStore
  activity: StoreActivity
}

/** What a machine does at the moment, and what of it may make it do something else. */
type Current = { kind: 'primary'; stint: PrimaryStint } | { kind: 'offline'; stint: Stint } | Following

/** It has the copy of the database, or the store has none yet. */
type Following =
  | { kind: 'follower'; stint: FollowerStint; storeId: string }
  | { kind: 'empty'; stint: Stint; storeId: string }

const LOOK_MS = 1_000
/** Work of a deposed primary may take so long to end. */
const LEAVE_MS = 3_000
/** Requests that began before a change of the role have so long to end. */
const RETIRE_MS = 60_000
const STOP_MS = 2_000
/** How often other machines may be quicker at the start of one that is to be primary. */
const TRIES = 20

/** Takes the role of this machine, and changes it, without a restart. contract 18 §5. */
export class Roles implements Workspace {
  readonly #options: RolesOptions
  readonly #machine: Machine
  readonly #silence: Silence
  #opened: (ProcessParts & { listensOn(port: number): void }) | undefined
  #current: Current | undefined
  #serving: Serving | undefined
  #hasBegun = false
  #isLooking = false
  #isStopping = false
  #changing: Promise<void> | undefined
  /** What to do at the next look, as it failed before. */
  #again: (() => Promise<Current>) | undefined
  #failure: string | undefined
  #looks: ReturnType<typeof setInterval> | undefined
  #stopControl = async () => {}
  #stopFollowerDuties = async () => {}

  constructor(options: RolesOptions) {
    const { config, store, activity } = options
    this.#options = options
    this.#silence = new Silence(store, config.takeoverSeconds * 1_000)
    const stint = () => this.#current?.stint
    this.#machine = {
      name: config.machineName,
      role: () => stint()?.role() ?? roleOfFollower(config),
      epoch: () => stint()?.epoch() ?? 0,
      primary: () => stint()?.primary() ?? null,
      state: () => stint()?.state() ?? NOTHING_KNOWN,
      heardAt: () => activity.heardAt,
      store,
      activity,
    }
  }

  get serving(): Serving {
    if (this.#serving === undefined) throw new Error('nothing is served before the start')
    return this.#serving
  }

  listensOn(port: number): void {
    this.#opened?.listensOn(port)
  }

  /** Throws `ConfigError` and `ServeError`. */
  async start(): Promise<void> {
    const starting = this.#start()
    const ended = starting.catch(() => {}).finally(() => this.#hasChanged(ended))
    this.#changing = ended
    await starting
  }

  async begin(): Promise<void> {
    this.#hasBegun = true
    await this.#current?.stint.begin()
    this.#stopControl = openControl(() => this.serving.ctx)
    this.#stopFollowerDuties = startFollowerDuties(() => this.serving.ctx)
    this.#looks = setInterval(() => this.#look(), LOOK_MS)
    this.#looks.unref()
  }

  async end(): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#looks)
    await Promise.all([this.#stopControl(), this.#stopFollowerDuties(), this.#changing])
    await this.#current?.stint.end()
  }

  async close(): Promise<void> {
    await Promise.race([this.#changing, Bun.sleep(STOP_MS)])
    await this.#current?.stint.stop()
    this.#opened?.close()
    this.#current?.stint.close()
  }

  async #start(): Promise<void> {
    this.#current = (await this.#offline()) ?? (await this.#arrive())
    const { stint } = this.#current
    const storage = { store: this.#options.store, epoch: () => this.#machine.epoch() }
    this.#serving = { ctx: stint.ctx, app: stint.app, storage, certificates: null }
    this.#tell()
  }

  /** Where the store is not reached, and what is here can be shown all the same. */
  async #offline(): Promise<Current | null> {
    const { config, store, log } = this.#options
    const error = await findBeginning(store).then(
      () => null,
      (failure: unknown) => failure,
    )
    if (!(error instanceof Error) || !('isTransient' in error) || error.isTransient !== true) return null
    const copy = wholeCopy(config)
    if (copy === null) return null
    log.error('the object store is not reached: this machine shows what it has', { error })
    const at = { ...copy, secretKeys: keysToRead(config) }
    return { kind: 'offline', stint: offlineStint(await this.#station(), at, messageOf(error)) }
  }

  async #arrive(): Promise<Current> {
    const { config, store } = this.#options
    for (let tries = 1; ; tries += 1) {
      const { storeId, number, reason } = await arrive(config, store, Bun.randomUUIDv7)
      if (reason === null) return this.#followFrom(storeId, number)
      const primary = await this.#claim(storeId, number, reason)
      if (primary !== null) return this.#lead(primary)
      if (config.role !== 'primary') return this.#follow(storeId)
      if (tries === TRIES)
        throw new ServeError('other machines take over this workspace all the time: stop all but one')
      await askToGiveWay(store, config.machineName).catch(() => {})
    }
  }

  #claim(storeId: string, number: number, reason: Reason): Promise<Primary | null> {
    const { config, log, store } = this.#options
    const source = { now: systemNow, newId: Bun.randomUUIDv7, log }
    const onDeposed = () => this.#deposed(storeId)
    return takeOver(config, source, { store, storeId }, { number, reason, onDeposed })
  }

  async #lead(primary: Primary): Promise<Current> {
    const stint = primaryStint(await this.#station(), primary)
    await prepare(stint.ctx).catch((error) => {
      if (!this.#hasBegun) throw error
      this.#options.log.error('a new primary did not do all that its settings ask for', { error })
    })
    return { kind: 'primary', stint }
  }

  /** Nobody has the file of the database open. */
  async #follow(storeId: string): Promise<Current> {
    const { config, store } = this.#options
    return this.#followFrom(storeId, await catchUp(config, store, storeId))
  }

  async #followFrom(storeId: string, number: number): Promise<Current> {
    const { config } = this.#options
    const station = await this.#station()
    if (number === 0) return { kind: 'empty', stint: emptyStint(station), storeId }
    const db = openFollowed(databaseFile(config))
    const at = { db, number, storeId, secretKeys: keysToRead(config) }
    const onStuck = (error: LogError) => this.#stuck(storeId, error)
    return { kind: 'follower', stint: followerStint(station, at, onStuck), storeId }
  }

  async #station(): Promise<Station> {
    const { config, version, write, store } = this.#options
    const ofStore = { store, epoch: () => this.#machine.epoch() }
    this.#opened ??= await openParts(config, { version, write, store: ofStore })
    return { config, parts: this.#opened, machine: this.#machine, store }
  }

  /** From the shipper, at most once a stint. */
  #deposed(storeId: string): void {
    const follow = () => this.#follow(storeId)
    this.#change(async () => {
      const before = this.#current
      if (before?.kind === 'primary') {
        await Promise.race([before.stint.end(), Bun.sleep(LEAVE_MS)])
        await before.stint.leave()
      }
      return follow()
    }, follow)
  }

  #stuck(storeId: string, error: LogError): void {
    if (!error.isMended) return
    const anew = async () => {
      const before = this.#current
      if (before?.kind === 'follower') await before.stint.stop()
      await leaveShippedFile(databaseFile(this.#options.config))
      return this.#follow(storeId)
    }
    this.#change(anew, anew)
  }

  async #takeOver(before: Following, reason: Reason): Promise<Current> {
    const { storeId, stint } = before
    await stint.stop()
    try {
      const primary = await this.#claim(storeId, stint.state().number, reason)
      if (primary !== null) return await this.#lead(primary)
    } catch (error) {
      this.#options.log.error('this machine could not take over', { error })
    }
    return this.#follow(storeId)
  }

  /** Never rejects. What fails is done again by `again`. */
  #change(work: () => Promise<Current>, again: () => Promise<Current>): void {
    const before = this.#changing ?? Promise.resolve()
    const changing = before
      .then(() => (this.#isStopping ? undefined : work()))
      .then((next) => next && this.#become(next))
      .catch((error: unknown) => this.#failed(error, again))
      .finally(() => this.#hasChanged(changing))
    this.#changing = changing
  }

  #hasChanged(changing: Promise<void>): void {
    if (this.#changing === changing) this.#changing = undefined
  }

  async #become(next: Current): Promise<void> {
    const before = this.#current
    this.#current = next
    this.#again = undefined
    this.#failure = undefined
    this.#serve(next.stint)
    this.#tell()
    if (this.#hasBegun) await next.stint.begin()
    if (before !== undefined) setTimeout(() => before.stint.close(), RETIRE_MS).unref()
  }

  /** From now on requests are answered by this one. */
  #serve({ ctx, app }: Stint): void {
    const { serving } = this
    serving.ctx = ctx
    serving.app = app
    serving.certificates?.serveFor(ctx, serving.storage).catch((error) => {
      this.#options.log.error('the certificates of the new role cannot be used', { error })
    })
  }

  #failed(error: unknown, again: () => Promise<Current>): void {
    this.#again = again
    const failure = messageOf(error)
    if (this.#failure !== failure)
      this.#options.log.error('this machine could not change its role; trying again', { error })
    this.#failure = failure
  }

  #tell(): void {
    const { log, config } = this.#options
    const epoch = this.#machine.epoch()
    if (this.#current?.kind === 'primary')
      log.info('this machine is the primary of the workspace', { machine: config.machineName, epoch })
    else
      log.info('this machine follows the primary of the workspace', {
        machine: config.machineName,
        primary: this.#machine.primary()?.name ?? null,
        epoch,
      })
  }

  #look(): void {
    if (this.#changing !== undefined || this.#isLooking || this.#isStopping) return
    if (this.#again !== undefined) {
      this.#change(this.#again, this.#again)
      return
    }
    this.#isLooking = true
    void this.#lookAround()
      // The store does not answer.
      .catch(() => {})
      .finally(() => {
        this.#isLooking = false
      })
  }

  async #lookAround(): Promise<void> {
    const current = this.#current
    if (current === undefined || current.kind === 'primary') return
    if (current.kind === 'offline') return this.#lookForStore()
    if (current.kind === 'empty' && (await findBeginning(this.#options.store)) !== null) {
      const follow = () => this.#follow(current.storeId)
      return this.#change(follow, follow)
    }
    if (current.kind === 'follower' && current.stint.following.isNewer) return current.stint.askBeat()
    if (this.#options.config.role !== 'node') await this.#lookForPrimary(current)
  }

  async #lookForStore(): Promise<void> {
    const { config, store } = this.#options
    await idOf(store)
    const returning = async () => {
      await leaveShippedFile(databaseFile(config))
      return this.#arrive()
    }
    this.#change(returning, returning)
  }

  async #lookForPrimary(current: Following): Promise<void> {
    const { stint, storeId } = current
    const found = await this.#silence.look(() => {
      const { number, isStoreUp, error } = stint.state()
      return { number, epoch: stint.epoch(), isStoreUp: isStoreUp && error === null }
    })
    if (found === 'alive' || this.#current !== current) return
    const reason = found === 'silent' ? 'silence' : 'handover'
    this.#change(
      () => this.#takeOver(current, reason),
      () => this.#follow(storeId),
    )
  }
}

const NOTHING_KNOWN = { number: 0, unshippedBytes: 0, lagMs: 0, isStoreUp: true, error: null }
