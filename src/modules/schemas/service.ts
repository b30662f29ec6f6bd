import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { generationCache } from '../../db/generation.ts'
import { type DbOrTx, inTransaction, refuseTaken } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import type { Actor } from '../../domain/actor.ts'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { given, isEmpty } from '../../domain/given.ts'
import { isoTime } from '../../domain/iso-time.ts'
import {
  parseSchemaFields,
  SCHEMA_BY_NAME,
  SCHEMA_NAME,
  type SchemaField,
} from '../../domain/schema-fields.ts'
import { GO_ON, type Stop, whileAnswerWaits } from '../../platform/in-steps.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { type About, aboutRow, type Grant, within } from '../auth/authorize.ts'
import { projectOf } from '../projects/service.ts'
import { deleteSomeRecordsOf } from '../records/delete-all.ts'
import { applyFieldChanges } from '../records/field-changes.ts'
import type { SchemaView } from './model.ts'
import {
  deleteSchemaRow,
  findSchemaRow,
  findSchemaRowByName,
  insertSchema,
  listDeletedSchemas,
  listSchemaRows,
  markSchemaDeleted,
  type SchemaRow,
  updateSchema,
} from './queries.ts'

export type { SchemaView } from './model.ts'

const REMOVED_AT_ONCE = 500

/** A schema with its fields parsed. */
export type Schema = { id: string; projectId: string; name: string; fields: readonly SchemaField[] }

export function listSchemas(ctx: Context, grant: Grant): SchemaView[] {
  return listSchemaRows(ctx.db.orm, projectOf(ctx, grant).id).map(toView)
}

export const getSchema = (ctx: Context, grant: Grant, id: string): SchemaView =>
  toView(getSchemaRow(ctx.db.orm, grant, id))

/** Throws 409 when the project already has a schema of that name. */
export function createSchema(
  ctx: Context,
  grant: Grant,
  input: { name: string; fields: unknown },
): SchemaView {
  const fields = readFields(input.fields)
  return inTransaction(ctx.db, (tx) =>
    toView(
      addSchema(ctx, tx, grant.actor, { projectId: projectOf(ctx, grant, tx).id, name: input.name, fields }),
    ),
  )
}

/**
 * `fields` is the complete list: new fields are added to all records, and fields left out are removed from them. The
 * type of a field with records cannot change. Throws 409 when a field becomes unique but has duplicate values, or the
 * name is taken.
 */
export function changeSchema(
  ctx: Context,
  grant: Grant,
  id: string,
  change: { name?: string | undefined; fields?: unknown },
): SchemaView {
  const fields = change.fields === undefined ? undefined : readFields(change.fields)
  if (change.name !== undefined) checkName(change.name)
  if (isEmpty(given(change))) return getSchema(ctx, grant, id)
  return inTransaction(ctx.db, (tx) => {
    const row = getSchemaRow(tx, grant, id)
    if (fields !== undefined) applyFieldChanges(ctx.db, id, toSchema(row).fields, fields)
    const patch = {
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(fields === undefined ? {} : { fields: JSON.stringify(fields) }),
    }
    refuseTaken(taken(change.name ?? row.name), () =>
      updateSchema(tx, id, { ...patch, updatedAt: ctx.now() }),
    )
    audit(ctx, tx, grant.actor, { ...about('schema.change', row), before: summary(row), after: patch })
    return toView(getSchemaRow(tx, grant, id))
  })
}

/**
 * Deletes the schema with its records. The first commit makes it invisible. The records are then deleted in steps, so
 * that nobody waits; `removeDeletedSchemas` finishes what is left when the answer is due, or by a crash.
 */
export async function deleteSchema(ctx: Context, grant: Grant, id: string): Promise<void> {
  inTidyingTransaction(ctx.db, (tx) => {
    const row = getSchemaRow(tx, grant, id)
    markSchemaDeleted(tx, id)
    audit(ctx, tx, grant.actor, { ...about('schema.delete', row), before: summary(row) })
  })
  // The deletion is committed, whatever happens to the records that nobody sees any more.
  await removeSchema(ctx, id, whileAnswerWaits()).catch((error) =>
    ctx.log.error('a deleted schema is not yet removed', { schema: id, error }),
  )
}

export async function removeDeletedSchemas(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  for (const id of listDeletedSchemas(ctx.db)) await removeSchema(ctx, id, stop)
}

async function removeSchema(ctx: Context, id: string, stop: Stop): Promise<void> {
  const removeSome = () => deleteSomeRecordsOf(ctx.db, id, REMOVED_AT_ONCE)
  while (!stop.aborted) {
    if (inRelaxedTransaction(ctx.db, removeSome)) await nextTurn()
    else return inTidyingTransaction(ctx.db, () => deleteSchemaRow(ctx.db, id))
  }
}

