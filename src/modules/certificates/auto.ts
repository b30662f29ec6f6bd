import type { Context } from '../../context.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import type { Issued } from '../../platform/acme/order.ts'
import type {
  Certificate,
  CertificateState,
  Certificates,
  ListedCertificate,
  WildcardState,
} from '../../platform/certificates.ts'
import type { CertObjects } from '../../platform/object-store/cert-objects.ts'
import { fractionOf } from '../../platform/random.ts'
import { Authority } from './authority.ts'
import { DnsProofs } from './dns-proofs.ts'
import { type Entry, listOf, newEntry, stateOfEntry } from './host-entry.ts'
import { asAskedAt, emptyRecord, FRESH, forgetAhead, type HostRecord, refuseTooSoon } from './host-record.ts'
import { isAliasHost, publicAliasHosts, type WantedHost, wantedHosts, whyNone } from './hosts.ts'
import { HttpAnswers } from './http-answers.ts'
import { NewHostLimit } from './new-host-limit.ts'
import { noteFailed, noteIssued } from './notes.ts'
import { RenewalAsks } from './renewal-asks.ts'
import { servedOf } from './served.ts'
import { CertificateStore } from './store.ts'
import {
  blockMs,
  dueAt,
  isAuthorityAtFault,
  MAX_AT_ONCE,
  ORDER_MS,
  reasonOf,
  restOfRenewed,
  retryDelayMs,
} from './timing.ts'
import {
  isAtRest,
  isCovered,
  isServedOn,
  namesOf,
  orderedAs,
  servingEntry,
  wildcardHost,
  wildcardStateOf,
} from './wildcard.ts'

export type AutoCertificates = Certificates & { stop(): Promise<void> }

/**
 * Certificates from the authority at `ACME_DIRECTORY`: for the admin host, every proven domain and, a few per hour, the
 * hosts of aliases that are public or visited. Loads the stored ones; orders run in the background until `stop`. With an object
 * store, `objects`, this is for its primary, when the data directory has what the store has.
 */
export function createAutoCertificates(ctx: Context, objects: CertObjects | null = null): AutoCertificates {
  const store = new CertificateStore(ctx.config.dataDir, ctx.secrets, objects)
  const why = whyNone(ctx.config.adminHost)
  if (why !== null) ctx.log.warn('the admin host gets no certificate', { host: ctx.config.adminHost, why })
  return new Auto(ctx, store, { records: store.readHosts(ctx.log), objects })
}

const ROUND_MS = 30_000
/** How long the person who presses the button waits for the result. */
const ANSWER_MS = 10_000
/** A server that is killed during an order again and again must not ask each time. */
const CRASH_DELAY_MS = MINUTE_MS

class Auto implements AutoCertificates {
  readonly #ctx: Context
  readonly #store: CertificateStore
  readonly #objects: CertObjects | null
  readonly #authority: Authority
  readonly #stopping = new AbortController()
  readonly #entries = new Map<string, Entry>()
  readonly #http: HttpAnswers
  readonly #dns: DnsProofs
  readonly #listeners = new Set<() => unknown>()
  readonly #timer: ReturnType<typeof setInterval>
  readonly #limit: NewHostLimit
  readonly #renewals: RenewalAsks
  #all: readonly Certificate[] | null = null
  #removals: Promise<void> = Promise.resolve()

