import { BACKUP_FORMAT, type BackupTarget } from './backup.ts'
import { type ObjectStore, type StoreCall, type StoredRange, StoreError } from './object-store.ts'
import type { BackupSource } from './restore.ts'

/** What one request for a piece of a backup asks for. A connection that is cut costs no more than this. */
const RANGE_BYTES = 2 * 2 ** 20
const PATIENCE_MS = 60_000

/** A backup as an object of a store, sent as it is made; it is visible once it is whole. `name` is for messages. */
export function objectTarget(
  store: ObjectStore,
  key: string,
  name: string,
  signal: AbortSignal | undefined,
): BackupTarget {
  return {
    refuseToReplace: () => refuseToReplace(store, key, name),
    async write(bytes) {
      await store.upload(key, bytes, call(signal))
    },
  }
}

/** A backup read from a store. */
export const objectSource = (store: ObjectStore, key: string, name: string): BackupSource => ({
  name,
  async open(stop) {
    const start = await startOf(store, key, RANGE_BYTES, call(stop))
    if (start === null) throw new Error('the bucket has no such object')
    return { bytes: piecesOf(store, key, start, stop), close: async () => {} }
  },
})

/** The rule for files: a mistyped name must not destroy what is no backup. */
async function refuseToReplace(store: ObjectStore, key: string, name: string): Promise<void> {
  const start = await startOf(store, key, BACKUP_FORMAT.name.length, {})
  if (start === null || start.totalBytes === 0) return
  if (new TextDecoder().decode(start.bytes) !== BACKUP_FORMAT.name)
    throw new Error(`${name} already exists and is not a backup`)
}

/** An empty object has no range that could be asked for. */
const startOf = (
  store: ObjectStore,
  key: string,
  length: number,
  call: StoreCall,
): Promise<StoredRange | null> =>
  store.getRange(key, 0, length, call).catch((error: unknown) => {
    if (error instanceof StoreError && error.code === 'InvalidRange')
      return { bytes: new Uint8Array(), totalBytes: 0 }
    throw error
  })

/** Each range is asked for again until it has come, so that a connection may be cut at any place. */
async function* piecesOf(
  store: ObjectStore,
  key: string,
  start: StoredRange,
  stop: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const { totalBytes } = start
  let at = start.bytes.length
  yield start.bytes
  while (at < totalBytes) {
    const range = await store.getRange(key, at, RANGE_BYTES, { ...call(stop), patienceMs: PATIENCE_MS })
    if (range?.totalBytes !== totalBytes) throw new Error('the object was replaced while it was read')
    at += range.bytes.length
    yield range.bytes
  }
}

const call = (signal: AbortSignal | undefined): StoreCall => (signal === undefined ? {} : { signal })
