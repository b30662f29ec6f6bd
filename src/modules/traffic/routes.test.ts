import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { removeUsedAlias } from '../../testing/remove-used-alias.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

const OWNER = SEED_OWNER
const CONTRIBUTOR = 'c@example.com'
const VIEWER = 'v@example.com'
const STRANGER = 's@example.com'
const HOST = 'docs.sites.test'

let app: TestApp
let path: string
let domainId: string
let projectId: string

beforeAll(async () => {
  app = await testApp({ BASE_DOMAIN: 'sites.test', ADMIN_HOST: 'localhost' })
  for (const [index, alias] of ['stable', 'canary', 'beta'].entries()) {
    const files = { 'index.html': alias, [`${alias}.txt`]: alias }
    projectId = (
      await seedDeployment(app, {
        owner: 'acme',
        repo: 'docs',
        sha: String(index + 1).repeat(40),
        alias,
        files,
      })
    ).projectId
  }
  const made = await ask(app, 'POST', '/api/domains', {
    as: OWNER,
    json: { projectId, hostname: HOST, alias: 'stable' },
  })
  domainId = String(made.body['id'])
  path = `/api/domains/${domainId}/traffic`
  await app.addUser(STRANGER)
  for (const [email, role] of [
    [CONTRIBUTOR, 'contributor'],
    [VIEWER, 'viewer'],
  ]) {
    await app.addUser(email ?? '', 'member')
    await ask(app, 'POST', `/api/projects/${projectId}/permissions/users`, {
      as: OWNER,
      json: { email, role },
    })
  }
})
afterAll(() => app.close())

const weights = (stable: number, canary: number) => [
  { alias: 'stable', weight: stable },
  { alias: 'canary', weight: canary },
]
const put = (json: unknown, as = CONTRIBUTOR) => ask(app, 'PUT', path, { as, json })
const visit = async (headers: Record<string, string> = {}, at = '/') => {
  const answer = await app.call('GET', at, { host: HOST, headers })
  return {
    answer,
    text: await answer.text(),
    variant: answer.headers.get('x-variant'),
    cookies: answer.headers.getSetCookie(),
  }
}

test('set, read, deleted; without a split everybody sees the alias of the domain', async () => {
  expect((await ask(app, 'GET', path, { as: VIEWER })).status).toBe(404)
  const set = await put({ weights: weights(90, 10) })
  expect(set).toEqual({
    status: 200,
    body: { weights: weights(90, 10), sticky: true, stickySeconds: 86400, rules: [] },
  })
  expect(await ask(app, 'GET', path, { as: VIEWER })).toEqual(set)
  expect((await visit()).variant).not.toBeNull()
  expect((await ask(app, 'DELETE', path, { as: CONTRIBUTOR })).status).toBe(204)
  const plain = await visit()
  expect([plain.text, plain.variant, plain.cookies]).toEqual(['stable', null, []])
})

test('after a split was deleted a date of before does not say that nothing changed', async () => {
  await put({ weights: weights(0, 100) })
  app.advance(10_000)
  const since = new Date(app.ctx.now()).toUTCString()
  app.advance(10_000)
  await ask(app, 'DELETE', path, { as: CONTRIBUTOR })
  const { answer, text } = await visit({ 'if-modified-since': since })
  expect([answer.status, text]).toEqual([200, 'stable'])
})

test.each([
  [{ weights: weights(90, 11) }, 400],
  [{ weights: weights(110, -10) }, 400],
  [{ weights: [] }, 400],
  [{ weights: [...weights(50, 25), { alias: 'STABLE', weight: 25 }] }, 400],
  [{ weights: [{ alias: 'nothing', weight: 100 }] }, 404],
  [{ weights: weights(50, 50), rules: [{ type: 'query', key: 'v', value: '1', alias: 'nothing' }] }, 404],
  [{ weights: weights(50, 50), rules: [{ type: 'method', key: 'v', value: '1', alias: 'beta' }] }, 400],
  [{ weights: weights(50, 50), stickySeconds: 0 }, 400],
])('%j gets %d', async (json, status) => {
  expect((await put(json)).status).toBe(status)
})

test('a deleted alias may stay in the split, but no other unknown one can be added', async () => {
  const old = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: '9'.repeat(40),
    alias: 'old',
    files: { 'index.html': 'old' },
  })
  const rules = [{ type: 'query', key: 'v', value: 'old', alias: 'old' }]
  await put({ weights: [...weights(50, 40), { alias: 'old', weight: 10 }], rules })
  removeUsedAlias(app, String(old.aliasId))
  expect((await put({ weights: weights(60, 40), rules })).body).toMatchObject({ rules })
  expect((await put({ weights: weights(60, 40), rules: [] })).status).toBe(200)
  expect((await put({ weights: weights(60, 40), rules })).status).toBe(404)
})