  constructor(
    ctx: Context,
    store: CertificateStore,
    { records, objects }: { records: readonly HostRecord[]; objects: CertObjects | null },
  ) {
    this.#ctx = ctx
    this.#store = store
    this.#objects = objects
    this.#authority = new Authority(ctx, store, this.#stopping.signal)
    this.#http = new HttpAnswers(ctx.log, objects)
    this.#dns = new DnsProofs(ctx, store, this.#stopping.signal, (record) => store.saveHost(record))
    for (const record of records)
      this.#entries.set(record.host, newEntry(asAskedAt(record, ctx.config.acmeDirectory)))
    this.#limit = NewHostLimit.ofRecords(records)
    this.#renewals = new RenewalAsks({
      ctx,
      authority: this.#authority,
      stopping: this.#stopping.signal,
      resting: () =>
        [...this.#entries.values()].flatMap(({ run, record }) =>
          run === null && !isAtRest(ctx.config, record.host) ? record : [],
        ),
      chosen: (record) => this.#renewalChosen(record),
    })
    this.#timer = setInterval(() => this.hostsChanged(), ROUND_MS)
    setTimeout(() => this.hostsChanged(), 0)
    for (const { record } of this.#entries.values())
      this.#dns.cleanUp(record).catch((error) => ctx.log.warn('the DNS could not be tidied', { error }))
  }

  all(): readonly Certificate[] {
    this.#all ??= servedOf([...this.#entries.values()].map(({ record }) => record))
    return this.#all
  }

  stateOf(host: string): CertificateState {
    const entry = servingEntry(this.#ctx.config, host, (name) => this.#entries.get(name))
    if (entry === undefined) {
      const error = whyNone(host)
      return { status: error === null ? 'pending' : 'failed', expiresAt: null, error }
    }
    return stateOfEntry(entry, this.#ctx.now())
  }

  challengeAnswer(host: string, token: string): string | undefined {
    return this.#http.of(host, token)
  }

  onChange(listener: () => unknown): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  hostsChanged(): void {
    if (this.#stopping.signal.aborted) return
    try {
      this.#adopt(wantedHosts(this.#ctx))
      for (const { record } of this.#entries.values()) forgetAhead(record, this.#ctx.now())
      this.#adoptPublicAliases(this.#ctx.now())
      this.#storeAgain()
      this.#startDue()
      this.#askRenewals()
    } catch (error) {
      this.#ctx.log.error('the hosts that need a certificate could not be read', { error })
    }
  }

  async tryNow(host: string): Promise<void> {
    this.hostsChanged()
    const entry = this.#entries.get(orderedAs(this.#ctx.config, host))
    if (entry === undefined)
      throw new AppError('conflict', whyNone(host) ?? `${host} gets a certificate once it is verified`)
    const { record, run } = entry
    if (run === null && record.certificate !== null && record.error === null) return
    if (run === null) refuseTooSoon(record, this.#ctx.now())
    await Promise.race([run?.ended ?? this.#askNow(entry), Bun.sleep(ANSWER_MS)])
  }

  #askNow(entry: Entry): Promise<void> {
    const asked = entry.asked ?? Promise.withResolvers<void>()
    entry.asked = asked
    this.#authority.forgivePause()
    this.#startDue()
    return asked.promise
  }

  visited(host: string): void {
    if (this.#entries.has(host) || isCovered(this.#ctx.config, host) || this.#stopping.signal.aborted) return
    const now = this.#ctx.now()
    if (!this.#limit.mayAskForAlias(now, { isVisited: true }) || !isAliasHost(this.#ctx, host)) return
    this.#adoptAlias(host, now)
    this.#startDue()
  }

  takeVisited(): string[] {
    return []
  }

  list(): ListedCertificate[] {
    const wildcard = wildcardHost(this.#ctx.config)
    const own = [...this.#entries.values()].filter(({ record }) => record.host !== wildcard)
    return listOf(own, this.#ctx.now())
  }

  wildcard(): WildcardState | null {
    const host = wildcardHost(this.#ctx.config)
    const entry = this.#entries.get(host ?? '') ?? newEntry(emptyRecord(host ?? ''))
    return host === null ? null : wildcardStateOf(entry, this.#ctx.config, this.#ctx.now())
  }

  async retryWildcard(): Promise<void> {
    const host = wildcardHost(this.#ctx.config)
    if (host !== null) await this.tryNow(host)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stopping.abort(new Error('The server is stopping'))
    const runs = [...this.#entries.values()].map(({ run }) => run?.ended)
    await Promise.all([...runs, this.#removals, this.#renewals.ended()])
  }

  /** Adds new hosts and drops unneeded ones. Keeps the order of `wanted`, so that the admin host comes first. */
  #adopt(wanted: readonly WantedHost[]): void {
    const before = new Map(this.#entries)
    this.#entries.clear()
    for (const { host, projectId } of wanted) {
      const entry = before.get(host) ?? newEntry(emptyRecord(host))
      entry.projectId = projectId
      entry.record.isAlias = false
      this.#entries.set(host, entry)
      before.delete(host)
    }
    let isChanged = false
    for (const [host, entry] of before) {
      if (this.#isKept(entry)) {
        this.#entries.set(host, entry)
        continue
      }
      this.#drop(entry)
      isChanged ||= entry.record.certificate !== null
    }
    if (isChanged) void this.#changed()
  }

  #isKept({ record }: Entry): boolean {
    const { config } = this.#ctx
    if (!isAtRest(config, record.host)) return record.isAlias && isAliasHost(this.#ctx, record.host)
    return isServedOn(config, record, { now: this.#ctx.now(), find: (host) => this.#entries.get(host) })
  }

  #adoptPublicAliases(now: number): void {
    if (wildcardHost(this.#ctx.config) !== null) return
    const mayAsk = () => this.#limit.mayAskForAlias(now, { isVisited: false })
    if (!mayAsk()) return
    for (const host of publicAliasHosts(this.#ctx)) {
      if (this.#entries.has(host)) continue
      if (!mayAsk()) return
      this.#adoptAlias(host, now)
    }
  }

  #adoptAlias(host: string, now: number): void {
    this.#limit.note({ at: now, isAlias: true, projectId: null })
    this.#entries.set(host, newEntry({ ...emptyRecord(host), isAlias: true, firstTriedAt: now }))
  }

  #drop({ record, run }: Entry): void {
    run?.giveUp.abort(new Error(`${record.host} no longer needs a certificate`))
    if (record.certificate !== null) this.#ctx.log.info('certificate dropped', { host: record.host })
    this.#removals = Promise.all([this.#removals, run?.ended])
      .then(() => (this.#entries.has(record.host) ? undefined : this.#store.removeHost(record.host)))
      .catch((error) =>
        this.#ctx.log.error('a certificate could not be removed', { host: record.host, error }),
      )
  }

  /** First the hosts that somebody waits for, then renewals, then the rest in their order. */
  #startDue(): void {
    const now = this.#ctx.now()
    if (this.#stopping.signal.aborted || this.#isStoreAway()) return
    const due = [...this.#entries.values()].filter((entry) => this.#isDue(entry, now))
    const importance = ({ asked, record }: Entry) =>
      asked !== null ? 0 : record.certificate !== null ? 1 : 2
    let free = MAX_AT_ONCE - [...this.#entries.values()].filter(({ run }) => run !== null).length
    for (const entry of due.sort((a, b) => importance(a) - importance(b))) {
      if (free <= 0) return
      const isNew = entry.record.firstTriedAt === null
      if (isNew && !this.#limit.mayAsk(now, entry.projectId)) continue
      free -= 1
      this.#start(entry, now)
    }
  }

  #isDue({ record, run, asked }: Entry, now: number): boolean {
    if (run !== null || this.#authority.isPaused(now) || isAtRest(this.#ctx.config, record.host)) return false
    return asked !== null || dueAt(record, this.#ctx.config.acmeDirectory) <= now
  }

  #askRenewals(): void {
    if (!this.#isStoreAway()) this.#renewals.look()
  }

  /** Without it on the disk the authority is asked again after a restart. */
  #renewalChosen(record: HostRecord): void {
    const entry = this.#entries.get(record.host)
    if (entry?.record !== record) return
    if (entry.run === null) this.#store.saveHost(record).catch((error) => this.#notStored(entry, error))
    this.#startDue()
  }

  /** What is ordered then could not be kept, and no other machine would serve it. */
  #isStoreAway(): boolean {
    return this.#objects !== null && this.#ctx.db.log.refusal() !== null
  }

  #start(entry: Entry, now: number): void {
    const { record } = entry
    if (record.firstTriedAt === null) {
      record.firstTriedAt = now
      this.#limit.note({ at: now, isAlias: false, projectId: entry.projectId })
    }
    record.triedAt = now
    record.nextTryAt = now + CRASH_DELAY_MS
    record.directory = this.#ctx.config.acmeDirectory
    const { asked } = entry
    entry.asked = null
    const giveUp = new AbortController()
    const ended = this.#run(entry, giveUp.signal).then(() => {
      entry.run = null
      asked?.resolve()
      this.#startDue()
      this.#askRenewals()
    })
    entry.run = { giveUp, ended }
  }

  /** Never rejects: failures are recorded. */
  async #run(entry: Entry, gaveUp: AbortSignal): Promise<void> {
    const { record } = entry
    const { config } = this.#ctx
    const isWildcard = record.host === wildcardHost(config)
    const limitMs = ORDER_MS + (isWildcard ? config.acmeDnsTimeoutSeconds * 1000 : 0)
    const signal = AbortSignal.any([gaveUp, this.#stopping.signal, AbortSignal.timeout(limitMs)])
    try {
      await this.#store.saveHost(record)
      const issued = await this.#authority.order(namesOf(record.host), {
        solver: isWildcard ? this.#dns.solverOf(record) : this.#http.solverOf(record.host),
        replaced: record.certificate,
        signal,
      })
      if (gaveUp.aborted) return
      await this.#issued(entry, issued)
    } catch (error) {
      if (gaveUp.aborted || this.#stopping.signal.aborted) return
      await this.#failed(entry, signal.aborted ? signal.reason : error)
    }
  }

  async #issued(entry: Entry, issued: Issued): Promise<void> {
    const { record, projectId } = entry
    const isRenewal = record.certificate !== null
    const certificate = { ...issued, directory: record.directory }
    const nextTryAt = restOfRenewed(record.certificate, certificate, this.#ctx.now())
    const next = { ...record, ...FRESH, nextTryAt, certificate, renewal: null }
    await this.#store.saveHost(next).catch((error) => this.#notStored(entry, error))
    Object.assign(record, next)
    entry.isOpening = !isRenewal
    await this.#changed()
    entry.isOpening = false
    // Those of single hosts that it covers are dropped.
    if (record.host === wildcardHost(this.#ctx.config)) setTimeout(() => this.hostsChanged(), 0)
    noteIssued(this.#ctx, { host: record.host, projectId, isRenewal }, issued)
  }

  async #failed(entry: Entry, error: unknown): Promise<void> {
    const { record, projectId } = entry
    const now = this.#ctx.now()
    const leftMs = (record.certificate?.expiresAt ?? now) - now
    record.failures += 1
    record.error = reasonOf(error)
    record.blockedUntil = now + blockMs(error)
    const isElsewhere = isAuthorityAtFault(error)
    const random = fractionOf(this.#ctx.newId())
    const delay = retryDelayMs({ failures: record.failures, leftMs, isElsewhere, random })
    record.nextTryAt = Math.max(record.blockedUntil, now + delay)
    if (isElsewhere) this.#authority.pause(now)
    await this.#store.saveHost(record).catch((cause) => this.#notStored(entry, cause))
    noteFailed(this.#ctx, { host: record.host, projectId }, record, error)
  }

  /** A certificate that was issued is served, and a failure counts, even when the disk is full. */
  #notStored(entry: Entry, error: unknown): void {
    entry.isUnstored = this.#objects !== null
    const { host } = entry.record
    this.#ctx.log.error('the result of a certificate order could not be stored', { host, error })
  }

  #storeAgain(): void {
    for (const entry of this.#entries.values()) {
      if (!entry.isUnstored || entry.run !== null || this.#isStoreAway()) continue
      entry.isUnstored = false
      this.#store.saveHost(entry.record).catch((error) => this.#notStored(entry, error))
    }
  }

  async #changed(): Promise<void> {
    this.#all = null
    await Promise.all([...this.#listeners].map((listener) => this.#tell(listener)))
  }

  async #tell(listener: () => unknown): Promise<void> {
    try {
      await listener()
    } catch (error) {
      this.#ctx.log.error('a changed certificate could not be loaded', { error })
    }
  }
}
