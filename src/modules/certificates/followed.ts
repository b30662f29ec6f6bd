import type { Context } from '../../context.ts'
import type { Db } from '../../db/open.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import { messageOf } from '../../domain/errors.ts'
import { notPrimary } from '../../domain/store-errors.ts'
import type {
  Certificate,
  CertificateState,
  ListedCertificate,
  WildcardState,
} from '../../platform/certificates.ts'
import type { CertObjects } from '../../platform/object-store/cert-objects.ts'
import { Answers } from './answers.ts'
import type { AutoCertificates } from './auto.ts'
import { type Entry, listOf, newEntry, stateOfEntry } from './host-entry.ts'
import { emptyRecord, type HostRecord } from './host-record.ts'
import { whyNone } from './hosts.ts'
import { servedOf } from './served.ts'
import { CertificateStore } from './store.ts'
import { servingEntry, wildcardHost, wildcardStateOf } from './wildcard.ts'

/** How often it is looked whether the log tells of a new certificate. */
const LOOK_MS = 1_000
/** What the log does not tell: a host that needs none any more, an audit entry that could not be written. */
const ROUND_MS = MINUTE_MS
const RETRY_MS = 5_000
/** More than are ordered in an hour. */
const MAX_VISITED = 50

/**
 * The certificates in the object store, for a machine that orders none. A primary begins as one, too: it must not order what
 * the store has.
 */
export class FollowedCertificates implements AutoCertificates {
  /** Resolves when the store was read for the first time; never after `stop`. */
  readonly whole: Promise<void>
  readonly #ctx: Context
  readonly #store: CertificateStore
  readonly #answers: Answers
  readonly #isPrimary: boolean
  readonly #visited = new Set<string>()
  readonly #listeners = new Set<() => unknown>()
  readonly #timer: ReturnType<typeof setInterval>
  readonly #read = Promise.withResolvers<void>()
  #records: Map<string, HostRecord>
  #all: readonly Certificate[]
  #looking: Promise<void> = Promise.resolve()
  #isLooking = false
  #isStopped = false
  #writes: number
  #order: string
  #lookAt = 0

  /** Serves what is in the data directory at once. */
  constructor(ctx: Context, objects: CertObjects, { isPrimary }: { isPrimary: boolean }) {
    this.#ctx = ctx
    this.#store = new CertificateStore(ctx.config.dataDir, ctx.secrets, objects)
    this.#answers = new Answers(objects)
    this.#isPrimary = isPrimary
    this.#records = this.#stored()
    this.#all = servedOf(this.#records.values())
    this.#writes = ctx.db.writes
    this.#order = newestOrder(ctx.db)
    this.whole = this.#read.promise
    this.#timer = setInterval(() => this.#tick(), LOOK_MS)
    this.#look()
  }

  all(): readonly Certificate[] {
    return this.#all
  }

  stateOf(host: string): CertificateState {
    const entry = servingEntry(this.#ctx.config, host, (name) => this.#entryOf(name))
    if (entry !== undefined) return stateOfEntry(entry, this.#ctx.now())
    const error = whyNone(host)
    return { status: error === null ? 'pending' : 'failed', expiresAt: null, error }
  }

  async challengeAnswer(host: string, token: string): Promise<string | undefined> {
    const isOurs = host === this.#ctx.config.adminHost || this.#ctx.siteAt(host) !== null
    return isOurs && !this.#isStopped ? this.#answers.of(host, token) : undefined
  }

  onChange(listener: () => unknown): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  hostsChanged(): void {}

  async tryNow(): Promise<void> {
    throw notPrimary()
  }

  visited(host: string): void {
    if (this.#visited.size < MAX_VISITED) this.#visited.add(host)
  }

  takeVisited(): string[] {
    const visited = [...this.#visited]
    this.#visited.clear()
    return visited
  }

  list(): ListedCertificate[] {
    const wildcard = wildcardHost(this.#ctx.config)
    const own = [...this.#records.values()].filter(({ host }) => host !== wildcard)
    return listOf(own.map(newEntry), this.#ctx.now())
  }

  wildcard(): WildcardState | null {
    const host = wildcardHost(this.#ctx.config)
    if (host === null) return null
    const entry = this.#entryOf(host) ?? newEntry(emptyRecord(host))
    return wildcardStateOf(entry, this.#ctx.config, this.#ctx.now())
  }

  async retryWildcard(): Promise<void> {
    throw notPrimary()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    await this.#looking
  }

  #tick(): void {
    try {
      if (performance.now() >= this.#lookAt || this.#isTold()) this.#look()
    } catch (error) {
      this.#ctx.log.error('it could not be read whether there are new certificates', { error })
    }
  }

  /** The primary writes an audit entry with each certificate, once the store has it. */
  #isTold(): boolean {
    const { db } = this.#ctx
    if (db.writes === this.#writes) return false
    this.#writes = db.writes
    const order = newestOrder(db)
    if (order === this.#order) return false
    this.#order = order
    return true
  }

  #look(): void {
    if (this.#isLooking || this.#isStopped) return
    this.#isLooking = true
    this.#lookAt = performance.now() + ROUND_MS
    this.#looking = this.#pull().finally(() => {
      this.#isLooking = false
    })
  }

  /** Never rejects. */
  async #pull(): Promise<void> {
    try {
      const isChanged = await this.#store.pull({ isPrimary: this.#isPrimary })
      if (isChanged && !this.#isStopped) await this.#changed()
      this.#read.resolve()
    } catch (error) {
      this.#lookAt = performance.now() + RETRY_MS
      if (!this.#isStopped)
        this.#ctx.log.warn('certificates could not be read from the object store', { why: messageOf(error) })
    }
  }

  async #changed(): Promise<void> {
    this.#records = this.#stored()
    this.#all = servedOf(this.#records.values())
    await Promise.all([...this.#listeners].map((listener) => listener()))
  }

  #entryOf(host: string): Entry | undefined {
    const record = this.#records.get(host)
    return record && newEntry(record)
  }

  #stored(): Map<string, HostRecord> {
    return new Map(this.#store.readHosts(this.#ctx.log).map((record) => [record.host, record]))
  }
}

function newestOrder({ sqlite }: Db): string {
  const newest = sqlite.query<{ id: string }, [string]>(
    'SELECT id FROM audit_log WHERE action = ? ORDER BY at DESC, id DESC LIMIT 1',
  )
  return ['certificate.issue', 'certificate.renew'].map((action) => newest.get(action)?.id).join(' ')
}
