import { BASE_FOLDER, LOG_FOLDER, logKey, numberOfBase, numberOfLog } from '../../domain/store-keys.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { missing } from './log-error.ts'

/** Objects of the log one after another, without a gap: `sizes[0]` is the size of number `first`. */
export type LogRange = { first: number; sizes: number[] }
export type Base = { number: number; key: string; sizeBytes: number; modifiedAt: number | null }

export const lastOf = ({ first, sizes }: LogRange): number => first + sizes.length - 1

/** The log from this number on; null where it has none of this or a later one. What is no log object is passed over. */
export async function listLog(store: ObjectStore, from: number): Promise<LogRange | null> {
  let range: LogRange | null = null
  const after = from > 1 ? { after: logKey(from - 1) } : {}
  for await (const { key, sizeBytes } of store.list(LOG_FOLDER, after)) {
    const number = numberOfLog(key)
    if (number === null) continue
    range ??= { first: number, sizes: [] }
    while (lastOf(range) + 1 < number)
      range.sizes.push(await sizeOfUnlisted(store, lastOf(range) + 1, number))
    range.sizes.push(sizeBytes)
  }
  return range
}

/** The number of the newest log object, from one that is known to exist on; 0 for an empty log. */
export async function findEnd(store: ObjectStore, from = 1): Promise<number> {
  const range = await listLog(store, from)
  return range === null ? 0 : lastOf(range)
}

/** The bases, oldest first. */
export async function listBases(store: ObjectStore): Promise<Base[]> {
  const bases: Base[] = []
  for await (const { key, sizeBytes, modifiedAt } of store.list(BASE_FOLDER)) {
    const number = numberOfBase(key)
    if (number !== null) bases.push({ number, key, sizeBytes, modifiedAt })
  }
  return bases
}

/** A list that goes over pages may pass over what was created meanwhile. */
async function sizeOfUnlisted(store: ObjectStore, number: number, later: number): Promise<number> {
  const head = await store.head(logKey(number))
  if (head === null) throw missing(logKey(number), `but "${logKey(later)}" is`)
  return head.sizeBytes
}
