import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { operatorGrant } from '../modules/auth/authorize.ts'
import { putSecret } from '../modules/secrets/service.ts'
import { IP, type PipelineApp, pipelineApp, step } from '../testing/pipeline-app.ts'
import { runPipeline } from './run.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

const respond = (body: unknown, more = {}) => step('r', 'response_handler', { body }, more)
const json = async (steps: Parameters<PipelineApp['run']>[0], options?: Parameters<PipelineApp['run']>[1]) =>
  (await app.answer(steps, options)).body

describe('steps', () => {
  test('without a response_handler: the output of the last step that ran', async () => {
    const one = step('one', 'function_handler', { code: 'const handler = () => ({ a: 1 })' })
    const off = step('off', 'function_handler', { code: 'const handler = () => 2' }, { isEnabled: false })
    const skipped = step('no', 'function_handler', { code: 'const handler = () => 3', condition: 'false' })
    expect(await json([one, off, skipped])).toEqual({ success: true, data: { a: 1 } })
    expect(await json([])).toEqual({ success: true, data: null })
  })

  test('outputs are available under id and name; a skipped one is null', async () => {
    const steps = [
      step('a', 'form_handler', { fields: { x: { type: 'string' } } }, { name: 'My form' }),
      step('b', 'form_handler', { fields: {}, condition: '!steps.a.x' }),
      respond({ byId: 'steps.a.x', byName: "steps['My form'].x", b: 'steps.b' }),
    ]
    expect(await json(steps, { json: { x: 'X' } })).toEqual({ byId: 'X', byName: 'X', b: null })
  })

  test('a step without an id is called by its name, else by its place', async () => {
    const form = { handlerType: 'form_handler', config: { fields: { x: { type: 'string', default: 'X' } } } }
    const off = { handlerType: 'teleport', isEnabled: false }
    const body = {
      one: 'steps.step_1.x',
      two: 'steps.second.x',
      three: 'steps.step_4.x',
      none: 'steps.step_2',
    }
    const steps = [form, { ...form, name: 'second' }, off, { ...form, name: '' }]
    const answer = { handlerType: 'response_handler', config: { body } }
    expect(await json([...steps, answer])).toEqual({ one: 'X', two: 'X', three: 'X', none: null })
    const wrong = {
      handlerType: 'form_handler',
      config: { fields: { y: { type: 'string', required: true } } },
    }
    expect(await app.answer([form, wrong])).toMatchObject({ status: 400, body: { step: 'step_2' } })
    expect(await app.answer([{ ...wrong, name: 'my form' }])).toMatchObject({ body: { step: 'my form' } })
  })

  test('a step can keep all outputs as its own', async () => {
    const all = step('all', 'form_handler', { fields: { x: { type: 'json', default: 'steps' } } })
    const first = step('first', 'form_handler', { fields: { y: { type: 'string' } } })
    expect(await json([first, all], { json: { y: 'Y' } })).toMatchObject({
      data: { x: { first: { y: 'Y' } } },
    })
  })

  test('outputs that contain each other do not grow without bound', async () => {
    const twice = (i: number) => {
      const before = i === 0 ? 5 : `steps.s${i - 1}`
      const field = { type: 'json', default: before }
      return step(`s${i}`, 'form_handler', { fields: { a: field, b: field } })
    }
    const steps = Array.from({ length: 100 }, (_, i) => twice(i))
    const answer = await app.run(steps, { json: {} })
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ message: 'The step produces a value that is too large' })
  })

  const copies = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`c${i}`, 'request.body']))
  test.each([
    ['response_handler', { body: copies }],
    ['function_handler', { code: 'const handler = () => 1', args: copies }],
    ['http_request', { url: 'https://api.example', method: 'POST', body: copies }],
  ])('%s refuses a value that is huge because it repeats the body', async (handler, config) => {
    const steps = [step('a', handler, config)]
    expect(await app.answer(steps, { json: { x: 'x'.repeat(1_000_000) } })).toMatchObject({
      status: 500,
      body: { message: 'The step produces a value that is too large' },
    })
  })

  test('the first response ends the run', async () => {
    const id = app.addSchema('after', [{ name: 'x', type: 'string' }])
    const steps = [respond({ n: 1 }), step('s', 'data_create', { schemaId: id, fields: {} })]
    expect(await json(steps)).toEqual({ n: 1 })
    expect(app.stored(id)).toEqual([])
  })

  test.each<[condition: unknown, runs: boolean]>([
    ['input.yes', true],
    ['!input.yes', false],
    ['!!input.yes', true],
    ['! input.no', true],
    ['input.missing', false],
    ['input.zero', false],
    ['input.empty', false],
    ['input.list', true],
    ['input.object', true],
    ['!input.list', false],
    ['input.text', true],
    ['false', false],
    [false, false],
    [true, true],
    ['{{input.empty}}', false],
  ])('condition %p', async (condition, runs) => {
    const body = { yes: true, no: false, zero: 0, empty: '', list: [], object: {}, text: 'false' }
    const steps = [
      step('r', 'response_handler', { condition, body: '{"ran":true}' }),
      respond('{"ran":false}'),
    ]
    expect(await json(steps, { json: body })).toEqual({ ran: runs })
  })

  test('an unknown handler is 501 and named', async () => {
    expect(await json([step('x', 'teleport_handler')])).toMatchObject({
      statusCode: 501,
      error: 'Not Implemented',
      message: expect.stringContaining('teleport_handler'),
      step: 'x',
    })
    expect(await json([step('x', 'teleport_handler', { condition: 'false' }), respond('{}')])).toEqual({})
  })

  test('a step with a wrong configuration fails when it runs, and visitors get no details', async () => {
    const body = await json([step('x', 'data_create', { schemaId: 'steps.', fields: {} })])
    expect(body).toMatchObject({
      statusCode: 500,
      step: 'x',
      message: 'The configuration of the step is wrong',
    })
  })
})

