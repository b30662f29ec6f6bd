import type { ObjectStore } from '../object-store.ts'

/** What says that a prefix is a store, of which format and which one. Never changed. contract 18 §2. */
export const STORE_FILE = 'svc.json'

/**
 * Makes the prefix a store, or names a key that stands in the way. Of two at once one wins. Throws `StoreError` where
 * the store does not honour conditions.
 */
export async function initStore(
  store: ObjectStore,
  id: string,
  now: number,
): Promise<{ id: string } | { foundKey: string }> {
  await store.probe(id)
  for await (const { key } of store.list('')) if (!key.startsWith('probe/')) return { foundKey: key }
  const file = { format: 'ltx', version: 1, id, createdAt: new Date(now).toISOString() }
  const body = new TextEncoder().encode(`${JSON.stringify(file)}\n`)
  const made = await store.create(STORE_FILE, body, { epoch: 0 })
  return made.outcome === 'created' ? { id } : { foundKey: STORE_FILE }
}
