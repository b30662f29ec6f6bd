import type { PipelineRule } from '../pipelines/language/model.ts'

export const servesTools = ({ pipelineConfig: { steps } }: PipelineRule): boolean =>
  steps.some(({ handlerType, isEnabled }) => handlerType === 'mcp_handler' && isEnabled !== false)
