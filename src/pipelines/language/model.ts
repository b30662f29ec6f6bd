import { Type } from 'typebox'
import { MAX_DESCRIPTION } from '../../domain/description.ts'

const text = (description: string, maxLength: number) => Type.String({ description, maxLength })

const stepFields = {
  id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'names the output: `steps.<id>`. Without it the name does, and without a name `step_<n>`, in post steps `post_step_<n>`, where `<n>` is the place in the list, from 1',
    }),
  ),
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
    description: Type.Optional(text('what it is for', MAX_DESCRIPTION)),
    steps: Type.Array(pipelineStep, { maxItems: MAX_STEPS }),
    validators: Type.Optional(Type.Array(pipelineValidator, { maxItems: 20 })),
    postSteps: Type.Optional(Type.Array(pipelineStep, { maxItems: MAX_STEPS })),
  },
  { additionalProperties: false },
)

export type PipelineStep = Type.Static<typeof pipelineStep>
export type StepList = 'steps' | 'postSteps'

/** What a step is called everywhere. `index`: its place in the list, from 0. contract 14.1. */
export function stepIdOf({ id, name }: PipelineStep, list: StepList, index: number): string {
  return id ?? (name || `${list === 'steps' ? 'step' : 'post_step'}_${index + 1}`)
}

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
