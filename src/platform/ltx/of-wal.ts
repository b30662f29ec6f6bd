import { readSync } from 'node:fs'
import type { WalBatch } from '../wal/read.ts'
import { encodeLtx, type Page } from './encode.ts'
import { type LtxHeader, lockPage } from './format.ts'

export type Numbered = { number: number; timestamp: number }

/** What was committed, as the transaction file of this number. `timestamp` in milliseconds. */
export const ltxOf = (log: number, batch: WalBatch, numbered: Numbered): Uint8Array<ArrayBuffer> =>
  encodeLtx(headerOf(batch, numbered), changedPages(log, batch))

export const headerOf = (
  { pageSize, commit }: Pick<WalBatch, 'pageSize' | 'commit'>,
  { number, timestamp }: Numbered,
): LtxHeader => ({ pageSize, commit, first: number, last: number, timestamp })

/** In rising order, as they are read from the log. */
export function* changedPages(log: number, { pageSize, pages }: WalBatch): Generator<Page> {
  const lock = lockPage(pageSize)
  for (const [number, offset] of [...pages].sort(([a], [b]) => a - b))
    if (number !== lock) yield { number, data: bytesAt(log, offset, pageSize) }
}

/** Every page of the database: those that the log does not have are in its file, or were never written. */
export function* allPages(
  { log, database }: { log: number; database: number },
  { pageSize, commit, pages }: Pick<WalBatch, 'pageSize' | 'commit' | 'pages'>,
): Generator<Page> {
  const lock = lockPage(pageSize)
  for (let number = 1; number <= commit; number += 1) {
    if (number === lock) continue
    const offset = pages.get(number)
    const data =
      offset === undefined
        ? bytesAt(database, (number - 1) * pageSize, pageSize)
        : bytesAt(log, offset, pageSize)
    yield { number, data }
  }
}

export function bytesAt(file: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  readSync(file, bytes, 0, length, offset)
  return bytes
}
