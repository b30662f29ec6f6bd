import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { ask, NO_ID } from '../../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

let app: TestApp
let projectId: string
let schemaId: string
let othersId: string

beforeAll(async () => {
  app = await testApp({ BASE_DOMAIN: 'sites.test', ADMIN_HOST: 'localhost' })
  const seed = { owner: 'acme', sha: '1'.repeat(40), alias: 'production', files: { 'index.html': 'x' } }
  ;({ projectId } = await seedDeployment(app, { ...seed, repo: 'docs' }))
  const shop = await seedDeployment(app, { ...seed, repo: 'shop' })
  schemaId = await addSchema(projectId, 'leads')
  othersId = await addSchema(shop.projectId, 'orders')
})
afterAll(() => app.close())
afterEach(async () => {
  app.ctx.db.sqlite.run('DELETE FROM proxy_rules')
})

async function addSchema(ofProject: string, name: string): Promise<string> {
  const json = { projectId: ofProject, name, fields: [{ name: 'text', type: 'string' }] }
  return String((await ask(app, 'POST', '/api/schemas', { as: SEED_OWNER, json })).body['id'])
}

const countOf = (schema: string) => ({
  id: 'n',
  handlerType: 'db_aggregate',
  config: { schemaId: schema, operation: 'count' },
})
const pipeline = (schema: string) => ({ steps: [countOf(schema)] })
const create = (pipelineConfig: unknown) =>
  ask(app, 'POST', `/api/proxy-rules/project/${projectId}`, {
    as: SEED_OWNER,
    json: { pathPattern: '/n', proxyType: 'pipeline', pipelineConfig },
  })
const change = (id: unknown, json: unknown) =>
  ask(app, 'PATCH', `/api/proxy-rules/${id}`, { as: SEED_OWNER, json })
const refusal = ({ status, body }: Awaited<ReturnType<typeof ask>>) => [status, body['details']]
const at = (path: string, message: string) => [{ path: `pipelineConfig.${path}.config.schemaId`, message }]

const UNKNOWN: [kind: string, reference: () => string, message: () => string][] = [
  ['an unknown id', () => NO_ID, () => `the project has no schema ${NO_ID}; it has leads`],
  ['an unknown name', () => '$schema:orders', () => 'the project has no schema orders; it has leads'],
  ['the id of another project', () => othersId, () => `the project has no schema ${othersId}; it has leads`],
  ['a bare name', () => 'leads', () => 'write $schema:leads for the schema leads'],
  ['a bare name in quotes', () => "'leads'", () => 'write $schema:leads for the schema leads'],
  ['a number', () => '5', () => 'the project has no schema 5; it has leads'],
]

test.each(UNKNOWN)('%s is refused as a schema, on create and on change', async (_, of, message) => {
  const reference = of()
  expect(refusal(await create(pipeline(reference)))).toEqual([400, at('steps[0]', message())])

  const { body } = await create(pipeline('$schema:leads'))
  const changed = await change(body['id'], { pipelineConfig: pipeline(reference) })
  expect(refusal(changed)).toEqual([400, at('steps[0]', message())])
})

test('an unknown schema of a step after the answer is refused', async () => {
  const refused = await create({
    ...pipeline(schemaId),
    postSteps: [{ ...countOf('$schema:none'), id: 'm' }],
  })
  expect(refusal(refused)).toEqual([400, at('postSteps[0]', 'the project has no schema none; it has leads')])
})

test('a rule that becomes a pipeline is checked', async () => {
  const made = await ask(app, 'POST', `/api/proxy-rules/project/${projectId}`, {
    as: SEED_OWNER,
    json: { pathPattern: '/n', targetUrl: 'https://api.example.com', pipelineConfig: pipeline(NO_ID) },
  })
  expect((await change(made.body['id'], { proxyType: 'pipeline' })).status).toBe(400)
})

test.each([
  ['its id', () => schemaId],
  ['its name', () => '$schema:leads'],
  ['an expression', () => 'request.query.of'],
])('a schema is found by %s', async (_, of) => {
  expect((await create(pipeline(of()))).status).toBe(201)
  const answer = await ask(app, 'GET', '/n?of=%24schema%3Aleads', {
    host: 'production--docs--acme.sites.test',
  })
  expect(answer).toEqual({ status: 200, body: { success: true, data: 0 } })
})

test('a pipeline that was stored before it was refused can still be disabled', async () => {
  const { body } = await create(pipeline(schemaId))
  const old = JSON.stringify({ steps: [{ id: 'f', handlerType: 'function_handler', config: {} }] })
  app.ctx.db.sqlite.query('UPDATE proxy_rules SET pipeline_config = ?').run(old)
  expect(await change(body['id'], { isEnabled: false })).toMatchObject({ status: 200 })
  expect(await change(body['id'], { pipelineConfig: JSON.parse(old) })).toMatchObject({ status: 200 })
  expect((await create(JSON.parse(old))).status).toBe(400)
})

test('a rule whose schema was deleted can still be disabled', async () => {
  const id = await addSchema(projectId, 'gone')
  const { body } = await create(pipeline(id))
  await ask(app, 'DELETE', `/api/schemas/${id}`, { as: SEED_OWNER })
  const json = { isEnabled: false, pipelineConfig: body['pipelineConfig'] }
  expect(await change(body['id'], json)).toMatchObject({ status: 200, body: { isEnabled: false } })
})

test('the field for the key of data_upsert_many must be one of the schema, by hand and in a push', async () => {
  const upsert = (dedupField: string) => ({
    steps: [
      {
        handlerType: 'data_upsert_many',
        config: {
          schemaId: '$schema:leads',
          items: 'request.body',
          map: { text: 'steps.item' },
          dedupField,
          dedupKey: 'steps.item',
        },
      },
    ],
  })
  const message = 'must be a field of the schema leads, which has text'
  const path = 'pipelineConfig.steps[0].config.dedupField'
  expect(refusal(await create(upsert('key')))).toEqual([400, [{ path, message }]])
  expect((await create(upsert('text'))).status).toBe(201)
  const push = (dedupField: string) =>
    ask(app, 'PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, {
      as: SEED_OWNER,
      json: {
        ruleSet: { name: 'set' },
        rules: [{ pathPattern: '/n', method: 'POST', pipelineConfig: upsert(dedupField) }],
        options: {},
      },
    })
  expect(refusal(await push('key'))).toEqual([
    400,
    [{ path: `rules[0].${path}`, message: `POST /n: ${message}` }],
  ])
  expect((await push('text')).status).toBe(200)
})