test('the split still works when the alias of the domain is gone, by draw and by rule', async () => {
  const hostname = 'moved.sites.test'
  const files = { 'index.html': 'former' }
  const { aliasId } = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: '8'.repeat(40),
    alias: 'former',
    files,
  })
  const json = { projectId, hostname, alias: 'former' }
  const made = await ask(app, 'POST', '/api/domains', { as: OWNER, json })
  const split = (weights: object[], rules: object[] = []) =>
    ask(app, 'PUT', `/api/domains/${made.body['id']}/traffic`, { as: OWNER, json: { weights, rules } })
  const seen = async (query = '') => {
    const answer = await app.call('GET', `/${query}`, { host: hostname })
    return answer.status === 200 ? await answer.text() : answer.status
  }
  const rule = { type: 'query', key: 'v', value: 'beta', alias: 'beta' }
  await split([{ alias: 'canary', weight: 100 }], [rule])
  expect(await seen()).toBe('canary')
  removeUsedAlias(app, String(aliasId))
  expect([await seen(), await seen('?v=beta')]).toEqual(['canary', 'beta'])
  await split(weights(0, 100))
  expect(await seen()).toBe('canary')
  await ask(app, 'DELETE', `/api/domains/${made.body['id']}/traffic`, { as: OWNER })
  expect(await seen()).toBe(404)
})

test('an assigned visitor keeps the variant when the weights change', async () => {
  await put({ weights: weights(50, 50) })
  const seen = new Map<string, string>()
  for (let i = 0; i < 60; i++) {
    const { variant, text, cookies, answer } = await visit()
    expect(text).toBe(variant ?? '')
    expect(cookies).toEqual([`__svc_variant=${variant}; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax`])
    expect(answer.headers.get('cache-control')).toStartWith('private')
    expect(answer.headers.get('vary')).toContain('Cookie')
    expect(answer.headers.get('cross-origin-resource-policy')).toBeNull()
    seen.set(variant ?? '', cookies[0]?.split(';')[0] ?? '')
  }
  expect([...seen.keys()].sort()).toEqual(['canary', 'stable'])
  await put({ weights: weights(99, 1) })
  for (const [variant, cookie] of seen)
    expect(await visit({ cookie })).toMatchObject({ variant, cookies: [] })
  await put({ weights: weights(100, 0) })
  expect(await visit({ cookie: seen.get('canary') ?? '' })).toMatchObject({ variant: 'stable' })
})

test('rules come before the cookie; a variant chosen by query is kept, and headers are in Vary', async () => {
  const rules = [
    { type: 'query', key: 'preview', value: 'yes', alias: 'beta' },
    { type: 'header', key: 'x-canary', value: '1', alias: 'canary' },
  ]
  await put({ weights: weights(100, 0), rules })
  const byQuery = await visit({ cookie: '__svc_variant=stable' }, '/?preview=yes')
  expect([byQuery.text, byQuery.cookies.length]).toEqual(['beta', 1])
  expect(await visit({ cookie: '__svc_variant=beta' }, '/beta.txt')).toMatchObject({ text: 'beta' })
  const byHeader = await visit({ 'x-canary': '1' })
  expect([byHeader.text, byHeader.cookies]).toEqual(['canary', []])
  expect(byHeader.answer.headers.get('vary')).toContain('x-canary')
  expect(await visit()).toMatchObject({ text: 'stable' })
})

test('each variant has its own rules and visibility: a private one is not shown to strangers', async () => {
  const canaryId = app.ctx.db.sqlite
    .query<{ id: string }, []>("SELECT id FROM aliases WHERE name = 'canary'")
    .get()?.id
  const rewrite = { pathPattern: '/x', targetUrl: '/canary.txt', proxyType: 'internal_rewrite' }
  await ask(app, 'POST', `/api/proxy-rules/alias/${canaryId}`, { as: OWNER, json: rewrite })
  await put({ weights: weights(50, 50) })
  expect((await visit({ cookie: '__svc_variant=canary' }, '/x')).text).toBe('canary')
  expect((await visit({ cookie: '__svc_variant=stable', accept: 'text/plain' }, '/x')).answer.status).toBe(
    404,
  )
  await ask(app, 'PATCH', `/api/aliases/${canaryId}`, { as: OWNER, json: { isPublic: false } })
  const refused = await visit({ cookie: '__svc_variant=canary' })
  expect([refused.answer.status, refused.variant, refused.cookies]).toEqual([404, null, []])
  expect((await visit({ cookie: '__svc_variant=stable' })).answer.status).toBe(200)
  await ask(app, 'PATCH', `/api/aliases/${canaryId}`, { as: OWNER, json: { isPublic: null } })
})

test('access: viewers read, contributors set, strangers learn nothing', async () => {
  await put({ weights: weights(50, 50) })
  const json = { weights: weights(50, 50) }
  for (const [method, body] of [
    ['GET', undefined],
    ['PUT', json],
    ['DELETE', undefined],
  ] as const) {
    const status = async (as?: string) => (await ask(app, method, path, { as, json: body })).status
    expect([method, await status(), await status(STRANGER), await status(VIEWER)]).toEqual([
      method,
      401,
      404,
      method === 'GET' ? 200 : 403,
    ])
  }
})
