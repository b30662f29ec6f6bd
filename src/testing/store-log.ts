import { Database } from 'bun:sqlite'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { baseKey, logKey } from '../domain/store-keys.ts'
import { encodeLtx } from '../platform/ltx/encode.ts'
import { ltxOf } from '../platform/ltx/of-wal.ts'
import { openObjectStore, type StoreOptions } from '../platform/object-store.ts'
import { readWal, type WalPosition } from '../platform/wal/read.ts'
import { type ObjectServer, STORE_KEYS } from './object-server.ts'

/** The store below `p/` of the bucket. */
export const storeAt = ({ endpoint }: Pick<ObjectServer, 'endpoint'>, own: Partial<StoreOptions> = {}) =>
  openObjectStore({
    ...STORE_KEYS,
    bucket: 'bucket',
    prefix: 'p/',
    endpoint,
    timeoutMs: 1_000,
    writer: 'test',
    now: Date.now,
    ...own,
  })

/** What a primary leaves in a store: a database whose batches become objects of the log, without a server. */
export class LoggedDatabase {
  readonly db: Database
  readonly #file: string
  readonly #server: ObjectServer
  #after: WalPosition | null = null
  number = 0

  constructor(server: ObjectServer, file: string, pageSize = 4096) {
    this.#server = server
    this.#file = file
    this.db = new Database(file)
    this.db.run(`PRAGMA page_size = ${pageSize}`)
    this.db.run('PRAGMA journal_mode = WAL')
    this.db.run('PRAGMA wal_autocheckpoint = 0')
  }

  /** Runs the statements and ships them as the next number. */
  ship(...statements: string[]): number {
    for (const statement of statements) this.db.run(statement)
    if (this.number === 0) return this.#put(logKey(1), this.#whole(1))
    const log = openSync(`${this.#file}-wal`, 'r')
    const batch = readWal(log, this.#after)
    if (batch === null) throw new Error('There is nothing to ship')
    this.#after = batch.next
    const number = this.number + 1
    const object = ltxOf(log, batch, { number, timestamp: 0 })
    closeSync(log)
    return this.#put(logKey(number), object)
  }

  /** Makes a base of what is shipped. */
  base(): void {
    this.#set(baseKey(this.number), this.#whole(this.number))
  }

  /** The database file as it is when all of it is in the file. */
  bytes(): Buffer {
    this.db.query('PRAGMA wal_checkpoint(TRUNCATE)').get()
    return readFileSync(this.#file)
  }

  #whole(last: number): Uint8Array {
    const bytes = this.bytes()
    const pageSize = Number(this.db.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size)
    const commit = bytes.length / pageSize
    const pages = Array.from({ length: commit }, (_, at) => ({
      number: at + 1,
      data: bytes.subarray(at * pageSize, (at + 1) * pageSize),
    }))
    return encodeLtx({ pageSize, commit, first: 1, last, timestamp: 0 }, pages)
  }

  #put(key: string, bytes: Uint8Array): number {
    this.#set(key, bytes)
    this.number += 1
    return this.number
  }

  #set(key: string, bytes: Uint8Array): void {
    this.#server.objects.set(`p/${key}`, { bytes, headers: {} })
  }
}
