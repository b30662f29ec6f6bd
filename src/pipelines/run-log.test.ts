import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOperatorKey } from '../modules/api-keys/service.ts'
import { operatorGrant } from '../modules/auth/authorize.ts'
import { putSecret } from '../modules/secrets/service.ts'
import { type PipelineApp, pipelineApp, step } from '../testing/pipeline-app.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

const respond = (body: unknown, more = {}) => step('r', 'response_handler', { body }, more)

describe('the run log', () => {
  const runs = async (query = '', as = 'ann@example.com') => {
    const answer = await app.call('GET', `/api/projects/${app.projectId}/pipeline-runs${query}`, { as })
    return (await answer.json()) as { data: Record<string, unknown>[]; pagination: { total: number } }
  }

  test('has each run with its rule, status and failing step', async () => {
    await app.run(
      { name: 'Broken', steps: [step('bad', 'teleport')] },
      { rule: { id: 'r-log' }, path: '/api/log' },
    )
    await app.run([respond('{}')], { rule: { id: 'r-log' } })
    const { data, pagination } = await runs('?ruleId=r-log')
    expect(pagination.total).toBe(2)
    expect(data[1]).toMatchObject({
      ruleId: 'r-log',
      ruleName: 'Broken',
      method: 'POST',
      path: '/api/log',
      status: 501,
      failedStep: 'bad',
      steps: null,
      startedAt: expect.any(String),
      durationMs: expect.any(Number),
    })
    expect(data[0]).toMatchObject({ status: 200, failedStep: null, error: null })
  })

  test('with debugEnabled has inputs and outputs, and no secret in list or detail', async () => {
    const value = 'p"ss w<rd'
    putSecret(app.ctx, operatorGrant(app.projectId), 'PASS', value)
    const steps = [
      step('call', 'http_request', {
        url: "{{'https://127.0.0.1/?k='}}{{secrets.PASS}}",
        headers: { authorization: 'Bearer {{secrets.PASS}}' },
        timeout: 100,
        condition: 'false',
      }),
      step('fn', 'function_handler', { code: 'const handler = ({ request }) => ({ got: request.body })' }),
      respond('{"said":"{{secrets.PASS}}","deep":{{{request.body}}}}'),
    ]
    await app.run(steps, { json: { n: 1 }, rule: { id: 'r-debug', debugEnabled: true } })
    const bearer = [
      step('h', 'http_request', {
        url: 'https://127.0.0.1/',
        headers: { authorization: 'Bearer {{secrets.PASS}}' },
        timeout: 100,
      }),
    ]
    await app.run(bearer, { rule: { id: 'r-debug', debugEnabled: true } })
    const { data } = await runs('?ruleId=r-debug')
    const [second, first] = data
    expect(first).toMatchObject({
      steps: [{ id: 'call', skipped: true }, { id: 'fn', output: { got: { n: 1 } } }, { id: 'r' }],
    })
    expect(second).toMatchObject({
      failedStep: 'h',
      steps: [
        { id: 'h', input: { headers: { authorization: 'Bearer [redacted]' } }, error: expect.any(String) },
      ],
    })
    const detail = await app.call('GET', `/api/projects/${app.projectId}/pipeline-runs/${first?.['id']}`, {
      as: 'ann@example.com',
    })
    const text = JSON.stringify(data) + (await detail.text())
    expect(text).toContain('[redacted]')
    for (const written of [
      value,
      JSON.stringify(value).slice(1, -1),
      JSON.stringify(JSON.stringify(value)).slice(1, -1),
      encodeURIComponent(value),
    ])
      expect(text).not.toContain(written)
  })

  test('masks a value in an early step that a later step reveals to be a secret', async () => {
    putSecret(app.ctx, operatorGrant(app.projectId), 'HOOK', 'hook-4711')
    const steps = [
      step('fn', 'function_handler', { code: 'const handler = ({ request }) => request.body' }),
      respond('{"same":"{{secrets.HOOK}}"}'),
    ]
    const rule = { id: 'r-early', debugEnabled: true }
    expect(await (await app.run(steps, { json: { token: 'hook-4711' }, rule })).text()).toContain('hook-4711')
    const { data } = await runs('?ruleId=r-early')
    expect(data[0]).toMatchObject({ steps: [{ id: 'fn', output: { token: '[redacted]' } }, { id: 'r' }] })
    expect(JSON.stringify(data)).not.toContain('hook-4711')
  })

  test('says why a step failed without the secret in it', async () => {
    putSecret(app.ctx, operatorGrant(app.projectId), 'WORD', 'swordfish')
    const rule = { id: 'r-failing', debugEnabled: true }
    expect((await app.run([respond('{{{secrets.WORD}}}')], { rule })).status).toBe(500)
    const { data } = await runs('?ruleId=r-failing')
    expect(JSON.stringify(data)).not.toContain('swordfish')
    const about = expect.stringMatching(/not valid JSON .*\[redacted\]/)
    expect(data).toMatchObject([{ error: about, steps: [{ id: 'r', error: about }] }])
  })

  describe('of a pipeline that names a secret, inputs and outputs are for project admins', () => {
    const readers: [who: string, role: string, sees: boolean][] = [
      ['ann@example.com', 'owner', true],
      ['admin@example.com', 'admin', true],
      ['contributor@example.com', 'contributor', false],
      ['viewer@example.com', 'viewer', false],
      ['root@example.com', 'global admin', true],
    ]
    const HIDDEN = { input: null, output: null, redacted: true }
    const named = [
      step('fn', 'function_handler', {
        code: 'const handler = ({ args }) => [...args.k].reverse().join("")',
        args: { k: 'secrets.BACK' },
      }),
      step('skipped', 'response_handler', { body: '{}', condition: 'false' }),
      respond('{"a":1}'),
    ]

    beforeAll(async () => {
      for (const [email, role] of readers) {
        if (role === 'owner') continue
        await app.addUser(email, role === 'global admin' ? 'admin' : 'user')
        if (role === 'global admin') continue
        await app.call('POST', `/api/projects/${app.projectId}/permissions/users`, {
          as: 'ann@example.com',
          json: { email, role },
        })
      }
      putSecret(app.ctx, operatorGrant(app.projectId), 'BACK', 'backwards')
      await app.run(named, { rule: { id: 'r-named', debugEnabled: true } })
      await app.run([respond('{"b":2}')], { rule: { id: 'r-plain', debugEnabled: true } })
      await app.run([respond('{"c":{{{request.body}}}}')], {
        json: { c: 3 },
        rule: {
          id: 'r-later',
          debugEnabled: true,
          pipelineConfig: {
            steps: [respond('{"c":{{{request.body}}}}')],
            postSteps: [step('p', 'data_create', { fields: { a: 'secrets.NOT_SET' } }, { isEnabled: false })],
          },
        },
      })
    })

    test.each(readers)('%s, %s', async (as, _role, sees) => {
      const { data } = await runs('?ruleId=r-named', as)
      const detail = await app.call(
        'GET',
        `/api/projects/${app.projectId}/pipeline-runs/${data[0]?.['id']}`,
        { as },
      )
      for (const run of [data[0], (await detail.json()) as Record<string, unknown>]) {
        expect(run).toMatchObject({ status: 200, steps: [{ id: 'fn' }, { id: 'skipped' }, { id: 'r' }] })
        const steps = run?.['steps'] as Record<string, unknown>[]
        if (sees)
          expect(steps).toMatchObject([
            { output: 'sdrawkcab' },
            { skipped: true },
            { output: { status: 200 } },
          ])
        else expect(steps).toMatchObject([HIDDEN, HIDDEN, HIDDEN])
        expect(JSON.stringify(run).includes('sdrawkcab')).toBe(sees)
        expect(JSON.stringify(run).includes('redacted":true')).toBe(!sees)
      }
      expect((await runs('?ruleId=r-plain', as)).data[0]).toMatchObject({
        steps: [{ output: { body: '{"b":2}' } }],
      })
      const later = (await runs('?ruleId=r-later', as)).data[0]
      expect(later).toMatchObject({ steps: [sees ? { output: { status: 200 } } : HIDDEN] })
    })

    test('a key counts as contributor', async () => {
      const key = createOperatorKey(app.ctx, { name: 'reads', repository: null })
      const answer = await app.call('GET', `/api/projects/${app.projectId}/pipeline-runs?ruleId=r-named`, {
        key,
      })
      expect(await answer.json()).toMatchObject({ data: [{ steps: [HIDDEN, HIDDEN, HIDDEN] }] })
    })
  })

  test('does not commit once per request', async () => {
    await runs()
    const before = app.ctx.db.writes
    for (let i = 0; i < 50; i++) await app.run([respond('{}')], { rule: { id: 'r-many' } })
    expect(app.ctx.db.writes).toBe(before)
    expect((await runs('?ruleId=r-many')).pagination.total).toBe(50)
  })
})
