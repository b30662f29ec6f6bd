import { asc, desc, eq, isNotNull } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { apiKeys } from '../../db/schema.ts'
import { countRows, inPage } from '../../db/select.ts'
import type { Page } from '../../domain/pagination.ts'

export type ApiKey = typeof apiKeys.$inferSelect
type KeySort = 'name' | 'createdAt' | 'lastUsedAt'

export function selectKeys(
  db: DbOrTx,
  projectId: string | undefined,
  page: Page<KeySort>,
): { rows: ApiKey[]; total: number } {
  const where = projectId === undefined ? undefined : eq(apiKeys.projectId, projectId)
  const matching = db.select().from(apiKeys).where(where).$dynamic()
  return {
    rows: inPage(matching, page, apiKeys[page.sort], apiKeys.id).all(),
    total: countRows(db, apiKeys, where),
  }
}

export function findKey(db: DbOrTx, id: string): ApiKey | undefined {
  return db.select().from(apiKeys).where(eq(apiKeys.id, id)).get()
}

export function findKeyByHash(db: DbOrTx, tokenHash: string): ApiKey | undefined {
  return db.select().from(apiKeys).where(eq(apiKeys.tokenHash, tokenHash)).get()
}

/** The oldest first. */
export function listKeysOfMaker(db: DbOrTx, makerId: string): ApiKey[] {
  return db
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.createdBy, makerId))
    .orderBy(asc(apiKeys.createdAt), asc(apiKeys.id))
    .all()
}

/** The one used last first. */
export function listSuspendedKeys(db: DbOrTx): ApiKey[] {
  return db
    .select()
    .from(apiKeys)
    .where(isNotNull(apiKeys.suspendedAt))
    .orderBy(desc(apiKeys.lastUsedAt), asc(apiKeys.id))
    .all()
}

type Holding = Pick<ApiKey, 'createdBy' | 'suspendedAt' | 'suspendedReason'>

export function updateHolding(db: DbOrTx, id: string, holding: Partial<Holding>): void {
  db.update(apiKeys).set(holding).where(eq(apiKeys.id, id)).run()
}

export function touchKey(db: DbOrTx, id: string, lastUsedAt: number): void {
  db.update(apiKeys).set({ lastUsedAt }).where(eq(apiKeys.id, id)).run()
}

export function insertKey(db: DbOrTx, key: ApiKey): void {
  db.insert(apiKeys).values(key).run()
}

export function deleteKeyRow(db: DbOrTx, id: string): void {
  db.delete(apiKeys).where(eq(apiKeys.id, id)).run()
}
