import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask, NO_ID } from '../../testing/ask.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { createOperatorKey } from './service.ts'

let app: TestApp
let docs: string
let api: string

beforeAll(async () => {
  app = await testApp()
  await app.addUser('root@example.com', 'admin')
  await app.addUser('ann@example.com')
  docs = await newProject('docs')
  api = await newProject('api')
})
afterAll(() => app.close())

const call = (method: string, path: string, json?: unknown, as = 'root@example.com') =>
  ask(app, method, path, { as, json })

const newProject = async (name: string) =>
  String((await call('POST', '/api/projects', { owner: 'acme', name }, 'ann@example.com')).body['id'])

test('for global admins only: the owner of a project cannot create a key', async () => {
  for (const [method, path] of [
    ['GET', '/api/api-keys'],
    ['POST', '/api/api-keys'],
    ['DELETE', `/api/api-keys/${NO_ID}`],
    ['POST', `/api/api-keys/${NO_ID}/take-over`],
  ] as const) {
    expect((await ask(app, method, path)).status).toBe(401)
    expect((await call(method, path, undefined, 'ann@example.com')).status).toBe(403)
  }
  expect((await call('DELETE', `/api/api-keys/${NO_ID}`)).status).toBe(404)
})

test('a project key works for its project at once, and is shown once', async () => {
  const made = await call('POST', '/api/api-keys', { name: 'ci', projectId: docs })
  expect(made.status).toBe(201)
  const key = String(made.body['key'])
  expect(key).toMatch(/^svc_[A-Za-z0-9_-]{43}$/)
  expect(made.body['apiKey']).toEqual({
    id: expect.any(String),
    name: 'ci',
    prefix: key.slice(0, 12),
    projectId: docs,
    isGlobal: false,
    createdBy: expect.any(String),
    createdAt: '2026-11-20T12:00:00.000Z',
    expiresAt: null,
    lastUsedAt: null,
    suspendedAt: null,
    suspendedReason: null,
  })
  expect(await ask(app, 'GET', `/api/projects/${docs}`, { key })).toMatchObject({
    status: 200,
    body: { role: 'contributor' },
  })
  expect((await ask(app, 'GET', `/api/projects/${api}`, { key })).status).toBe(404)
  expect((await ask(app, 'PATCH', `/api/projects/${api}`, { key, json: {} })).status).toBe(403)
  expect((await ask(app, 'PATCH', `/api/projects/${NO_ID}`, { key, json: {} })).status).toBe(403)
  const list = await call('GET', `/api/api-keys?projectId=${docs}`)
  expect(JSON.stringify(list.body)).not.toContain(key)
  expect(list.body['data']).toMatchObject([{ name: 'ci', lastUsedAt: '2026-11-20T12:00:00.000Z' }])
})

test('by repository, without regard to case, and global', async () => {
  const byName = await call('POST', '/api/api-keys', { name: 'a', repository: 'ACME/Docs' })
  expect(byName.body['apiKey']).toMatchObject({ projectId: docs, isGlobal: false })
  const both = await call('POST', '/api/api-keys', {
    name: 'a',
    repository: 'acme/docs',
    projectId: docs,
    isGlobal: false,
  })
  expect(both.status).toBe(201)
  const global = await call('POST', '/api/api-keys', { name: 'g', isGlobal: true })
  expect(global.body['apiKey']).toMatchObject({ projectId: null, isGlobal: true })
  const key = String(global.body['key'])
  for (const id of [docs, api])
    expect((await ask(app, 'GET', `/api/projects/${id}`, { key })).status).toBe(200)
})

const refused: [status: number, body: Record<string, unknown>][] = [
  [400, { name: 'x' }],
  [400, { name: 'x', isGlobal: false }],
  [400, { name: 'x', isGlobal: true, projectId: NO_ID }],
  [400, { name: 'x', isGlobal: true, repository: 'acme/docs' }],
  [400, { isGlobal: true }],
  [400, { name: '', isGlobal: true }],
  [400, { name: 'x'.repeat(101), isGlobal: true }],
  [400, { name: ' ', isGlobal: true }],
  [400, { name: 'a\nb', isGlobal: true }],
  ...['tomorrow', '', '02/03/2099', '2099-2-3', '2099-02-30', '2099-02-30T00:00:00Z'].map(
    (expiresAt): (typeof refused)[number] => [400, { name: 'x', isGlobal: true, expiresAt }],
  ),
  [400, { name: 'x', isGlobal: true, expiresAt: '2026-11-20T12:00:00.000Z' }],
  [400, { name: 'x', repository: 'acme' }],
  [404, { name: 'x', projectId: NO_ID }],
  [404, { name: 'x', repository: 'acme/none' }],
]

