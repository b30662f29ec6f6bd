import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

/** contract 12.8: what only project admins may use in rules, and how it becomes so. */

const OWNER = 'owner@example.com'
const ADMIN = 'admin@example.com'
const CONTRIBUTOR = 'contributor@example.com'
type Json = Record<string, unknown>

let app: TestApp
let projectId: string
let key: string
let count = 0

beforeAll(async () => {
  app = await testApp({}, { resolve: async () => ['93.184.216.34'] })
  await app.addUser('root@example.com', 'admin')
  for (const email of [OWNER, ADMIN, CONTRIBUTOR]) await app.addUser(email)
})
afterAll(() => app.close())

beforeEach(async () => {
  count += 1
  const made = await ask(app, 'POST', '/api/projects', {
    as: OWNER,
    json: { owner: 'acme', name: `p${count}` },
  })
  projectId = String(made.body['id'])
  for (const [email, role] of [
    [ADMIN, 'admin'],
    [CONTRIBUTOR, 'contributor'],
  ])
    await ask(app, 'POST', `/api/projects/${projectId}/permissions/users`, {
      as: OWNER,
      json: { email, role },
    })
  const created = await ask(app, 'POST', '/api/api-keys', {
    as: 'root@example.com',
    json: { name: 'ci', projectId },
  })
  key = String(created.body['key'])
})

type Who = { as?: string; key?: string }
const contributor: Who = { as: CONTRIBUTOR }
const admin: Who = { as: ADMIN }

const put = (usableBy?: string, name = 'PAY', as = ADMIN) =>
  ask(app, 'PUT', `/api/projects/${projectId}/secrets/${name}`, {
    as,
    json: { value: 'v', ...(usableBy === undefined ? {} : { usableBy }) },
  })
const secrets = async () =>
  (await ask(app, 'GET', `/api/projects/${projectId}/secrets`, { as: CONTRIBUTOR })).body['secrets']

const pipeline = (body: unknown = { k: 'secrets.PAY' }) => ({
  steps: [{ id: 'r', handlerType: 'response_handler', config: { body } }],
})
const rule = (more: Json = {}): Json => ({
  pathPattern: '/api/pay',
  method: 'POST',
  proxyType: 'pipeline',
  pipelineConfig: pipeline(),
  ...more,
})
const add = (who: Who, more: Json = {}) =>
  ask(app, 'POST', `/api/proxy-rules/project/${projectId}`, { ...who, json: rule(more) })
const patch = (who: Who, id: unknown, json: Json) =>
  ask(app, 'PATCH', `/api/proxy-rules/${id}`, { ...who, json })
const sync = (who: Who, rules: Json[], options: Json = {}) =>
  ask(app, 'PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, {
    ...who,
    json: { ruleSet: { name: 'set' }, rules, options },
  })
const rules = async (): Promise<Json[]> =>
  (await ask(app, 'GET', `/api/proxy-rules/project/${projectId}`, { as: OWNER })).body['rules'] as Json[]

const REFUSED = {
  status: 403,
  body: { error: 'SECRET_NOT_USABLE', message: expect.stringMatching(/POST \/api\/pay .*PAY/) },
}

test('a new secret is for contributors, and stays what it is when a value is stored', async () => {
  expect(await put()).toEqual({ status: 204, body: {} })
  expect(await secrets()).toMatchObject([{ name: 'PAY', usableBy: 'contributor' }])
  expect(await put('admin')).toEqual({ status: 204, body: {} })
  await put()
  expect(await secrets()).toMatchObject([{ name: 'PAY', usableBy: 'admin' }])
  await put('contributor')
  expect(await secrets()).toMatchObject([{ name: 'PAY', usableBy: 'contributor' }])
  for (const wrong of ['viewer', 'ADMIN', '']) expect((await put(wrong)).status).toBe(400)
  expect((await put('admin', 'PAY', CONTRIBUTOR)).status).toBe(403)
  expect(await secrets()).toMatchObject([{ name: 'PAY', usableBy: 'contributor' }])
})

