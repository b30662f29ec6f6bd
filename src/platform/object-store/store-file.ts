import { type ObjectStore, StoreError } from '../object-store.ts'
import { STORE_FILE } from './init.ts'

/** What `svc.json` says of a store. */
export type StoreFile = { format: 'ltx'; version: 1; id: string; createdAt: string }

const MAX_BYTES = 64 * 1024
const ID = /^[\w-]{1,64}$/

/** Null: the prefix is no store yet. Throws `StoreError` for a file that this svc cannot go by. */
export async function readStoreFile(store: Pick<ObjectStore, 'get'>): Promise<StoreFile | null> {
  const found = await store.get(STORE_FILE, MAX_BYTES).catch((error: unknown) => {
    throw error instanceof StoreError && error.kind === 'too_large' ? unreadable('it is too large') : error
  })
  return found === null ? null : parseStoreFile(found.bytes)
}

export function parseStoreFile(bytes: Uint8Array): StoreFile {
  const value = parsed(bytes)
  const { format, version, id, createdAt } = value
  if (version !== 1)
    throw unreadable(`its version is ${shown(version)}, and this svc knows 1: run a newer svc`)
  if (format !== 'ltx') throw unreadable(`its format is ${shown(format)}, and this svc knows "ltx"`)
  if (typeof id !== 'string' || !ID.test(id)) throw unreadable('it has no id')
  if (typeof createdAt !== 'string' || Number.isNaN(Date.parse(createdAt)))
    throw unreadable('it does not say when it was made')
  return { format, version, id, createdAt }
}

function parsed(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw unreadable('it is no JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unreadable('it is no object')
  return value as Record<string, unknown>
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'missing').slice(0, 40)

/** A person has to look: the same answer comes again. */
const unreadable = (why: string): StoreError =>
  new StoreError('refused', `"${STORE_FILE}" in the object store cannot be read: ${why}`)
