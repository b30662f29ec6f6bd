import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { PipelineConfig } from '../../pipelines/language/model.ts'
import { isSamePipeline } from '../../pipelines/language/same-pipeline.ts'
import { ask } from '../../testing/ask.ts'
import { DOCS, SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { seedKey, seedMember } from '../../testing/seed-people.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

/** Rules as YAML. contract 17.5. */
let app: TestApp
let projectId = ''
let schemaId = ''
beforeAll(async () => {
  app = await testApp()
  ;({ projectId } = await seedDeployment(app, DOCS))
  const fields = [{ name: 'text', type: 'string' }]
  const json = { projectId, name: 'notes', fields }
  schemaId = String((await ask(app, 'POST', '/api/schemas', { as: SEED_OWNER, json })).body['id'])
  for (const role of ['viewer', 'contributor'] as const) await seedMember(app, projectId, role)
})
afterAll(() => app.close())

type Read = {
  ok: boolean
  errors: { line: number; column: number; message: string }[]
  warnings: string[]
  rule: Record<string, unknown> | null
}
const validate = async (yaml: unknown, as = SEED_OWNER) => {
  const answer = await app.call('POST', `/api/projects/${projectId}/rules/validate`, { as, json: { yaml } })
  return { status: answer.status, body: (await answer.json()) as Read }
}
const createRule = async (json: object): Promise<Record<string, unknown>> => {
  const { body, status } = await ask(app, 'POST', `/api/proxy-rules/project/${projectId}`, {
    as: SEED_OWNER,
    json,
  })
  expect([status, body]).toEqual([201, expect.anything()])
  return body
}
const yamlOf = (id: unknown, as = SEED_OWNER) => app.call('GET', `/api/proxy-rules/${id}/yaml`, { as })

describe('POST /api/projects/:id/rules/validate', () => {
  test('says everything that is wrong at once, at its place, and stores nothing', async () => {
    const yaml = [
      'pathPattern: no path',
      'metods: [GET]',
      'pipeline:',
      '  steps:',
      '    - id: a',
      '      handler: teleport',
      '    - id: b',
      '      handler: response_handler',
      '      config: { status: 9000 }',
    ].join('\n')
    const { status, body } = await validate(yaml)
    expect([status, body.ok, body.errors.map(({ line }) => line)]).toEqual([200, false, [1, 2, 6, 9]])
    expect(body.errors[1]).toMatchObject({ column: 1, message: expect.stringContaining('methods') })
    const { body: list } = await ask(app, 'GET', `/api/proxy-rules/project/${projectId}`, { as: SEED_OWNER })
    expect(list['rules']).toEqual([])
  })

  const WRONG: [what: string, yaml: string, line: number, message: string][] = [
    ['no YAML', 'pathPattern: [', 1, ''],
    ['no map', '- a', 1, 'must be a map'],
    ['nothing', '', 1, 'must be a map'],
    ['no pathPattern', 'targetUrl: https://a.example', 1, 'pathPattern is required'],
    [
      'a code file',
      'pathPattern: /x\npipeline:\n  steps:\n    - handler: function_handler\n      code: a.js\n',
      5,
      'does not exist',
    ],
    [
      'a header value',
      'pathPattern: /x\ntargetUrl: https://a.example\nheaderConfig: { add: { x-key: s3cret } }',
      3,
      'must be empty',
    ],
  ]
  test.each(WRONG)('%s', async (_, yaml, line, message) => {
    const { body } = await validate(yaml)
    expect([body.ok, body.errors[0]?.line, body.errors[0]?.message]).toEqual([
      false,
      line,
      expect.stringContaining(message),
    ])
  })

  test('a schema that the project has not is a warning; one that it has is known by name and id', async () => {
    const of = (schema: string) =>
      `pathPattern: /x\npipeline:\n  steps:\n    - handler: data_create\n      config: { schemaId: "${schema}", fields: { text: "'a'", more: "'b'" } }\n`
    expect((await validate(of('$schema:nothing'))).body).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining('names no schema of this project')],
    })
    for (const schema of ['$schema:notes', schemaId])
      expect((await validate(of(schema))).body).toMatchObject({
        ok: true,
        warnings: [expect.stringContaining('more is not a field of the schema notes')],
      })
  })

  test('at most 1 MiB, as text', async () => {
    const of = (bytes: number) => `pathPattern: /x\ntargetUrl: /y\n#${'"'.repeat(bytes - 31)}`
    expect((await validate(of(1024 * 1024))).body.ok).toBe(true)
    expect((await validate(of(1024 * 1024 + 1))).status).toBe(413)
    expect((await validate('x'.repeat(9 * 1024 * 1024))).status).toBe(413)
    expect((await validate(1)).status).toBe(400)
  })

  test('for contributors, and keys', async () => {
    expect((await validate('a: b', 'contributor@example.com')).status).toBe(200)
    expect((await validate('a: b', 'viewer@example.com')).status).toBe(403)
    const path = `/api/projects/${projectId}/rules/validate`
    const answer = await app.call('POST', path, { key: seedKey(app, projectId), json: { yaml: 'a: b' } })
    expect(answer.status).toBe(200)
  })
})

