import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import type { SchemaField } from '../../domain/schema-fields.ts'
import type { Schema } from '../schemas/service.ts'
import { changesOf } from './changes.ts'
import { readAll } from './reads.ts'
import type { Sql } from './where.ts'

/** Finds the record that has a value in a field; of several the newest. `value` is JSON. */
export type FindByKey = (value: string) => string | undefined

/** Which of the values are stored. Call `now` in the transaction that relies on it. */
export type StoredKeys = { now(): FindByKey }

/**
 * `values`: those that are asked for. A unique field has an index. Of another all records are read, ahead of the transaction, and again in it only if one was
 * written meanwhile.
 */
export async function storedKeys(
  db: Db,
  schema: Schema,
  field: SchemaField,
  values: () => readonly string[],
): Promise<StoredKeys> {
  if (field.unique) return { now: () => inIndex(db, schema.id, field.name) }
  const changes = changesOf(db, schema.id)
  const { where, sql } = keyRows(schema.id, field.name, values())
  const ahead = await readAll<KeyRow>(db, schema.id, { ...where, reach: 'scan', effort: 1 }, sql)
  return {
    now() {
      const isOutdated = changesOf(db, schema.id) !== changes
      const rows = isOutdated ? prepared<KeyRow>(db, sql.sql).all(...sql.values) : ahead
      const ids = new Map(rows.map(({ value, id }) => [value, id]))
      return (value) => ids.get(value)
    },
  }
}

function inIndex(db: Db, schemaId: string, field: string): FindByKey {
  const find = prepared<{ id: string }>(
    db,
    'SELECT record_id AS id FROM record_uniques WHERE schema_id = ? AND field = ? AND value = ?',
  )
  return (value) => find.get(schemaId, field, value)?.id
}

type KeyRow = { id: string; value: string }

function keyRows(schemaId: string, field: string, values: readonly string[]): { where: Sql; sql: Sql } {
  const path = `$."${field}"`
  const where = {
    sql: 'data -> ? IN (SELECT value FROM json_each(?))',
    values: [path, JSON.stringify(values)],
  }
  return {
    where,
    sql: {
      sql: `SELECT id, data -> ? AS value FROM records WHERE schema_id = ? AND ${where.sql} ORDER BY id`,
      values: [path, schemaId, ...where.values],
    },
  }
}
