import { type Db, refuseTaken } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import type { SchemaField } from '../../domain/schema-fields.ts'
import {
  addFieldToRecords,
  deleteUniquesOf,
  insertUniquesOf,
  removeFieldFromRecords,
} from './field-queries.ts'
import { hasRecords } from './queries.ts'

/** Converts records to the schema's new fields, in the open transaction. 400: changed type; 409: duplicate value. */
export function applyFieldChanges(
  db: Db,
  schemaId: string,
  before: readonly SchemaField[],
  after: readonly SchemaField[],
): void {
  const old = new Map(before.map((field) => [field.name, field]))
  const kept = new Set(after.map(({ name }) => name))
  refuseChangedTypes(db, schemaId, old, after)
  for (const { name, unique } of before) {
    if (kept.has(name)) continue
    if (unique) deleteUniquesOf(db, schemaId, name)
    removeFieldFromRecords(db, schemaId, name)
  }
  for (const field of after) {
    const was = old.get(field.name)
    if (was === undefined) addFieldToRecords(db, schemaId, field.name, JSON.stringify(field.default ?? null))
    if (field.unique && was?.unique !== true) makeUnique(db, schemaId, field.name)
    if (!field.unique && was?.unique === true) deleteUniquesOf(db, schemaId, field.name)
  }
}

function refuseChangedTypes(
  db: Db,
  schemaId: string,
  old: ReadonlyMap<string, SchemaField>,
  after: readonly SchemaField[],
): void {
  const details = after.flatMap(({ name, type }, i) => {
    const was = old.get(name)
    return was === undefined || was.type === type
      ? []
      : [
          {
            path: `fields[${i}].type`,
            message: `${name} is ${was.type} and has records: it cannot become ${type}`,
          },
        ]
  })
  if (details.length === 0 || !hasRecords(db, schemaId)) return
  throw new AppError('invalid', details.map(({ message }) => message).join('; '), { details })
}

function makeUnique(db: Db, schemaId: string, field: string): void {
  refuseTaken(`${field} cannot become unique: some records have the same value`, () =>
    insertUniquesOf(db, schemaId, field),
  )
}
