import { Type } from 'typebox'

const text = (description: string, maxLength = 10_000) => Type.String({ description, maxLength })

const stepFields = {
  id: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'names the output: steps.<id>',
  }),
  name: Type.Optional(text('another name of the output', 200)),
  handlerType: Type.String({ minLength: 1, maxLength: 100 }),
  config: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  isEnabled: Type.Optional(Type.Boolean()),
}

/** One step. The handler defines what `config` may hold. contract §9.3. */
export const pipelineStep = Type.Object(stepFields, { additionalProperties: false })

export const pipelineValidator = Type.Object(
  {
    type: Type.String({ minLength: 1, maxLength: 100 }),
    config: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false },
)

export const MAX_STEPS = 100

/** A pipeline as stored with its rule and sent in a push. contract §9.1 and §9.2. */
export const pipelineConfig = Type.Object(
  {
    name: Type.Optional(text('what it is called', 200)),
    description: Type.Optional(text('what it is for')),
    steps: Type.Array(pipelineStep, { maxItems: MAX_STEPS }),
    validators: Type.Optional(Type.Array(pipelineValidator, { maxItems: 20 })),
    postSteps: Type.Optional(Type.Array(pipelineStep, { maxItems: MAX_STEPS })),
  },
  { additionalProperties: false },
)

export type PipelineStep = Type.Static<typeof pipelineStep>
export type PipelineValidator = Type.Static<typeof pipelineValidator>
export type PipelineConfig = Type.Static<typeof pipelineConfig>

/**
 * A rule that runs a pipeline, as the site engine passes it. Pass the same `pipelineConfig` object for the same rule:
 * the compiled form is cached by that object.
 */
export type PipelineRule = {
  id: string
  projectId: string
  pathPattern: string
  method: string | null
  pipelineConfig: PipelineConfig
  /** Whether the run log keeps the input and output of each step. */
  debugEnabled: boolean
}
