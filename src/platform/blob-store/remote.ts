import type { ListedObject, ObjectStore } from '../object-store.ts'

/** The object store that contents are in; local files are a cache of it then. contract 18 §3. */
export type RemoteOptions = {
  store: ObjectStore
  /** Of this machine's time as the one that writes. */
  epoch: () => number
  cacheBytes: number
  /** How much more the disk may take; unlimited unless said. */
  roomBytes?: () => number
}

export type CacheState = { bytes: number; limitBytes: number; hits: number; misses: number }

/** What only contents in an object store have. */
export type RemoteContents = {
  readonly cache: CacheState
  /** Packs and files, page by page. */
  list(): AsyncGenerator<ListedObject>
  /** Of an object that no row names any more. */
  delete(key: string): Promise<void>
  /** Resolves when what lay on the disk at the start is counted. */
  listed(): Promise<void>
}

/** Brings what was received into the store. */
export type Uploads = {
  createPack(pack: string, path: string): Promise<void>
  /** Creates the object of a large content. `object`: its new id. */
  createFile(sha256: string, object: string, path: string): Promise<void>
  /** The local copy of an object is in its place. */
  kept(path: string, bytes: number): Promise<void>
  /** Objects that were made, or begun, for nothing. Never rejects. */
  discard(keys: readonly string[]): Promise<void>
}
