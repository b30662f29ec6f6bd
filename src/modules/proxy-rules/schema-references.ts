import type { ErrorDetail } from '../../domain/errors.ts'
import { SCHEMA_BY_NAME } from '../../domain/schema-fields.ts'
import type { PipelineConfig, PipelineStep } from '../../pipelines/language/model.ts'
import { missingFields, schemaReference } from '../../pipelines/language/references.ts'

/** The schemas that the steps of a project may name: their fields by their names, and their names by their ids. */
export type KnownSchemas = {
  fields: ReadonlyMap<string, readonly string[]>
  byId: ReadonlyMap<string, string>
}

/** The schemas of a list, and those that have another id in a push. */
export function knownSchemas(
  schemas: readonly { id: string; name: string; fields: readonly { name: string }[] }[],
  byPushedId: ReadonlyMap<string, string> = new Map(),
): KnownSchemas {
  return {
    fields: new Map(schemas.map(({ name, fields }) => [name, fields.map((field) => field.name)])),
    byId: new Map([...schemas.map(({ id, name }) => [id, name] as const), ...byPushedId]),
  }
}

/**
 * The pipeline with every schema as `$schema:<name>`, and what it names that is not known. Paths begin with `steps` or
 * `postSteps`.
 */
export function resolveSchemas(
  pipeline: PipelineConfig,
  known: KnownSchemas,
): { pipeline: PipelineConfig; unknown: ErrorDetail[] } {
  const unknown: ErrorDetail[] = []
  const resolve = (list: string) => (step: PipelineStep, i: number) => {
    const reference = referenceOf(step, known)
    if (reference === undefined) return step
    const name = nameOf(reference, known)
    const fields = name === undefined ? undefined : known.fields.get(name)
    if (name === undefined || fields === undefined)
      unknown.push({
        path: `${list}[${i}].config.schemaId`,
        message: unknownSchema(name ?? reference, known),
      })
    else
      for (const { key, message } of missingFields(step, { name, fields }))
        unknown.push({ path: `${list}[${i}].config.${key}`, message })
    return name === undefined
      ? step
      : { ...step, config: { ...step.config, schemaId: `${SCHEMA_BY_NAME}${name}` } }
  }
  const steps = pipeline.steps.map(resolve('steps'))
  const postSteps = pipeline.postSteps?.map(resolve('postSteps'))
  return { pipeline: { ...pipeline, steps, ...(postSteps === undefined ? {} : { postSteps }) }, unknown }
}

function referenceOf(step: PipelineStep, { byId }: KnownSchemas): string | undefined {
  const given = step.config?.['schemaId']
  return typeof given === 'string' && byId.has(given) ? given : schemaReference(step)
}

const nameOf = (reference: string, { byId }: KnownSchemas): string | undefined =>
  reference.startsWith(SCHEMA_BY_NAME) ? reference.slice(SCHEMA_BY_NAME.length) : byId.get(reference)

const unknownSchema = (reference: string, { fields }: KnownSchemas): string =>
  fields.has(reference)
    ? `write ${SCHEMA_BY_NAME}${reference} for the schema ${reference}`
    : `the project has no schema ${reference}; it has ${[...fields.keys()].join(', ') || 'none'}`
