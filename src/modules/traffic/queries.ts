import { eq } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { traffic } from '../../db/schema-domains.ts'

export type TrafficRow = typeof traffic.$inferSelect

export function findTraffic(db: DbOrTx, domainId: string): TrafficRow | undefined {
  return db.select().from(traffic).where(eq(traffic.domainId, domainId)).get()
}

export function upsertTraffic(db: DbOrTx, row: TrafficRow): void {
  const { domainId: _, ...set } = row
  db.insert(traffic).values(row).onConflictDoUpdate({ target: traffic.domainId, set }).run()
}

export function deleteTrafficRow(db: DbOrTx, domainId: string): void {
  db.delete(traffic).where(eq(traffic.domainId, domainId)).run()
}
