import type { PipelineConfig, PipelineStep } from './model.ts'

/**
 * Whether two pipelines are the same one. Keys that are read by name have no order; inside of a setting they may have one,
 * as the fields of an answer do.
 */
export const isSamePipeline = (a: PipelineConfig, b: PipelineConfig): boolean => normal(a) === normal(b)

const normal = ({ validators, steps, postSteps, ...rest }: PipelineConfig): string =>
  JSON.stringify([
    sorted(rest),
    validators?.map(({ type, config }) => [type, sorted(config)]),
    steps.map(normalStep),
    postSteps?.map(normalStep),
  ])

const normalStep = ({ config, ...rest }: PipelineStep) => [sorted(rest), sorted(config)]

const sorted = (value: object | undefined) =>
  value && Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
