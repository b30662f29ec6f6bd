import type { Context } from '../../context.ts'
import type { PipelineConfig } from '../../pipelines/language/model.ts'
import type { Grant } from '../auth/authorize.ts'
import { parseMethods } from './methods.ts'
import { listPipelineRows } from './uses-queries.ts'

/** A pipeline that reads or writes a schema, with the names of the handlers that do. */
export type SchemaUse = {
  ruleId: string
  pathPattern: string
  method: string | null
  methods: string[] | null
  isEnabled: boolean
  /** Null for a rule made by hand. */
  ruleSet: string | null
  /** Null if it belongs to the whole project, or to its set. */
  alias: string | null
  handlers: string[]
}

/** Uses of schemas in the project of the grant, keyed by what the steps say: `$schema:<name>` or an id. */
export function listSchemaUses(ctx: Context, grant: Grant): Map<string, SchemaUse[]> {
  const uses = new Map<string, SchemaUse[]>()
  const pipelines = listPipelineRows(ctx.db.orm, grant.projectId ?? '')
  for (const { pipelineConfig, methods, ...rule } of pipelines)
    for (const [reference, handlers] of referencesOf(pipelineConfig)) {
      const use = { ...rule, methods: parseMethods(methods), handlers }
      uses.set(reference, [...(uses.get(reference) ?? []), use])
    }
  return uses
}

/** The schemas named by the steps of a stored pipeline, and the handlers that name them. */
function referencesOf(stored: string | null): Map<string, string[]> {
  const found = new Map<string, string[]>()
  if (stored === null) return found
  const { steps, postSteps }: PipelineConfig = JSON.parse(stored)
  for (const { handlerType, config } of [...(steps ?? []), ...(postSteps ?? [])]) {
    const reference = config?.['schemaId']
    if (typeof reference !== 'string') continue
    const handlers = found.get(reference) ?? []
    if (!handlers.includes(handlerType)) found.set(reference, [...handlers, handlerType])
  }
  return found
}
