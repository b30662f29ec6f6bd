import type { Observed } from '../../db/request-log/row.ts'

export type Batch = { id: string; rows: readonly string[]; dropped: number }

const MAX_WAITING_BYTES = 8 * 2 ** 20
/** Of the rows of one batch. */
const MAX_BATCH_BYTES = 900 * 1024
const MAX_BATCH_ROWS = 5_000

/** Rows of the request log on their way to the primary. Where there is no room for one it is counted. */
export class HandOver {
  readonly #newId: () => string
  #rows: string[] = []
  #bytes = 0
  #dropped = 0
  #batch: Batch | null = null

  constructor(newId: () => string) {
    this.#newId = newId
  }

  add(rows: readonly Observed[]): void {
    for (const row of rows) {
      const text = JSON.stringify(row)
      const bytes = Buffer.byteLength(text)
      if (this.#bytes + bytes > MAX_WAITING_BYTES) {
        this.#dropped += row.weight
        continue
      }
      this.#rows.push(text)
      this.#bytes += bytes
    }
  }

  /** The same again until it has `arrived`. It may have no rows. */
  next(): Batch {
    this.#batch ??= { id: this.#newId(), rows: this.#take(), dropped: this.#takeDropped() }
    return this.#batch
  }

  arrived(): void {
    for (const row of this.#batch?.rows ?? []) this.#bytes -= Buffer.byteLength(row)
    this.#batch = null
  }

  get isEmpty(): boolean {
    return this.#batch === null && this.#rows.length === 0
  }

  /** Nobody is there to take them: this machine keeps its own. */
  clear(): void {
    this.#rows = []
    this.#batch = null
    this.#bytes = 0
    this.#dropped = 0
  }

  #take(): string[] {
    let bytes = 0
    const isMore = this.#rows.findIndex((row, i) => {
      bytes += Buffer.byteLength(row) + 1
      return bytes > MAX_BATCH_BYTES || i === MAX_BATCH_ROWS
    })
    return this.#rows.splice(0, isMore === -1 ? this.#rows.length : isMore)
  }

  #takeDropped(): number {
    const dropped = this.#dropped
    this.#dropped = 0
    return dropped
  }
}