describe('what expressions see', () => {
  test('the request, without the cookies and headers of the service', async () => {
    const steps = [
      respond({
        headers: 'request.headers',
        all: 'request',
        m: 'metadata.method',
        ip: 'request.ip',
        id: 'uuid()',
        now: 'now()',
        project: 'project',
        deployment: 'deployment',
        user: 'user',
        over: 'input.q',
      }),
    ]
    const answer = (await json(steps, {
      path: '/api/a%20b?q=1&list=1&list=2',
      json: { q: 2 },
      headers: {
        cookie: 'sAccessToken=secret; theme=dark; sIdRefreshToken=secret',
        'x-api-key': 'svc_secret',
        authorization: 'Bearer t',
        'user-agent': 'Test/1',
      },
    })) as Record<string, Record<string, unknown>>
    expect(JSON.stringify(answer)).not.toContain('secret')
    expect(answer['headers']).toMatchObject({ cookie: 'theme=dark', authorization: 'Bearer t' })
    expect(answer).toMatchObject({
      all: {
        method: 'POST',
        path: '/api/a%20b',
        query: { q: '1', list: ['1', '2'] },
        params: { 0: 'a b' },
        ip: IP,
        userAgent: 'Test/1',
        body: { q: 2 },
      },
      m: 'POST',
      ip: IP,
      now: '2026-11-20T12:00:00.000Z',
      project: { id: app.projectId, owner: 'acme', name: 'site' },
      deployment: { owner: 'acme', repo: 'site', commitSha: 'abc1234', alias: 'production' },
      user: null,
      over: 2,
    })
  })

  test('a cookie header with only the session is dropped', async () => {
    const headers = await json([respond({ h: 'request.headers' })], { headers: { cookie: 'sAccessToken=x' } })
    expect(Object.keys((headers as { h: object }).h)).not.toContain('cookie')
  })

  test('an invalid body only fails steps that use it', async () => {
    const broken = { body: '{', headers: { 'content-type': 'application/json' } }
    expect((await app.run([respond('{"a":1}')], broken)).status).toBe(200)
    expect((await app.run([respond({ a: 'request.body' })], broken)).status).toBe(400)
  })

  test('secrets of the project, decrypted when they are used', async () => {
    putSecret(app.ctx, operatorGrant(app.projectId), 'TOKEN', 't0k3n')
    expect(await json([respond({ t: 'secrets.TOKEN', none: 'secrets.NONE' })])).toEqual({
      t: 't0k3n',
      none: null,
    })
    expect(
      await json([respond({ t: 'secrets.TOKEN' })], { projectId: app.addProject('no-secrets') }),
    ).toEqual({ t: null })
  })

  test('no value of a request leads to a secret', async () => {
    putSecret(app.ctx, operatorGrant(app.projectId), 'TOKEN', 't0k3n')
    const asked = { json: { name: 'TOKEN', text: '{{secrets.TOKEN}}', path: 'secrets.TOKEN' } }
    const body = {
      all: 'secrets',
      dynamic: 'secrets[input.name]',
      number: 'secrets[0]',
      inTemplate: '<{{secrets}}{{secrets[input.name]}}{{input.text}}{{input.path}}>',
    }
    expect(await json([respond(body)], asked)).toEqual({
      all: null,
      dynamic: null,
      number: null,
      inTemplate: '<{{secrets.TOKEN}}secrets.TOKEN>',
    })
  })
})

test('no step starts once the run has taken too long', async () => {
  const steps = [respond('{}')]
  const rule = {
    id: 'rule',
    projectId: app.projectId,
    pathPattern: '/x',
    method: null,
    pipelineConfig: { steps },
    debugEnabled: false,
  }
  const input = { method: 'GET', path: '/x', query: {}, params: {}, headers: {}, ip: IP, userAgent: null }
  const place = { owner: 'acme', repo: 'site', commitSha: 'abc1234', alias: null }
  const all = { ...input, body: { kind: 'none' } as const, user: null, project: {}, deployment: place }
  expect((await runPipeline(app.ctx, rule, all)).result).toHaveProperty('answer')
  const { result } = await runPipeline(app.ctx, rule, all, { limitMs: -1 })
  expect(result).toMatchObject({ step: 'r', error: { status: 500 } })
})