describe.each<[who: string, (whoever: { key: string }) => Who]>([
  ['a contributor', () => contributor],
  ['a key', ({ key }) => ({ key })],
])('%s', (_who, whoOf) => {
  test('cannot make a rule that uses it, however it is written', async () => {
    await put('admin')
    const who = whoOf({ key })
    for (const body of [
      '{{secrets.PAY}}',
      "{{{ secrets['PAY'] }}}",
      { a: ['secrets.PAY'] },
      '"{{secrets.PAY.x}}"',
    ])
      expect(await add(who, { pipelineConfig: pipeline(body) })).toMatchObject(REFUSED)
    for (const more of [
      { condition: '!secrets.PAY' },
      { headers: { 'x-a': '{{secrets.PAY}}' } },
      { status: 'secrets.PAY' },
    ]) {
      const steps = [
        { id: 'r', handlerType: 'response_handler', config: { body: '{}', ...more }, isEnabled: false },
      ]
      expect(await add(who, { pipelineConfig: { steps } })).toMatchObject(REFUSED)
      expect(await add(who, { pipelineConfig: { steps: [], postSteps: steps } })).toMatchObject(REFUSED)
    }
    expect(await add(who, { isEnabled: false })).toMatchObject(REFUSED)
    expect(await rules()).toEqual([])
    expect((await add(who, { pipelineConfig: pipeline('{"secret":"PAY"}') })).status).toBe(201)
    expect((await add(who, { pipelineConfig: pipeline({ k: 'secrets.OTHER' }) })).status).toBe(201)
    expect((await add(admin)).status).toBe(201)
  })

  test('cannot change such a pipeline or switch it on, and can change the rest of the rule', async () => {
    await put('admin')
    const who = whoOf({ key })
    const { id } = (await add(admin)).body
    expect(
      await patch(who, id, { pipelineConfig: pipeline({ k: 'secrets.PAY', more: 'input.x' }) }),
    ).toMatchObject(REFUSED)
    expect((await patch(who, id, { pipelineConfig: pipeline(), description: 'said' })).status).toBe(200)
    expect((await patch(who, id, { order: 7, isEnabled: true, isEnabledX: 1 })).status).toBe(200)
    expect((await patch(who, id, { isEnabled: false })).status).toBe(200)
    expect(await patch(who, id, { isEnabled: true })).toMatchObject(REFUSED)
    expect(await rules()).toMatchObject([{ id, isEnabled: false, description: 'said' }])
    expect((await patch(who, id, { pipelineConfig: pipeline({ k: 'null' }) })).status).toBe(200)
    expect(await patch(who, id, { pipelineConfig: pipeline() })).toMatchObject(REFUSED)
  })

  test('cannot prepare one in a rule of another type, which then becomes a pipeline', async () => {
    await put('admin')
    const who = whoOf({ key })
    const rewrite = { proxyType: 'internal_rewrite', targetUrl: '/x' }
    expect(await add(who, rewrite)).toMatchObject(REFUSED)
    const { id } = (await add(admin)).body
    expect((await patch(who, id, rewrite)).status).toBe(200)
    expect(await patch(who, id, { pipelineConfig: pipeline('{{secrets.PAY}}!') })).toMatchObject(REFUSED)
    expect(await patch(who, id, { proxyType: 'pipeline' })).toMatchObject(REFUSED)
    expect(await rules()).toMatchObject([{ proxyType: 'internal_rewrite' }])
  })

  test('cannot push one, and can push what leaves it as it is', async () => {
    await put('admin')
    const who = whoOf({ key })
    const other = { pathPattern: '/other', targetUrl: 'https://x.example' }
    expect(await sync(who, [other, rule()])).toMatchObject(REFUSED)
    expect(await sync(who, [other, rule()], { dryRun: true })).toMatchObject(REFUSED)
    expect(await rules()).toEqual([])
    expect((await sync(admin, [rule()])).status).toBe(200)
    expect((await sync(who, [rule()])).status).toBe(200)
    expect((await sync(who, [other, rule({ description: 'moved' })])).status).toBe(200)
    expect(
      await sync(who, [other, rule({ pipelineConfig: pipeline({ k: 'secrets.PAY', l: '1' }) })]),
    ).toMatchObject(REFUSED)
    expect(await sync(who, [rule({ pathPattern: '/api/pay2' })])).toMatchObject({ status: 403 })
    expect(await rules()).toHaveLength(2)
    expect((await sync(who, [other], { prune: true })).status).toBe(200)
    expect(await sync(who, [rule()])).toMatchObject(REFUSED)
  })

  test('cannot roll back to one', async () => {
    await put('contributor')
    const who = whoOf({ key })
    const { ruleSetId } = (await sync(who, [rule()])).body
    await sync(who, [rule({ pipelineConfig: pipeline('{}') })])
    await put('admin')
    const path = `/api/proxy-rule-sets/${ruleSetId}`
    const { revisions } = (await ask(app, 'GET', `${path}/revisions`, { as: OWNER })).body as {
      revisions: { id: string }[]
    }
    const rollback = `${path}/rollback/${revisions[1]?.id}`
    expect(await ask(app, 'POST', rollback, who)).toMatchObject(REFUSED)
    expect(await rules()).toMatchObject([{ pipelineConfig: pipeline('{}') }])
    expect((await ask(app, 'POST', rollback, admin)).status).toBe(200)
    expect(await rules()).toMatchObject([{ pipelineConfig: pipeline() }])
  })
})

