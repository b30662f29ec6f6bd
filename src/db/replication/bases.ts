import {
  BASE_FOLDER,
  baseKey,
  LOG_FOLDER,
  logKey,
  numberOfBase,
  numberOfLog,
} from '../../domain/store-keys.ts'
import { allPages } from '../../platform/ltx/of-wal.ts'
import type { ListedObject, ObjectStore } from '../../platform/object-store.ts'
import { ltxBody } from './body.ts'
import type { Snapshot } from './checkpoints.ts'
import type { LogFiles } from './log-files.ts'

const KEPT_BASES = 2
const KEPT_LOG_MS = 3_600_000

type BasesOptions = {
  store: ObjectStore
  epoch: number
  now: () => number
  files: LogFiles
  signal: AbortSignal
  /** A new one after so much log: who restores reads one base and at most about twice this. */
  dueBytes: number
  /** Whether one is due whatever the log has: the schema was migrated. */
  isDue: boolean
}

/** Every page of the database, from time to time, so that nobody has to read the log from its beginning. */
export class Bases {
  readonly #options: BasesOptions
  /** Of log since the last base, once what the store has is counted. */
  #bytes = 0
  #isDue: boolean

  constructor(options: BasesOptions) {
    this.#options = options
    this.#isDue = options.isDue
  }

  shipped(bytes: number): void {
    this.#bytes += bytes
  }

  isDue(): boolean {
    return this.#isDue || this.#bytes >= this.#options.dueBytes
  }

  /** What the store has: `number` is the last of the log that is not told to `shipped`. */
  async count(number: number): Promise<void> {
    const { store, signal } = this.#options
    const last = (await this.#listed(BASE_FOLDER, numberOfBase)).at(-1)?.number ?? 0
    let bytes = 0
    for await (const { key, sizeBytes } of store.list(LOG_FOLDER, { after: afterLog(last), signal }))
      if ((numberOfLog(key) ?? Number.POSITIVE_INFINITY) <= number) bytes += sizeBytes
    this.#bytes += bytes
  }

  /** Makes one of what the snapshot holds, which may be released when `hasRead` is called, and removes what is not needed any more. */
  async make(snapshot: Snapshot, hasRead: () => void): Promise<void> {
    const { store, epoch, now, files, signal } = this.#options
    const { number, pageSize, commit } = snapshot
    const before = this.#bytes
    const header = { pageSize, commit, first: 1, last: number, timestamp: now() }
    const content = { count: commit, file: files.newTmp(), stop: signal }
    const base = await ltxBody(header, allPages(files, snapshot), content).finally(hasRead)
    try {
      // Whoever made this one before: it is the same database.
      await store.create(baseKey(number), base.body, { epoch, signal })
    } finally {
      await base.discard()
    }
    this.#isDue = false
    this.#bytes -= before
    await this.#prune()
  }

  /** Keeps the newest bases, the log from the older of them on, and all that is young. */
  async #prune(): Promise<void> {
    const { store, now, signal } = this.#options
    const bases = await this.#listed(BASE_FOLDER, numberOfBase)
    if (bases.length < KEPT_BASES) return
    const kept = bases.slice(-KEPT_BASES)
    const oldest = kept[0]?.number ?? 0
    for (const { key } of bases.slice(0, -KEPT_BASES)) await store.delete(key, { signal })
    // From its beginning on, so that what is left never has a gap.
    for (const { key, number, modifiedAt } of await this.#listed(LOG_FOLDER, numberOfLog)) {
      if (number >= oldest || modifiedAt === null || modifiedAt > now() - KEPT_LOG_MS) return
      await store.delete(key, { signal })
    }
  }

  async #listed(
    folder: string,
    numberOf: (key: string) => number | null,
  ): Promise<(ListedObject & { number: number })[]> {
    const { store, signal } = this.#options
    const found: (ListedObject & { number: number })[] = []
    for await (const object of store.list(folder, { signal })) {
      const number = numberOf(object.key)
      if (number !== null) found.push({ ...object, number })
    }
    return found
  }
}

const afterLog = (number: number): string => (number === 0 ? LOG_FOLDER : logKey(number))
