import { and, asc, eq, sql } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { recordSchemas, records, recordUniques } from '../../db/schema-records.ts'

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

export function deleteSchemaRow(db: DbOrTx, id: string): void {
  db.delete(recordSchemas).where(eq(recordSchemas.id, id)).run()
}

export function hasRecords(db: DbOrTx, schemaId: string): boolean {
  return (
    db.select({ seq: records.seq }).from(records).where(eq(records.schemaId, schemaId)).get() !== undefined
  )
}

/** Path of a field in a record's JSON. Field names hold nothing that would need to be escaped in it. */
const pathOf = (field: string): string => `$."${field}"`

/** Gives all records a new field. `json` is its value. */
export function addFieldToRecords(db: DbOrTx, schemaId: string, field: string, json: string): void {
  db.update(records)
    .set({ data: sql`json_insert(${records.data}, ${pathOf(field)}, json(${json}))` })
    .where(eq(records.schemaId, schemaId))
    .run()
}

export function removeFieldFromRecords(db: DbOrTx, schemaId: string, field: string): void {
  db.update(records)
    .set({ data: sql`json_remove(${records.data}, ${pathOf(field)})` })
    .where(eq(records.schemaId, schemaId))
    .run()
}

/** Throws a unique violation when two records have the same value. */
export function addUniques(db: DbOrTx, schemaId: string, field: string): void {
  db.run(
    sql`INSERT INTO ${recordUniques} (schema_id, field, value, record_id)
      SELECT schema_id, ${field}, data -> ${pathOf(field)}, id FROM ${records}
      WHERE schema_id = ${schemaId} AND data ->> ${pathOf(field)} IS NOT NULL`,
  )
}

export function removeUniques(db: DbOrTx, schemaId: string, field: string): void {
  db.delete(recordUniques)
    .where(and(eq(recordUniques.schemaId, schemaId), eq(recordUniques.field, field)))
    .run()
}