describe('GET /api/proxy-rules/:id/yaml', () => {
  const step = (handlerType: string, config: object, more = {}) => ({ handlerType, config, ...more })
  const RULES: [what: string, rule: () => object][] = [
    [
      'a proxy',
      () => ({
        pathPattern: '/api/*',
        targetUrl: 'https://api.example.com',
        stripPrefix: false,
        timeout: 5000,
        order: 7,
        method: 'GET',
      }),
    ],
    [
      'a rewrite',
      () => ({
        pathPattern: '/app/*',
        targetUrl: '/index.html',
        proxyType: 'internal_rewrite',
        methods: ['GET', 'HEAD'],
        isEnabled: false,
      }),
    ],
    [
      'a redirect',
      () => ({
        pathPattern: '/old/*',
        targetUrl: '/new/:splat',
        proxyType: 'redirect',
        status: 308,
        description: 'a: "b"\n# c',
      }),
    ],
    [
      'a pattern of the start page',
      () => ({ pathPattern: '/', targetUrl: '/x', proxyType: 'internal_rewrite' }),
    ],
    [
      'a pipeline with everything',
      () => ({
        pathPattern: '/api/x',
        proxyType: 'pipeline',
        method: 'POST',
        debugEnabled: true,
        pipelineConfig: {
          name: 'yes',
          description: '- 1',
          validators: [{ type: 'rate_limit', config: { limit: 1, windowSeconds: 2, keyBy: 'ip' } }],
          steps: [
            step(
              'form_handler',
              { fields: { no: { type: 'string', default: 'null' }, '1': { type: 'number', min: 0.1 } } },
              { id: 'form' },
            ),
            step('data_create', { schemaId, fields: { text: ': #{y} ~' } }, { name: 'by id' }),
            step(
              'function_handler',
              { code: 'function handler() {\n  return "a"\t\n}\n\n' },
              { isEnabled: false },
            ),
            step('response_handler', {
              body: { a: '~', b: ['true', true, null, 1e21, -0.5] },
              headers: { 'x-a': '*b' },
            }),
          ],
          postSteps: [
            step('data_delete', { schemaId: '$schema:notes', filters: { text: { op: 'eq', value: "'x'" } } }),
          ],
        },
      }),
    ],
  ]
  test.each(RULES)('validated, it gives the same rule: %s', async (_, rule) => {
    const { id, ...stored } = await createRule(rule())
    const answer = await yamlOf(id)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/yaml; charset=utf-8'])
    const { body } = await validate(await answer.text())
    expect(body.errors).toEqual([])
    expect(stored).toMatchObject(body.rule ?? {})
    const { pipelineConfig } = stored as { pipelineConfig: PipelineConfig | null }
    if (pipelineConfig !== null)
      expect(isSamePipeline(body.rule?.['pipelineConfig'] as PipelineConfig, pipelineConfig)).toBe(true)
  })

  test('without header values; for viewers; not of another project', async () => {
    const headerConfig = { add: { 'x-key': 's3cret' }, strip: ['x-b'] }
    const { id } = await createRule({ pathPattern: '/h', targetUrl: 'https://a.example', headerConfig })
    const answer = await yamlOf(id, 'viewer@example.com')
    const text = await answer.text()
    expect([answer.status, text.includes('s3cret'), text.includes('x-key')]).toEqual([200, false, true])
    expect((await validate(text)).body).toMatchObject({
      ok: true,
      rule: { headerConfig: { add: { 'x-key': '' }, strip: ['x-b'] } },
    })
    expect((await yamlOf(Bun.randomUUIDv7())).status).toBe(404)
  })
})

test('GET /api/rule-examples: each validates without error', async () => {
  const { body } = await ask(app, 'GET', '/api/rule-examples', { as: 'viewer@example.com' })
  const examples = body['examples'] as { id: string; title: string; description: string; yaml: string }[]
  expect(examples.map(({ id }) => id)).toEqual(
    expect.arrayContaining([
      'contact-form',
      'list-records',
      'count',
      'call-an-api',
      'send-mail',
      'password-gate',
    ]),
  )
  for (const { id, title, description, yaml } of examples) {
    expect([id, (await validate(yaml)).body]).toEqual([id, expect.objectContaining({ ok: true, errors: [] })])
    expect([title, description]).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S/)])
  }
})
