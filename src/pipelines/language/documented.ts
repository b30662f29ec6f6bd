import type { TSchema } from 'typebox'
import type { Handler } from './handler.ts'
import { pipelineConfig, pipelineStep, pipelineValidator } from './model.ts'
import { HANDLERS } from './registry.ts'
import { VALIDATOR_CONFIGS } from './validators.ts'

type Json = Record<string, unknown>

const CONDITION = {
  type: 'string',
  description: 'an expression: if it is false (`!` negates), the step is skipped and its output is null',
}

/** The JSON Schemas by name that the API explorer shows for pipelines, built from the table of handlers. */
export function pipelineSchemas(): Json {
  const ofHandlers = HANDLERS.map((handler) => [handlerSchemaName(handler), handlerSchema(handler)])
  return {
    PipelineConfig: withItems(pipelineConfig, {
      steps: 'PipelineStep',
      postSteps: 'PipelineStep',
      validators: 'PipelineValidator',
    }),
    PipelineStep: {
      ...jsonOf(pipelineStep),
      description:
        'A step with a handler that this version does not know is stored, and its request is answered with 501.',
      anyOf: HANDLERS.map((handler) => ({
        title: handler.names[0],
        properties: { handlerType: { enum: handler.names }, config: reference(handlerSchemaName(handler)) },
      })),
    },
    PipelineValidator: {
      ...jsonOf(pipelineValidator),
      anyOf: Object.entries(VALIDATOR_CONFIGS).map(([type, config]) => ({
        title: type,
        properties: { type: { const: type }, config: jsonOf(config) },
      })),
    },
    ...Object.fromEntries(ofHandlers),
  }
}

const handlerSchemaName = ({ names: [name] }: Handler): string => `Handler.${name}`

function handlerSchema({ names: [name], summary, result, config }: Handler): Json {
  const { properties, ...rest } = jsonOf(config)
  return {
    ...rest,
    title: name,
    description: `${summary} Output: ${result}`,
    properties: { ...(properties as Json), condition: CONDITION },
  }
}

/** Describes the named lists of an object as lists of a schema that is described elsewhere. */
function withItems(schema: TSchema, items: Record<string, string>): Json {
  const { properties, ...rest } = jsonOf(schema)
  const lists = Object.entries(items).map(([key, name]) => [
    key,
    { ...((properties as Json)[key] as Json), items: reference(name) },
  ])
  return { ...rest, properties: { ...(properties as Json), ...Object.fromEntries(lists) } }
}

const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

/** Without the internal keys of the library. */
const jsonOf = (schema: TSchema): Json => JSON.parse(JSON.stringify(schema))
