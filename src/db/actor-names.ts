import { inArray } from 'drizzle-orm'
import type { DbOrTx } from './open.ts'
import { apiKeys, users } from './schema.ts'

/**
 * The creator named by a record. `name` is the email or the key's name, null if the account or key no longer exists.
 */
type ActorView = { kind: 'user' | 'key' | 'operator'; id: string | null; name: string | null }

/** Resolves references written by `actorRef`, with at most two queries for a whole page. */
export function actorViews(db: DbOrTx, refs: Iterable<string>): (ref: string) => ActorView {
  const parsed = [...new Set(refs)].map(parseRef)
  const idsOf = (kind: ActorView['kind']) => parsed.flatMap((one) => (one.kind === kind ? [one.id] : []))
  const names = new Map<string, string>()
  for (const { id, name } of namesOfUsers(db, idsOf('user'))) names.set(id, name)
  for (const { id, name } of namesOfKeys(db, idsOf('key'))) names.set(id, name)
  return (ref) => {
    const { kind, id } = parseRef(ref)
    return kind === 'operator' ? { kind, id: null, name: null } : { kind, id, name: names.get(id) ?? null }
  }
}

function parseRef(ref: string): { kind: ActorView['kind']; id: string } {
  const colon = ref.indexOf(':')
  const kind = ref.slice(0, Math.max(colon, 0))
  return { kind: kind === 'user' || kind === 'key' ? kind : 'operator', id: ref.slice(colon + 1) }
}

function namesOfUsers(db: DbOrTx, ids: string[]): { id: string; name: string }[] {
  if (ids.length === 0) return []
  return db.select({ id: users.id, name: users.email }).from(users).where(inArray(users.id, ids)).all()
}

function namesOfKeys(db: DbOrTx, ids: string[]): { id: string; name: string }[] {
  if (ids.length === 0) return []
  return db.select({ id: apiKeys.id, name: apiKeys.name }).from(apiKeys).where(inArray(apiKeys.id, ids)).all()
}