type SchemaMerge = {
  id: string
  action: 'create' | 'reuse'
  /** A field whose stored type differs from the pushed one: the stored one stays. */
  mismatches: { field: string; stored: string; pushed: string }[]
  isChanged: boolean
}

/**
 * What a push of rules does to a schema: creates it, or adds the fields that it lacks. Existing fields keep their type,
 * but take over `required`, `unique` and `default`. No field is ever removed. contract §9.2.
 */
export function mergeSchema(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  projectId: string,
  pushed: { name: string; fields: unknown },
): SchemaMerge {
  const fields = readFields(pushed.fields)
  const row = findSchemaRowByName(tx, projectId, pushed.name)
  if (row === undefined) {
    const { id } = addSchema(ctx, tx, actor, { projectId, name: pushed.name, fields })
    return { id, action: 'create', mismatches: [], isChanged: true }
  }
  const stored = toSchema(row).fields
  const byName = new Map(fields.map((field) => [field.name, field]))
  const known = new Set(stored.map(({ name }) => name))
  const mismatches = stored.flatMap(({ name, type }) => {
    const other = byName.get(name)
    return other === undefined || other.type === type
      ? []
      : [{ field: name, stored: type, pushed: other.type }]
  })
  const merged = [
    ...stored.map((field) => {
      const other = byName.get(field.name)
      return other === undefined || other.type !== field.type ? field : other
    }),
    ...fields.filter(({ name }) => !known.has(name)),
  ]
  const isChanged = JSON.stringify(merged) !== JSON.stringify(stored)
  if (isChanged) {
    applyFieldChanges(ctx.db, row.id, stored, merged)
    updateSchema(tx, row.id, { fields: JSON.stringify(merged), updatedAt: ctx.now() })
    audit(ctx, tx, actor, { ...about('schema.change', row), before: summary(row), after: { fields: merged } })
  }
  return { id: row.id, action: 'reuse', mismatches, isChanged }
}

const byReference = generationCache<Schema>('sites', 10_000)

/** The schema that a step names: `$schema:<name>` or an id, always of the step's own project. */
export function findSchemaOf(ctx: Context, projectId: string, reference: string): Schema | undefined {
  return byReference.get(ctx.db, `${projectId} ${reference}`, () => {
    const name = reference.startsWith(SCHEMA_BY_NAME) ? reference.slice(SCHEMA_BY_NAME.length) : undefined
    const row =
      name === undefined
        ? findSchemaRow(ctx.db.orm, reference)
        : findSchemaRowByName(ctx.db.orm, projectId, name)
    return row?.projectId === projectId ? toSchema(row) : undefined
  })
}

/** The schema itself, if it is of the project of the grant; else throws 404. */
export const requireSchema = (db: DbOrTx, grant: Grant, id: string): Schema =>
  toSchema(getSchemaRow(db, grant, id))

/** For routes that name a schema in the path. */
export const aboutSchema = (ctx: Context, id: string | undefined): NonNullable<About> =>
  aboutRow(ctx, id, findSchemaRow)

function addSchema(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  { projectId, name, fields }: { projectId: string; name: string; fields: SchemaField[] },
): SchemaRow {
  checkName(name)
  const now = ctx.now()
  const row = {
    id: ctx.newId(),
    projectId,
    name,
    fields: JSON.stringify(fields),
    createdAt: now,
    updatedAt: now,
  }
  refuseTaken(taken(name), () => insertSchema(tx, row))
  audit(ctx, tx, actor, { ...about('schema.create', row), after: summary(row) })
  return row
}

const taken = (name: string): string => `The project already has a schema named ${name}`

function checkName(name: string): void {
  if (!SCHEMA_NAME.test(name))
    throw invalid([
      { path: 'name', message: 'must be 1 to 100 letters, digits, spaces, dots, hyphens and underscores' },
    ])
}

function readFields(value: unknown): SchemaField[] {
  const { fields, errors } = parseSchemaFields(value)
  if (errors.length > 0) throw invalid(errors)
  return fields
}

const invalid = (details: ErrorDetail[]): AppError =>
  new AppError('invalid', details.map(({ path, message }) => `${path} ${message}`).join('; '), { details })

function getSchemaRow(db: DbOrTx, grant: Grant, id: string): SchemaRow {
  const row = within(grant, findSchemaRow(db, id))
  if (row === undefined) throw new AppError('not_found', 'There is no such schema')
  return row
}

function toSchema({ id, projectId, name, fields }: SchemaRow): Schema {
  return { id, projectId, name, fields: JSON.parse(fields) }
}

function toView(row: SchemaRow): SchemaView {
  return {
    id: row.id,
    projectId: row.projectId,
    name: row.name,
    fields: JSON.parse(row.fields),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

const about = (action: string, { id, name, projectId }: SchemaRow) => ({
  action,
  target: { kind: 'schema', id, name },
  projectId,
})

const summary = ({ name, fields }: SchemaRow) => ({ name, fields: JSON.parse(fields) })
