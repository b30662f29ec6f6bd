import { and, asc, eq } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { projectSecrets } from '../../db/schema.ts'

export type SecretRow = Omit<typeof projectSecrets.$inferSelect, 'projectId' | 'sealedValue'>

export function listSecretRows(db: DbOrTx, projectId: string): SecretRow[] {
  const { name, updatedAt, usableBy } = projectSecrets
  return db
    .select({ name, updatedAt, usableBy })
    .from(projectSecrets)
    .where(eq(projectSecrets.projectId, projectId))
    .orderBy(asc(projectSecrets.name))
    .all()
}

export function findSealedSecret(db: DbOrTx, projectId: string, name: string): string | undefined {
  return db
    .select({ sealedValue: projectSecrets.sealedValue })
    .from(projectSecrets)
    .where(and(eq(projectSecrets.projectId, projectId), eq(projectSecrets.name, name)))
    .get()?.sealedValue
}

export function upsertSecret(db: DbOrTx, row: typeof projectSecrets.$inferSelect): void {
  const { sealedValue, updatedAt, usableBy } = row
  db.insert(projectSecrets)
    .values(row)
    .onConflictDoUpdate({
      target: [projectSecrets.projectId, projectSecrets.name],
      set: { sealedValue, updatedAt, usableBy },
    })
    .run()
}

/** Whether there was such a row. */
export function deleteSecretRow(db: DbOrTx, projectId: string, name: string): boolean {
  const deleted = db
    .delete(projectSecrets)
    .where(and(eq(projectSecrets.projectId, projectId), eq(projectSecrets.name, name)))
    .returning({ name: projectSecrets.name })
    .all()
  return deleted.length > 0
}
