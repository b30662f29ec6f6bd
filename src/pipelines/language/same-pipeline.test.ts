import { expect, test } from 'bun:test'
import type { PipelineConfig } from './model.ts'
import { isSamePipeline } from './same-pipeline.ts'

const pipeline = (config: Record<string, unknown>): PipelineConfig => ({
  steps: [{ id: 'a', handlerType: 'response_handler', config }],
})

test('the order of settings does not matter', () => {
  expect(isSamePipeline(pipeline({ status: 200, body: 'x' }), pipeline({ body: 'x', status: 200 }))).toBe(
    true,
  )
  const [step] = pipeline({}).steps
  const turned = { handlerType: 'response_handler', config: {}, id: 'a' }
  expect(isSamePipeline({ steps: step ? [step] : [], name: 'n' }, { name: 'n', steps: [turned] })).toBe(true)
})

test.each<[string, PipelineConfig, PipelineConfig]>([
  ['a value', pipeline({ status: 200 }), pipeline({ status: 201 })],
  ['a setting more', pipeline({}), pipeline({ status: 200 })],
  [
    'the order inside of a body',
    pipeline({ body: { a: '1', b: '2' } }),
    pipeline({ body: { b: '2', a: '1' } }),
  ],
  ['a step more', pipeline({}), { steps: [...pipeline({}).steps, ...pipeline({}).steps] }],
  ['a name', { ...pipeline({}), name: 'a' }, { ...pipeline({}), name: 'b' }],
  [
    'a validator',
    { ...pipeline({}), validators: [{ type: 'auth_required' }] },
    { ...pipeline({}), validators: [{ type: 'auth_required', config: { allowApiKey: true } }] },
  ],
  ['a post step', { ...pipeline({}), postSteps: [] }, { ...pipeline({}), postSteps: pipeline({}).steps }],
])('%s makes a different pipeline', (_, a, b) => {
  expect(isSamePipeline(a, b)).toBe(false)
})
