import type { WalBatch } from '../wal/read.ts'
import { encodeLtx } from './encode.ts'
import { lockPage } from './format.ts'

/** What was committed, as the transaction file of this number. `timestamp` in milliseconds. */
export function ltxOf(
  { pageSize, pages, commit }: WalBatch,
  { number, timestamp }: { number: number; timestamp: number },
): Uint8Array<ArrayBuffer> {
  const lock = lockPage(pageSize)
  const sorted = [...pages].filter(([page]) => page !== lock).sort(([a], [b]) => a - b)
  const header = { pageSize, commit, first: number, last: number, timestamp }
  return encodeLtx(
    header,
    sorted.map(([page, data]) => ({ number: page, data })),
  )
}
