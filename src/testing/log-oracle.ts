import { Database } from 'bun:sqlite'
import { baseKey, logKey, numberOfBase, numberOfLog } from '../domain/store-keys.ts'
import { LtxDecoder } from '../platform/ltx/decode.ts'
import { encodeLtx } from '../platform/ltx/encode.ts'
import type { HeldStore } from './held-store.ts'

/** What SQLite reads a database by: with a log beside it, or without one. */
const [ROLLBACK, WAL] = [1, 2]
const setFormat = (database: Buffer, format: number): Buffer => database.fill(format, 18, 20)

/** What the log of a store says, worked out from each object once, without the code that machines follow it with. */
export class LogOracle {
  number = 0
  epoch = 0
  writer = ''
  #pages = Buffer.alloc(0)
  #pageSize = 0

  /** Throws for a gap, and for an epoch that ended. What was removed as old and comes again is no part of the log. */
  apply(
    number: number,
    { bytes, writer, epoch }: { bytes: Uint8Array; writer: string; epoch: number },
  ): void {
    if (number <= this.number) return
    if (number !== this.number + 1) throw new Error(`number ${number} follows ${this.number}`)
    if (epoch < this.epoch || (epoch === this.epoch && writer !== this.writer))
      throw new Error(`epoch ${epoch} of ${writer} follows ${this.epoch} of ${this.writer}`)
    Object.assign(this, { number, writer, epoch })
    const decoder = new LtxDecoder({
      header: ({ pageSize, commit }) => this.#resize(pageSize, commit),
      page: ({ number: page, data }) => this.#pages.set(data, (page - 1) * this.#pageSize),
    })
    decoder.push(bytes)
    decoder.end()
    setFormat(this.#pages, ROLLBACK)
  }

  /** What a reader of the log sees at its end. */
  query<T>(sql: string): T[] {
    const db = Database.deserialize(this.#pages, { readonly: true })
    try {
      return db.query<T, []>(sql).all()
    } finally {
      db.close()
    }
  }

  /** Makes a base, and removes what the newest two do not need, where it is not young. */
  makeBase(store: HeldStore, isYoung: (at: number) => boolean): void {
    const { number, writer, epoch } = this
    const whole = Buffer.from(this.#pages)
    setFormat(whole, WAL)
    const commit = whole.length / this.#pageSize
    const pages = Array.from({ length: commit }, (_, at) => ({
      number: at + 1,
      data: whole.subarray(at * this.#pageSize, (at + 1) * this.#pageSize),
    }))
    const header = { pageSize: this.#pageSize, commit, first: 1, last: number, timestamp: 0 }
    store.objects.set(baseKey(number), { bytes: encodeLtx(header, pages), writer, epoch, at: 0 })
    const keys = [...store.objects.keys()]
    const bases = keys.flatMap((key) => numberOfBase(key) ?? []).sort((a, b) => a - b)
    const oldest = bases.slice(-2)[0] ?? 0
    for (const base of bases) if (base < oldest) store.objects.delete(baseKey(base))
    const numbers = keys.flatMap((key) => numberOfLog(key) ?? []).sort((a, b) => a - b)
    for (const one of numbers) {
      if (one >= oldest || isYoung(store.objects.get(logKey(one))?.at ?? 0)) return
      store.objects.delete(logKey(one))
    }
  }

  #resize(pageSize: number, commit: number): void {
    this.#pageSize = pageSize
    const size = pageSize * commit
    if (size === this.#pages.length) return
    const pages = Buffer.alloc(size)
    this.#pages.copy(pages)
    this.#pages = pages
  }
}
