import type { PipelineConfig, PipelineStep } from './model.ts'

/**
 * Whether two pipelines are equal. The order of keys that are read by name does not matter. Inside a setting it may, as
 * for the fields of a response.
 */
export const isSamePipeline = (a: PipelineConfig, b: PipelineConfig): boolean => normal(a) === normal(b)

const normal = ({ validators, steps, postSteps, ...rest }: PipelineConfig): string =>
  JSON.stringify([
    sorted(rest),
    validators?.map(({ type, config, ...unknown }) => [type, sorted(config), sorted(unknown)]),
    steps.map(normalStep),
    postSteps?.map(normalStep),
  ])

const normalStep = ({ config, ...rest }: PipelineStep) => [sorted(rest), sorted(config)]

const sorted = (value: object | undefined) =>
  value && Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