test.each(refused)('%p for %j', async (status, body) => {
  expect((await call('POST', '/api/api-keys', body)).status).toBe(status)
})

test('a revoked and an expired key are 401, never anonymous', async () => {
  const made = await call('POST', '/api/api-keys', {
    name: 'x',
    isGlobal: true,
    expiresAt: '2026-11-20T13:00:00.000Z',
  })
  const key = String(made.body['key'])
  const uses = async () => (await ask(app, 'GET', '/api/projects', { key })).status
  expect(await uses()).toBe(200)
  app.advance(60 * 60 * 1000)
  expect(await uses()).toBe(401)
  app.advance(-60 * 60 * 1000)
  expect(await uses()).toBe(200)
  const { id } = made.body['apiKey'] as { id: string }
  expect((await call('DELETE', `/api/api-keys/${id}`)).status).toBe(204)
  expect(await uses()).toBe(401)
  expect((await call('DELETE', `/api/api-keys/${id}`)).status).toBe(404)
})

test('a key cannot create, see or revoke keys, and is not a person', async () => {
  const key = String((await call('POST', '/api/api-keys', { name: 'g', isGlobal: true })).body['key'])
  for (const [method, path] of [
    ['GET', '/api/api-keys'],
    ['POST', '/api/api-keys'],
    ['GET', '/api/users'],
    ['POST', '/api/projects'],
  ] as const)
    expect((await ask(app, method, path, { key })).status).toBe(403)
})

test('the keys of a project are deleted with it', async () => {
  const id = await newProject('short-lived')
  const key = String((await call('POST', '/api/api-keys', { name: 'x', projectId: id })).body['key'])
  expect((await ask(app, 'GET', `/api/projects/${id}`, { key })).status).toBe(200)
  await call('DELETE', `/api/projects/${id}`)
  expect((await ask(app, 'GET', `/api/projects/${id}`, { key })).status).toBe(401)
})

test('lists are paginated and sorted', async () => {
  const names = async (query: string) =>
    ((await call('GET', `/api/api-keys${query}`)).body['data'] as { name: string }[]).map(({ name }) => name)
  const all = await names('?sort=name&order=asc')
  expect(all).toEqual([...all].sort())
  expect((await names('?sort=name&order=asc&limit=1&page=2'))[0]).toBe(all[1] ?? '')
})

test('the operator creates keys with access to the data directory', async () => {
  const key = createOperatorKey(app.ctx, { name: 'backup', repository: 'acme/docs' })
  expect((await ask(app, 'GET', `/api/projects/${docs}`, { key })).status).toBe(200)
  expect((await ask(app, 'GET', `/api/projects/${api}`, { key })).status).toBe(404)
  const global = createOperatorKey(app.ctx, { name: 'all', repository: null })
  expect((await ask(app, 'GET', `/api/projects/${api}`, { key: global })).status).toBe(200)
  expect(() => createOperatorKey(app.ctx, { name: 'x', repository: 'acme/none' })).toThrow(
    'no project acme/none',
  )
  expect(() => createOperatorKey(app.ctx, { name: ' ', repository: null })).toThrow('1 to 100')
})

test('the database requires a key to be for one project or for all', () => {
  const insert = (projectId: string | null, isGlobal: number) => () =>
    app.ctx.db.sqlite.run(
      "INSERT INTO api_keys VALUES (?, 'x', 'x', ?, ?, ?, NULL, 0, NULL, NULL, NULL, NULL)",
      [crypto.randomUUID(), crypto.randomUUID(), projectId, isGlobal],
    )
  expect(insert(null, 0)).toThrow('CHECK')
  expect(insert(docs, 1)).toThrow('CHECK')
})
