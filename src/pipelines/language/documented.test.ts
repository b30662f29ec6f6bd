import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { HANDLERS } from './registry.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

test('the explorer shows every handler of the table on the endpoints that take a rule', async () => {
  const { components, paths } = await (await app.call('GET', '/api/docs/json')).json()
  const { schemas } = components
  for (const { names, summary, config } of HANDLERS) {
    const shown = schemas[`Handler.${names[0]}`]
    expect(shown.description).toStartWith(summary)
    const keys = Object.keys('properties' in config ? (config.properties as object) : {})
    expect(Object.keys(shown.properties)).toEqual([...keys, 'condition'])
  }
  const types = schemas.PipelineStep.anyOf.flatMap(
    (one: { properties: { handlerType: { enum: string[] } } }) => one.properties.handlerType.enum,
  )
  expect(types).toEqual(HANDLERS.flatMap(({ names }) => names))
  const sync = paths['/api/proxy-rule-sets/project/{projectId}/sync'].put.requestBody
  const rule = sync.content['application/json'].schema.properties.rules.items
  expect(rule.properties.pipelineConfig.anyOf[0]).toEqual({ $ref: '#/components/schemas/PipelineConfig' })
  const { steps, validators } = schemas.PipelineConfig.properties
  expect(steps.items).toEqual({ $ref: '#/components/schemas/PipelineStep' })
  expect(validators.items).toEqual({ $ref: '#/components/schemas/PipelineValidator' })
})
