import { and, asc, eq, sql } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { projects } from '../../db/schema.ts'
import { recordSchemas } from '../../db/schema-records.ts'
import { prepared } from '../../db/statements.ts'
import { deleteRecordsOf } from '../records/delete-all.ts'

export type SchemaRow = typeof recordSchemas.$inferSelect

/**
 * A deleted schema has this and its id as its name until its records are gone. No other name begins so, and nothing
 * finds such a schema. The same goes for one whose project is being deleted.
 */
const DELETED = '/'
const isThere = sql`substr(${recordSchemas.name}, 1, 1) <> ${DELETED}
  AND EXISTS (SELECT 1 FROM ${projects} WHERE ${projects.id} = ${recordSchemas.projectId})`

export function findSchemaRow(db: DbOrTx, id: string): SchemaRow | undefined {
  return db
    .select()
    .from(recordSchemas)
    .where(and(eq(recordSchemas.id, id), isThere))
    .get()
}

export function findSchemaRowByName(db: DbOrTx, projectId: string, name: string): SchemaRow | undefined {
  return db
    .select()
    .from(recordSchemas)
    .where(and(eq(recordSchemas.projectId, projectId), eq(recordSchemas.name, name), isThere))
    .get()
}

export function listSchemaRows(db: DbOrTx, projectId: string): SchemaRow[] {
  return db
    .select()
    .from(recordSchemas)
    .where(and(eq(recordSchemas.projectId, projectId), isThere))
    .orderBy(asc(recordSchemas.name))
    .all()
}

export function insertSchema(db: DbOrTx, row: SchemaRow): void {
  db.insert(recordSchemas).values(row).run()
}

export function updateSchema(db: DbOrTx, id: string, patch: Partial<SchemaRow>): void {
  db.update(recordSchemas).set(patch).where(eq(recordSchemas.id, id)).run()
}

/** From now on nothing finds the schema, and its name is free. */
export function markSchemaDeleted(db: DbOrTx, id: string): void {
  db.update(recordSchemas)
    .set({ name: `${DELETED}${id}` })
    .where(eq(recordSchemas.id, id))
    .run()
}

/** Schemas that were deleted and may still have records. */
export function listDeletedSchemas(db: Db): string[] {
  return prepared<{ id: string }>(db, `SELECT id FROM schemas WHERE substr(name, 1, 1) = '${DELETED}'`)
    .all()
    .map(({ id }) => id)
}

/** Also deletes its records. */
export function deleteSchemaRow(db: Db, id: string): void {
  deleteRecordsOf(db, id)
  db.orm.delete(recordSchemas).where(eq(recordSchemas.id, id)).run()
}
