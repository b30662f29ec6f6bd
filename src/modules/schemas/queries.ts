import { and, asc, eq } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { recordSchemas } from '../../db/schema-records.ts'
import { deleteRecordsOf } from '../records/delete-all.ts'

export type SchemaRow = typeof recordSchemas.$inferSelect

export function findSchemaRow(db: DbOrTx, id: string): SchemaRow | undefined {
  return db.select().from(recordSchemas).where(eq(recordSchemas.id, id)).get()
}

export function findSchemaRowByName(db: DbOrTx, projectId: string, name: string): SchemaRow | undefined {
  return db
    .select()
    .from(recordSchemas)
    .where(and(eq(recordSchemas.projectId, projectId), eq(recordSchemas.name, name)))
    .get()
}

export function listSchemaRows(db: DbOrTx, projectId: string): SchemaRow[] {
  return db
    .select()
    .from(recordSchemas)
    .where(eq(recordSchemas.projectId, projectId))
    .orderBy(asc(recordSchemas.name))
    .all()
}

export function insertSchema(db: DbOrTx, row: SchemaRow): void {
  db.insert(recordSchemas).values(row).run()
}

export function updateSchema(db: DbOrTx, id: string, patch: Partial<SchemaRow>): void {
  db.update(recordSchemas).set(patch).where(eq(recordSchemas.id, id)).run()
}

/** Also deletes its records. */
export function deleteSchemaRow(db: Db, id: string): void {
  deleteRecordsOf(db, id)
  db.orm.delete(recordSchemas).where(eq(recordSchemas.id, id)).run()
}
