import { asc, desc, eq, sql } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { apiKeys } from '../../db/schema.ts'
import type { Page } from '../../domain/pagination.ts'

export type ApiKey = typeof apiKeys.$inferSelect
export type KeySort = 'name' | 'createdAt' | 'lastUsedAt'

export function selectKeys(
  db: DbOrTx,
  projectId: string | undefined,
  page: Page<KeySort>,
): { rows: ApiKey[]; total: number } {
  const where = projectId === undefined ? undefined : eq(apiKeys.projectId, projectId)
  const direction = page.order === 'asc' ? asc : desc
  const rows = db
    .select()
    .from(apiKeys)
    .where(where)
    .orderBy(direction(apiKeys[page.sort]), direction(apiKeys.id))
    .limit(page.limit)
    .offset(page.offset)
    .all()
  return { rows, total: db.select({ n: sql<number>`count(*)` }).from(apiKeys).where(where).get()?.n ?? 0 }
}

export function findKey(db: DbOrTx, id: string): ApiKey | undefined {
  return db.select().from(apiKeys).where(eq(apiKeys.id, id)).get()
}

export function insertKey(db: DbOrTx, key: ApiKey): void {
  db.insert(apiKeys).values(key).run()
}

export function deleteKeyRow(db: DbOrTx, id: string): void {
  db.delete(apiKeys).where(eq(apiKeys.id, id)).run()
}
