import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import type { Actor } from '../../domain/actor.ts'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { SCHEMA_BY_NAME } from '../../domain/schema-fields.ts'
import type { PipelineConfig } from '../../pipelines/language/model.ts'
import type { Grant } from '../auth/authorize.ts'
import { knownSchemas, resolveSchemas } from '../proxy-rules/schema-references.ts'
import { listSchemas, mergeSchema } from '../schemas/service.ts'
import type { PushedSchema, SchemaResolution } from './model.ts'
import type { RuleDraft } from './push.ts'
import { nameOf } from './rule-name.ts'

type MergedSchemas = {
  resolutions: SchemaResolution[]
  warnings: string[]
  isChanged: boolean
  /** Names by the ids that the push gives them. */
  byPushedId: ReadonlyMap<string, string>
}

/** Creates the schemas of a push, or adds the fields they lack. A changed type is a warning, or 400 if `isStrict`. */
export function mergeSchemas(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  projectId: string,
  schemas: readonly PushedSchema[],
  isStrict: boolean,
): MergedSchemas {
  refuseDoubles(schemas)
  const mismatches: ErrorDetail[] = []
  let isChanged = false
  const resolutions = schemas.map((schema, i): SchemaResolution => {
    const merged = naming(`schemas[${i}]`, schema.name, () => mergeSchema(ctx, tx, actor, projectId, schema))
    isChanged ||= merged.isChanged
    for (const { field, stored, pushed } of merged.mismatches)
      mismatches.push({
        path: `schemas[${i}].fields`,
        message: `Schema ${schema.name}: ${field} is ${stored} on the server and ${pushed} in the push`,
      })
    const { id, action } = merged
    return { name: schema.name, action, targetSchemaId: id, fieldMismatch: merged.mismatches.length > 0 }
  })
  if (isStrict && mismatches[0] !== undefined)
    throw new AppError('invalid', mismatches[0].message, { details: mismatches })
  return {
    resolutions,
    warnings: mismatches.map(({ message }) => `${message}; the stored type stays`),
    isChanged,
    byPushedId: new Map(schemas.flatMap(({ id, name }) => (id === undefined ? [] : [[id, name] as const]))),
  }
}

/** The drafts with every `schemaId` as `$schema:<name>`. Throws 400 naming each that the project does not have. */
export function resolveSchemaIds(
  ctx: Context,
  grant: Grant,
  drafts: readonly RuleDraft[],
  byPushedId: ReadonlyMap<string, string>,
): RuleDraft[] {
  const known = knownSchemas(listSchemas(ctx, grant), byPushedId)
  const details: ErrorDetail[] = []
  const resolved = drafts.map((draft): RuleDraft => {
    if (draft.pipeline === null) return draft
    const { pipeline, unknown } = resolveSchemas(draft.pipeline, known)
    for (const { path, message } of unknown)
      details.push({
        path: `rules[${draft.index}].pipelineConfig.${path}`,
        message: `${nameOf(draft)}: ${message}`,
      })
    return { ...draft, pipeline }
  })
  if (details[0] !== undefined) throw new AppError('invalid', details[0].message, { details })
  return resolved
}

/** The names of the schemas that the steps of a pipeline use. */
export function schemaNamesOf(pipeline: PipelineConfig | null): string[] {
  return [...(pipeline?.steps ?? []), ...(pipeline?.postSteps ?? [])].flatMap(({ config }) => {
    const given = config?.['schemaId']
    return typeof given === 'string' && given.startsWith(SCHEMA_BY_NAME)
      ? [given.slice(SCHEMA_BY_NAME.length)]
      : []
  })
}

function refuseDoubles(schemas: readonly PushedSchema[]): void {
  const details = schemas.flatMap(({ name, id }, i) => {
    const isDouble = schemas
      .slice(0, i)
      .some((other) => other.name === name || (id !== undefined && other.id === id))
    return isDouble
      ? [{ path: `schemas[${i}]`, message: `The push has two schemas ${name}: give each name and id once` }]
      : []
  })
  if (details[0] !== undefined) throw new AppError('invalid', details[0].message, { details })
}

/** Adds the name of the schema to errors of the schema service. */
function naming<T>(path: string, name: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError(error.kind, `Schema ${name}: ${error.message}`, {
      code: error.code,
      details: (error.details ?? []).map((one) => ({ ...one, path: `${path}.${one.path}` })),
    })
  }
}
