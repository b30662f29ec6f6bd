import type { Context } from '../../context.ts'
import type { Db } from '../../db/open.ts'
import { convertedFor } from '../../domain/convert-values.ts'
import { AppError } from '../../domain/errors.ts'
import { checkFieldValue } from '../../domain/field-types.ts'
import { checkRecordData, type SchemaField } from '../../domain/schema-fields.ts'
import type { Schema } from '../schemas/service.ts'
import { committed } from './committed.ts'
import { findRecordRow } from './queries.ts'
import { insertRow, updateChecked } from './store.ts'
import { type FindByKey, storedKeys } from './stored-keys.ts'

/** `index`: its place in the list. `values` lack the fields that it does not mention. */
export type KeyedRecord = { index: number; key: string; values: Readonly<Record<string, unknown>> }

/** What an element is refused for. */
export type Refused = { index: number; error: string }

export type Upserted = { insertedIds: string[]; updatedIds: string[]; skipped: number; errors: Refused[] }

type How = {
  /** The field that keeps the key. */
  keyField: string
  /** The fields that are changed in a record which is stored already. */
  updateFields: readonly string[]
}

/**
 * Stores each record whose key is not stored yet, and changes the others, in one transaction. Of equal keys the first that
 * is not refused counts. Durable when the promise resolves.
 */
export async function upsertRecords(
  ctx: Context,
  schema: Schema,
  records: readonly KeyedRecord[],
  how: How,
): Promise<Upserted> {
  const field = keyFieldOf(schema, how)
  const keys = await storedKeys(ctx.db, schema, field, () =>
    records.flatMap(({ key }) => storedKey(field, key) ?? []),
  )
  return committed(ctx, schema, (db, currentSchema) => {
    const current = keyFieldOf(currentSchema, how)
    // The field became or ceased to be unique meanwhile, and its index with it.
    if (current.unique !== field.unique) throw changedMeanwhile()
    return new Upsert(ctx, db, currentSchema, current, how, keys.now()).all(records)
  })
}

function keyFieldOf({ name, fields }: Schema, { keyField }: How): SchemaField {
  const field = fields.find((one) => one.name === keyField)
  if (field !== undefined) return field
  throw new AppError('internal', `The schema ${name} has no field ${keyField.slice(0, 100)} for the key`)
}

const changedMeanwhile = () =>
  new AppError('unavailable', 'The schema of this step was changed just now: try again')

/** The key in the type of its field, as JSON; undefined for one that does not fit it. */
function storedKey(field: SchemaField, key: string): string | undefined {
  const checked = checkFieldValue(field.type, convertedFor([field], { [field.name]: key })[field.name])
  return checked.ok ? JSON.stringify(checked.value) : undefined
}

const LONGEST_ERROR = 300

class Upsert {
  readonly #ctx: Context
  readonly #db: Db
  readonly #schema: Schema
  readonly #field: SchemaField
  readonly #how: How
  readonly #find: FindByKey
  /** Whether a record may be refused after a part of it was written. */
  readonly #mayClash: boolean
  readonly #done = new Set<string>()
  readonly #result: Upserted = { insertedIds: [], updatedIds: [], skipped: 0, errors: [] }

  constructor(ctx: Context, db: Db, schema: Schema, field: SchemaField, how: How, find: FindByKey) {
    this.#ctx = ctx
    this.#db = db
    this.#schema = schema
    this.#field = field
    this.#how = how
    this.#find = find
    this.#mayClash = schema.fields.some(({ name, unique }) => unique && name !== field.name)
  }

  all(records: readonly KeyedRecord[]): Upserted {
    for (const record of records) {
      try {
        this.#one(record)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        this.#result.errors.push({ index: record.index, error: error.message.slice(0, LONGEST_ERROR) })
      }
    }
    return this.#result
  }

  #one({ key, values }: KeyedRecord): void {
    const value = storedKey(this.#field, key)
    const id = value === undefined ? undefined : this.#find(value)
    if (value !== undefined && this.#done.has(value)) this.#result.skipped += 1
    else if (id === undefined) this.#insert({ ...values, [this.#field.name]: key })
    else this.#update(id, values)
    if (value !== undefined) this.#done.add(value)
  }

  #insert(values: Readonly<Record<string, unknown>>): void {
    const converted = convertedFor(this.#schema.fields, values)
    const { row } = this.#whole(() => insertRow(this.#ctx, this.#db, this.#schema, converted))
    this.#result.insertedIds.push(row.id)
  }

  #update(id: string, values: Readonly<Record<string, unknown>>): void {
    const chosen = this.#how.updateFields.filter((name) => Object.hasOwn(values, name))
    const some = Object.fromEntries(chosen.map((name) => [name, values[name]]))
    const converted = convertedFor(this.#schema.fields, some)
    if (chosen.length === 0 || !this.#isChange(id, converted)) {
      this.#result.skipped += 1
      return
    }
    this.#whole(() => updateChecked(this.#ctx, this.#db, this.#schema, id, converted))
    this.#result.updatedIds.push(id)
  }

  /** True also for what will be refused. */
  #isChange(id: string, values: Readonly<Record<string, unknown>>): boolean {
    const row = findRecordRow(this.#db, this.#schema.id, id)
    if (row === null) return false
    const stored: Record<string, unknown> = JSON.parse(row.data)
    const { data, errors } = checkRecordData(this.#schema.fields, values, stored)
    const textOf = (value: unknown) => JSON.stringify(value ?? null)
    return errors.length > 0 || Object.keys(data).some((name) => textOf(data[name]) !== textOf(stored[name]))
  }

  /** Undoes what was written of a record that is refused. */
  #whole<T>(write: () => T): T {
    if (!this.#mayClash) return write()
    const { sqlite } = this.#db
    sqlite.run('SAVEPOINT element')
    try {
      const result = write()
      sqlite.run('RELEASE element')
      return result
    } catch (error) {
      sqlite.run('ROLLBACK TO element')
      sqlite.run('RELEASE element')
      throw error
    }
  }
}
