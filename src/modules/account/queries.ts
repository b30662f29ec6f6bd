import { eq } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { totpEnrollments } from '../../db/schema.ts'

type EnrollmentRow = typeof totpEnrollments.$inferSelect

export function findEnrollment(db: DbOrTx, userId: string): EnrollmentRow | undefined {
  return db.select().from(totpEnrollments).where(eq(totpEnrollments.userId, userId)).get()
}

export function upsertEnrollment(db: DbOrTx, row: EnrollmentRow): void {
  const { userId: _, ...set } = row
  db.insert(totpEnrollments).values(row).onConflictDoUpdate({ target: totpEnrollments.userId, set }).run()
}

export function deleteEnrollment(db: DbOrTx, userId: string): void {
  db.delete(totpEnrollments).where(eq(totpEnrollments.userId, userId)).run()
}
