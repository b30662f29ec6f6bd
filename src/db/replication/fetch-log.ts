import { logKey } from '../../domain/store-keys.ts'
import { type ObjectStore, StoreError } from '../../platform/object-store.ts'
import { readAhead } from '../../platform/read-ahead.ts'
import type { DatabaseCopy, Named, Pieces } from './database-copy.ts'
import { damaged, missing } from './log-error.ts'
import type { LogRange } from './log-objects.ts'

/** Larger objects are not held in memory. */
const SMALL_BYTES = 8 * 2 ** 20
const AT_ONCE = 16
const BYTES_AT_ONCE = 32 * 2 ** 20
const TRIES = 3

/** What to apply: the numbers of the range after `after`. */
type Part = { range: LogRange; after: number }

/** Applies objects of the log in order, while the next ones are on their way. */
export async function applyLog(
  store: ObjectStore,
  copy: DatabaseCopy,
  { range, after }: Part,
): Promise<void> {
  const numbers = numbersOf(range, after)
  const sizeOf = (number: number) => range.sizes[number - range.first] ?? 0
  const limits = { atOnce: AT_ONCE, weight: BYTES_AT_ONCE, weigh: sizeOf }
  const fetched = readAhead(numbers, limits, async (number) => ({
    number,
    bytes: sizeOf(number) <= SMALL_BYTES ? await wholeObject(store, logKey(number)) : null,
  }))
  for await (const { number, bytes } of fetched) {
    const named = { key: logKey(number), first: number, last: number }
    if (bytes !== null) await copy.apply(named, bytes)
    else await withObject(store, named, (pieces) => copy.applyLarge(named, pieces))
  }
}

export function* numbersOf({ first, sizes }: LogRange, after: number): Generator<number> {
  for (let number = Math.max(first, after + 1); number < first + sizes.length; number += 1) yield number
}

/** Lets `work` read an object as it comes, and again from its beginning where the store falters. */
export async function withObject<T>(
  store: ObjectStore,
  { key }: Pick<Named, 'key'>,
  work: (pieces: Pieces) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      const opened = await store.open(key)
      if (opened === null) throw gone(key)
      return await work(opened.pieces)
    } catch (error) {
      if (tries < TRIES && error instanceof StoreError && error.isTransient) continue
      throw naming(key, error)
    }
  }
}

async function wholeObject(store: ObjectStore, key: string): Promise<Uint8Array> {
  try {
    const found = await store.get(key, SMALL_BYTES)
    if (found === null) throw gone(key)
    return found.bytes
  } catch (error) {
    throw naming(key, error)
  }
}

const gone = (key: string) => missing(key, 'though the store lists it')

/** An error of the store says what happened, and not to which object. */
function naming(key: string, error: unknown): unknown {
  if (!(error instanceof StoreError) || error.isSetting) return error
  if (error.kind === 'too_large') return damaged(key, error.message)
  return new StoreError(error.kind, `"${key}": ${error.message}`, { code: error.code, cause: error })
}
