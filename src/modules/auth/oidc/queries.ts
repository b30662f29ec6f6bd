import { and, asc, eq, sql } from 'drizzle-orm'
import type { DbOrTx } from '../../../db/open.ts'
import { userConnections } from '../../../db/schema.ts'

type ConnectionRow = typeof userConnections.$inferSelect

export function findConnection(db: DbOrTx, provider: string, subject: string): ConnectionRow | undefined {
  return db
    .select()
    .from(userConnections)
    .where(and(eq(userConnections.provider, provider), eq(userConnections.subject, subject)))
    .get()
}

/** Whether the user has a connection to that provider, or to any. */
export function hasConnection(db: DbOrTx, userId: string, provider?: string): boolean {
  const mine = eq(userConnections.userId, userId)
  return (
    db
      .select({ one: sql`1` })
      .from(userConnections)
      .where(provider === undefined ? mine : and(mine, eq(userConnections.provider, provider)))
      .limit(1)
      .get() !== undefined
  )
}

export function listConnections(db: DbOrTx, userId: string): ConnectionRow[] {
  return db
    .select()
    .from(userConnections)
    .where(eq(userConnections.userId, userId))
    .orderBy(asc(userConnections.provider))
    .all()
}

export function deleteConnection(db: DbOrTx, userId: string, provider: string): void {
  db.delete(userConnections)
    .where(and(eq(userConnections.userId, userId), eq(userConnections.provider, provider)))
    .run()
}

export function insertConnection(db: DbOrTx, connection: ConnectionRow): void {
  db.insert(userConnections).values(connection).run()
}