describe('tightening', () => {
  const offOf = async () =>
    (await rules()).filter((one) => one['isEnabled'] === false).map((one) => one['id'])

  test('switches off what uses it and was last written below admin, and says which', async () => {
    await put()
    const hers = (await add(contributor)).body['id']
    const ofKey = (await add({ key }, { pathPattern: '/api/key', method: null })).body['id']
    const ofAdmin = (await add(admin, { pathPattern: '/api/admin' })).body['id']
    const vouched = (await add(contributor, { pathPattern: '/api/vouched' })).body['id']
    await patch(admin, vouched, { description: 'looked at' })
    const touched = (await add(admin, { pathPattern: '/api/touched' })).body['id']
    await patch(contributor, touched, { timeout: 1000 })
    await add(contributor, { pathPattern: '/api/off', isEnabled: false })
    await add(contributor, { pathPattern: '/api/other', pipelineConfig: pipeline({ k: 'secrets.OTHER' }) })
    const answer = await put('admin')
    expect(answer.status).toBe(200)
    expect(answer.body['disabledRules']).toEqual([
      { id: hers, pathPattern: '/api/pay', method: 'POST' },
      { id: ofKey, pathPattern: '/api/key', method: null },
      { id: touched, pathPattern: '/api/touched', method: 'POST' },
    ])
    expect(await offOf()).toEqual(expect.arrayContaining([hers, ofKey, touched]))
    expect(await offOf()).not.toContain(ofAdmin)
    expect(await offOf()).not.toContain(vouched)
    expect(await put('admin')).toEqual({ status: 204, body: {} })
    expect(await patch(contributor, hers, { isEnabled: true })).toMatchObject(REFUSED)
    expect((await patch(admin, hers, { isEnabled: true })).status).toBe(200)
    await put('contributor')
    expect((await put('admin')).status).toBe(204)
  })

  test('a push of the same rule again does not switch it on', async () => {
    await put()
    await sync({ key }, [rule()])
    expect((await put('admin')).status).toBe(200)
    expect(await sync({ key }, [rule()])).toMatchObject(REFUSED)
    expect((await sync({ key }, [rule({ isEnabled: false })])).status).toBe(200)
    expect((await sync(admin, [rule()])).status).toBe(200)
    expect((await sync({ key }, [rule()])).body).toMatchObject({ dryRun: false })
    expect(await rules()).toMatchObject([{ isEnabled: true }])
  })

  test('a name that somebody used before there was such a secret gives them nothing', async () => {
    const { id } = (await add(contributor)).body
    expect((await put('admin')).body['disabledRules']).toMatchObject([{ id }])
    await ask(app, 'DELETE', `/api/projects/${projectId}/secrets/PAY`, { as: ADMIN })
    expect((await patch(contributor, id, { isEnabled: true })).status).toBe(200)
    expect((await put('admin')).body['disabledRules']).toMatchObject([{ id }])
  })

  test('who wrote it below admin is told in no record, and an entry of the audit log tells of each', async () => {
    await put()
    const { id, ...record } = (await add(contributor)).body
    expect(Object.keys(record)).not.toContain('isWrittenByAdmin')
    await put('admin')
    const entries = await ask(app, 'GET', `/api/audit?action=proxy_rule.change&projectId=${projectId}`, {
      as: 'root@example.com',
    })
    expect(entries.body['data']).toMatchObject([{ target: { id }, after: { isEnabled: false } }])
  })

  test('races with pushes: whatever comes first, no rule of below admin that uses it is left on', async () => {
    for (let i = 0; i < 10; i++) {
      await put('contributor')
      const pushes = Array.from({ length: 6 }, (_, n) =>
        n % 2 === 0
          ? sync({ key }, [rule({ description: `${i}.${n}` })])
          : add(contributor, { pathPattern: `/r${i}/${n}` }),
      )
      const tightened = i % 2 === 0 ? [put('admin'), ...pushes] : [...pushes, put('admin')]
      const answers = await Promise.all(tightened)
      for (const { status } of answers) expect([200, 201, 204, 403]).toContain(status)
      const on = (await rules()).filter((one) => one['isEnabled'] === true)
      expect(on).toEqual([])
      expect(
        answers
          .filter(({ status }) => status === 403)
          .every(({ body }) => body['error'] === 'SECRET_NOT_USABLE'),
      ).toBe(true)
    }
  })
})
