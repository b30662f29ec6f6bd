import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask, NO_ID } from '../../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

const SHA = '1'.repeat(40)
const OWNER = SEED_OWNER
const ADMIN = 'admin@example.com'
const CONTRIBUTOR = 'contributor@example.com'
const VIEWER = 'viewer@example.com'
const GUEST = 'guest@example.com'
const STRANGER = 'stranger@example.com'

let app: TestApp
let projectId: string
let aliasId: string
let other: { projectId: string; aliasId: string }

beforeAll(async () => {
  app = await testApp({ BASE_DOMAIN: 'sites.test', ADMIN_HOST: 'localhost' })
  const docs = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: SHA,
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  const shop = await seedDeployment(app, {
    owner: 'acme',
    repo: 'shop',
    sha: SHA,
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  projectId = docs.projectId
  aliasId = docs.aliasId ?? ''
  other = { projectId: shop.projectId, aliasId: shop.aliasId ?? '' }
  await app.addUser(ADMIN)
  for (const [email, role] of [
    [ADMIN, 'admin'],
    [CONTRIBUTOR, 'contributor'],
    [VIEWER, 'viewer'],
    [GUEST, 'guest'],
  ] as const) {
    if (email !== ADMIN) await app.addUser(email, 'member')
    const granted = await ask(app, 'POST', `/api/projects/${projectId}/permissions/users`, {
      as: OWNER,
      json: { email, role },
    })
    expect(granted.status).toBe(201)
  }
  await app.addUser(STRANGER)
})
afterAll(() => app.close())

const rule = { pathPattern: '/api/*', targetUrl: 'https://api.example.com' }
const create = (json: Record<string, unknown> = {}, as = OWNER, path = `project/${projectId}`) =>
  ask(app, 'POST', `/api/proxy-rules/${path}`, { as, json: { ...rule, ...json } })
const clear = async () => {
  app.ctx.db.sqlite.run('DELETE FROM proxy_rules')
}
const idsOf = (body: Record<string, unknown>): string[] =>
  (body['rules'] as { id: string }[]).map(({ id }) => id)

test('a new rule has the defaults of the specification', async () => {
  const { status, body } = await create()
  expect(status).toBe(201)
  expect(body).toMatchObject({
    projectId,
    aliasId: null,
    ruleSetId: null,
    pathPattern: '/api/*',
    targetUrl: 'https://api.example.com',
    stripPrefix: true,
    order: 0,
    timeout: 30000,
    preserveHost: false,
    forwardCookies: false,
    headerConfig: null,
    proxyType: 'external_proxy',
    isEnabled: true,
    description: null,
    source: null,
    method: null,
    methods: null,
    createdAt: '2026-11-20T12:00:00.000Z',
  })
  const read = await ask(app, 'GET', `/api/proxy-rules/${body['id']}`, { as: VIEWER })
  expect(read).toEqual({ status: 200, body })
  await clear()
})

test.each([
  [{ pathPattern: 'api/*' }, 'pathPattern'],
  [{ timeout: 60_001 }, 'timeout'],
  [{ timeout: 99 }, 'timeout'],
  [{ timeout: 1000.5 }, 'timeout'],
  [{ timeout: '1000' }, 'timeout'],
  [{ order: '1' }, 'order'],
  [{ targetUrl: 'not an address' }, 'targetUrl'],
  [{ targetUrl: undefined }, 'targetUrl'],
  [{ targetUrl: 'https://api.example.com/#part' }, 'targetUrl'],
  [{ proxyType: 'tunnel' }, 'proxyType'],
  [{ proxyType: 'internal_rewrite', targetUrl: '/../secret' }, 'targetUrl'],
  [{ proxyType: 'internal_rewrite', targetUrl: '//evil.example' }, 'targetUrl'],
  [{ proxyType: 'pipeline' }, 'pipelineConfig'],
  [{ pipelineConfig: 5 }, 'pipelineConfig'],
  [{ pipelineConfig: ['steps'] }, 'pipelineConfig'],
  [{ headerConfig: { add: { 'bad name': 'x' } } }, 'headerConfig.add.bad name'],
  [{ headerConfig: { add: { 'x-a': 'a\r\nx-b: c' } } }, 'headerConfig.add.x-a'],
  [{ headerConfig: { add: { 'x-a': '1', 'X-A': '2' } } }, 'headerConfig.add.x-a'],
  [{ headerConfig: { add: { 'x-a': '[redacted]' } } }, 'headerConfig.add.x-a'],
])('%j is refused, naming %s', async (json, path) => {
  const { status, body } = await create(json as Record<string, unknown>)
  expect({ status, path: (body['details'] as { path: string }[])[0]?.path }).toEqual({ status: 400, path })
})

test.each([
  [{ add: { 'x-a': 1 } }],
  [{ add: null }],
  [{ add: ['x-a'] }],
  [{ forward: 'accept' }],
  [{ strip: [1] }],
  ['x-a: 1'],
  [['x-a']],
])('a headerConfig of %j is refused with what it may be', async (headerConfig) => {
  const { status, body } = await create({ headerConfig })
  expect([status, body['message']]).toEqual([
    400,
    expect.stringMatching(/^headerConfig: An object or null: /),
  ])
})

test.each([
  ['http://api.example.com', 'PROXY_TARGET_NOT_HTTPS'],
  ['https://localhost', 'PROXY_TARGET_NOT_ALLOWED'],
  ['https://127.0.0.1', 'PROXY_TARGET_NOT_ALLOWED'],
  ['https://2130706433', 'PROXY_TARGET_NOT_ALLOWED'],
  ['https://0x7f.1', 'PROXY_TARGET_NOT_ALLOWED'],
  ['https://10.1.2.3', 'PROXY_TARGET_NOT_ALLOWED'],
  ['https://172.20.0.1', 'PROXY_TARGET_NOT_ALLOWED'],
  ['https://192.168.1.1', 'PROXY_TARGET_NOT_ALLOWED'],
  ['https://169.254.169.254/latest/meta-data', 'PROXY_TARGET_NOT_ALLOWED'],
  ['https://[::1]', 'PROXY_TARGET_NOT_ALLOWED'],
  ['https://[::ffff:10.0.0.1]', 'PROXY_TARGET_NOT_ALLOWED'],
  ['https://[fe80::1]', 'PROXY_TARGET_NOT_ALLOWED'],
  ['https://user:secret@api.example.com', 'PROXY_TARGET_NOT_ALLOWED'],
  ['https://loopback.test', 'PROXY_TARGET_NOT_ALLOWED'],
])('the target %s is refused with %s, on create and on change', async (targetUrl, error) => {
  const made = await create({ targetUrl })
  expect([made.status, made.body['error']]).toEqual([400, error])
  const { body } = await create()
  const changed = await ask(app, 'PATCH', `/api/proxy-rules/${body['id']}`, {
    as: OWNER,
    json: { targetUrl },
  })
  expect([changed.status, changed.body['error']]).toEqual([400, error])
  await clear()
})

test('a rule whose target is no longer allowed can be described and disabled, not turned on or moved', async () => {
  const { body } = await create()
  app.ctx.db.sqlite.run("UPDATE proxy_rules SET target_url = 'https://10.0.0.1'")
  const patch = async (json: unknown) => {
    const changed = await ask(app, 'PATCH', `/api/proxy-rules/${body['id']}`, { as: OWNER, json })
    return [changed.status, changed.body['error']]
  }
  expect(await patch({ description: 'moved to the new network' })).toEqual([200, undefined])
  expect(await patch({ isEnabled: false, targetUrl: 'https://10.0.0.1' })).toEqual([200, undefined])
  expect(await patch({ isEnabled: true })).toEqual([400, 'PROXY_TARGET_NOT_ALLOWED'])
  expect(await patch({ targetUrl: 'https://10.0.0.2' })).toEqual([400, 'PROXY_TARGET_NOT_ALLOWED'])
  expect(await patch({ proxyType: 'internal_rewrite' })).toEqual([400, 'Bad Request'])
  await clear()
})

test('the scheme of a target is case-insensitive', async () => {
  const { status, body } = await create({ targetUrl: 'HTTPS://api.example.com/A' })
  expect([status, body['targetUrl']]).toEqual([201, 'https://api.example.com/A'])
  const change = { as: OWNER, json: { targetUrl: 'Https://other.example.com' } }
  const changed = await ask(app, 'PATCH', `/api/proxy-rules/${body['id']}`, change)
  expect([changed.status, changed.body['targetUrl']]).toEqual([200, 'https://other.example.com'])
  await clear()
})

test('order increases, and reorder requires every rule of the level once', async () => {
  const ids: string[] = []
  for (const pathPattern of ['/a', '/b', '/c']) ids.push(String((await create({ pathPattern })).body['id']))
  const ofAlias = String((await create({}, OWNER, `alias/${aliasId}`)).body['id'])
  const list = await ask(app, 'GET', `/api/proxy-rules/project/${projectId}`, { as: VIEWER })
  expect(idsOf(list.body)).toEqual(ids)
  const reorder = (ruleIds: unknown, as = CONTRIBUTOR) =>
    ask(app, 'PUT', `/api/proxy-rules/project/${projectId}/reorder`, { as, json: { ruleIds } })
  const [a = '', b = '', c = ''] = ids
  for (const wrong of [
    [a, b],
    [a, b, c, c],
    [a, b, b],
    [a, b, c, ofAlias],
    [a, b, ofAlias],
    [a, b, NO_ID],
    [],
  ])
    expect((await reorder(wrong)).status).toBe(400)
  const done = await reorder([c, a, b])
  expect([done.status, idsOf(done.body)]).toEqual([200, [c, a, b]])
  expect((await create({ order: -1, pathPattern: '/first' })).status).toBe(201)
  const again = await ask(app, 'GET', `/api/proxy-rules/project/${projectId}`, { as: VIEWER })
  expect(idsOf(again.body).slice(1)).toEqual([c, a, b])
  const aliasList = await ask(app, 'GET', `/api/proxy-rules/alias/${aliasId}`, { as: VIEWER })
  expect(aliasList.body).toMatchObject({ rules: [{ id: ofAlias, aliasId, projectId }] })
  await clear()
})

test('header values are sealed, shown to admins, and redacted for lower roles', async () => {
  const headerConfig = { add: { 'X-Service-Key': 's3cret-value' }, strip: ['x-debug'] }
  const { body } = await create({ headerConfig }, ADMIN)
  const id = String(body['id'])
  const read = async (as: string) =>
    (await ask(app, 'GET', `/api/proxy-rules/${id}`, { as })).body['headerConfig']
  expect(body['headerConfig']).toEqual(headerConfig)
  expect(await read(ADMIN)).toEqual(headerConfig)
  expect(await read(CONTRIBUTOR)).toEqual({ ...headerConfig, add: { 'X-Service-Key': '[redacted]' } })
  expect(await read(VIEWER)).toEqual({ ...headerConfig, add: { 'X-Service-Key': '[redacted]' } })
  const stored = app.ctx.db.sqlite.query('SELECT header_config FROM proxy_rules').values().join()
  const logged = app.ctx.db.sqlite.query('SELECT before, after FROM audit_log').values().join()
  expect(`${stored}${logged}`).not.toContain('s3cret')

  const patch = (json: unknown, as = CONTRIBUTOR) => ask(app, 'PATCH', `/api/proxy-rules/${id}`, { as, json })
  await patch({ headerConfig: { add: { 'x-service-key': '[redacted]', 'x-more': '2' } } })
  expect(await read(ADMIN)).toEqual({ add: { 'x-service-key': 's3cret-value', 'x-more': '2' } })
  await patch({ description: 'still there', targetUrl: 'https://api.example.com/v2' })
  expect(await read(ADMIN)).toEqual({ add: { 'x-service-key': 's3cret-value', 'x-more': '2' } })
  await patch({ headerConfig: null })
  expect(await read(ADMIN)).toBeNull()
  await clear()
})

const moves: [string, Record<string, unknown>][] = [
  ['the host', { targetUrl: 'https://evil.example.com' }],
  ['the port', { targetUrl: 'https://api.example.com:8443' }],
  [
    'the host, sending [redacted] back',
    { targetUrl: 'https://evil.example.com', headerConfig: { add: { authorization: '[redacted]' } } },
  ],
  ['the kind and the target, to come back later', { proxyType: 'internal_rewrite', targetUrl: '/x' }],
]
test.each(moves)('a contributor who changes %s loses the stored values', async (_, change) => {
  const { body } = await create({ headerConfig: { add: { authorization: 'Bearer secret' } } }, ADMIN)
  const changed = await ask(app, 'PATCH', `/api/proxy-rules/${body['id']}`, { as: CONTRIBUTOR, json: change })
  expect([changed.status, changed.body['headerConfig']]).toEqual([200, { add: {} }])
  const back = await ask(app, 'PATCH', `/api/proxy-rules/${body['id']}`, {
    as: ADMIN,
    json: { ...rule, proxyType: 'external_proxy' },
  })
  expect(back.body['headerConfig']).toEqual({ add: {} })
  await clear()
})

const KEPT = { 'X-Secret': '[redacted]', Host: '[redacted]' }
const toAnotherSite: [string, Record<string, unknown>][] = [
  ['a changed Host', { headerConfig: { add: { ...KEPT, Host: 'evil.example' } } }],
  ['a Host in other letters', { headerConfig: { add: { 'x-secret': '[redacted]', hOsT: 'evil.example' } } }],
  ['a removed Host', { headerConfig: { add: { 'X-Secret': '[redacted]' } } }],
  ['a Host without a value', { headerConfig: { add: { ...KEPT, Host: '' } } }],
  ['an X-Forwarded-Host', { headerConfig: { add: { ...KEPT, 'X-Forwarded-Host': 'evil.example' } } }],
  ['its name as CGI reads it', { headerConfig: { add: { ...KEPT, X_Forwarded_Host: 'evil.example' } } }],
  ['a Forwarded', { headerConfig: { add: { ...KEPT, forwarded: 'host=evil.example' } } }],
  ['the Host of the visitor', { preserveHost: true }],
]
test.each(toAnotherSite)(
  'a contributor cannot send a stored value to another site by %s',
  async (_, json) => {
    const headerConfig = { add: { 'X-Secret': 's3cret-value', Host: 'shop.example.com' } }
    const { body } = await create({ headerConfig }, ADMIN)
    const path = `/api/proxy-rules/${body['id']}`
    const changed = await ask(app, 'PATCH', path, { as: CONTRIBUTOR, json })
    expect(changed.status).toBe(200)
    expect(JSON.stringify((await ask(app, 'GET', path, { as: ADMIN })).body)).not.toContain('s3cret-value')
    await clear()
  },
)

test('a contributor who leaves Host as it is keeps the stored values, and an admin may change it', async () => {
  const headerConfig = { add: { 'X-Secret': 's3cret-value', Host: 'shop.example.com' } }
  const { body } = await create({ headerConfig }, ADMIN)
  const patch = (json: unknown, as: string) =>
    ask(app, 'PATCH', `/api/proxy-rules/${body['id']}`, { as, json })
  await patch({ headerConfig: { add: { ...KEPT, 'x-more': '1' }, forward: ['host'] } }, CONTRIBUTOR)
  await patch({ headerConfig: { add: { 'X-Secret': '[redacted]', host: 'shop.example.com' } } }, CONTRIBUTOR)
  const moved = { ...KEPT, Host: 'other.example.com' }
  const { body: shown } = await patch({ preserveHost: true, headerConfig: { add: moved } }, ADMIN)
  expect(shown['headerConfig']).toEqual({ add: { 'X-Secret': 's3cret-value', Host: 'other.example.com' } })
  await clear()
})

test('an admin who moves the target keeps the values, and a contributor gives new ones', async () => {
  const { body } = await create({ headerConfig: { add: { authorization: 'Bearer secret' } } }, ADMIN)
  const path = `/api/proxy-rules/${body['id']}`
  const moved = await ask(app, 'PATCH', path, { as: ADMIN, json: { targetUrl: 'https://new.example.com' } })
  expect(moved.body['headerConfig']).toEqual({ add: { authorization: 'Bearer secret' } })
  const json = { targetUrl: 'https://third.example.com', headerConfig: { add: { authorization: 'mine' } } }
  await ask(app, 'PATCH', path, { as: CONTRIBUTOR, json })
  expect((await ask(app, 'GET', path, { as: ADMIN })).body['headerConfig']).toEqual({
    add: { authorization: 'mine' },
  })
  await clear()
})

test('methods, kinds and flags are kept as given', async () => {
  const given = {
    method: 'post',
    methods: ['get', 'GET'],
    proxyType: 'internal_rewrite',
    targetUrl: '/app/',
    isEnabled: false,
    description: 'why',
  }
  const { body } = await create(given)
  expect(body).toMatchObject({ ...given, method: 'POST', methods: ['GET'] })
  const pipelineConfig = { name: 'p', steps: [{ id: 'a', handlerType: 'response_handler', config: {} }] }
  const pipeline = await create({ proxyType: 'pipeline', pipelineConfig, targetUrl: undefined })
  expect([pipeline.status, pipeline.body['pipelineConfig']]).toEqual([201, pipelineConfig])
  await clear()
})

test('a deleted rule is gone', async () => {
  const { body } = await create()
  const path = `/api/proxy-rules/${body['id']}`
  expect((await ask(app, 'DELETE', path, { as: CONTRIBUTOR })).status).toBe(204)
  expect((await ask(app, 'GET', path, { as: OWNER })).status).toBe(404)
})

const routes = (
  id: string,
  level: { projectId: string; aliasId: string },
): [string, string, unknown, boolean][] => [
  ['GET', `project/${level.projectId}`, undefined, true],
  ['GET', `alias/${level.aliasId}`, undefined, true],
  ['GET', id, undefined, true],
  ['POST', `project/${level.projectId}`, rule, false],
  ['POST', `alias/${level.aliasId}`, rule, false],
  ['PUT', `project/${level.projectId}/reorder`, { ruleIds: [] }, false],
  ['PUT', `alias/${level.aliasId}/reorder`, { ruleIds: [] }, false],
  ['PATCH', id, {}, false],
  ['DELETE', id, undefined, false],
]

test('access: strangers learn nothing, guests are refused, viewers read', async () => {
  const { body } = await create()
  for (const [method, path, json, isRead] of routes(String(body['id']), { projectId, aliasId })) {
    const status = async (as?: string) =>
      (await ask(app, method, `/api/proxy-rules/${path}`, { as, json })).status
    expect([method, path, await status(), await status(STRANGER), await status(GUEST)]).toEqual([
      method,
      path,
      401,
      404,
      403,
    ])
    expect([method, path, await status(VIEWER)]).toEqual([method, path, isRead ? 200 : 403])
  }
  await clear()
})

test('a role on one project gives no access to the rules of another', async () => {
  const made = await ask(app, 'POST', `/api/proxy-rules/project/${other.projectId}`, {
    as: OWNER,
    json: rule,
  })
  for (const [method, path, json] of routes(String(made.body['id']), other))
    expect([
      method,
      path,
      (await ask(app, method, `/api/proxy-rules/${path}`, { as: ADMIN, json })).status,
    ]).toEqual([method, path, 404])
  for (const [method, path, json] of routes(NO_ID, { projectId: NO_ID, aliasId: NO_ID }))
    expect([
      method,
      path,
      (await ask(app, method, `/api/proxy-rules/${path}`, { as: OWNER, json })).status,
    ]).toEqual([method, path, 404])
  await clear()
})
