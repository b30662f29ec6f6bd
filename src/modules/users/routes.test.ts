import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { inTransaction } from '../../db/open.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { consumeOneTimeToken } from '../auth/one-time-tokens.ts'

type Json = Record<string, unknown>
const NOBODY = '01900000-0000-7000-8000-000000000000'

let app: TestApp
let root: string
let ann: string

beforeAll(async () => {
  app = await testApp()
  root = await app.addUser('root@example.com', 'admin')
  ann = await app.addUser('ann@example.com')
  await app.addUser('mo@example.com', 'member')
})
afterAll(() => app.close())

/** Every test starts with the same users. */
beforeEach(() => {
  inTransaction(app.ctx.db, () => {
    app.ctx.db.sqlite.run(
      "DELETE FROM users WHERE email NOT IN ('root@example.com', 'ann@example.com', 'mo@example.com')",
    )
  })
})

const call = async (method: string, path: string, json?: unknown, as = 'root@example.com') => {
  const answer = await app.call(method, path, { as, json })
  const text = await answer.text()
  return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Json }
}

const tokenOf = (url: unknown): string => new URL(String(url)).searchParams.get('token') ?? ''

const consume = (token: string, purpose: 'reset' | 'invite') =>
  inTransaction(app.ctx.db, (tx) => consumeOneTimeToken(app.ctx, tx, token, [purpose]))

const everyRoute: [method: string, path: string][] = [
  ['GET', '/api/users'],
  ['POST', '/api/users'],
  ['GET', `/api/users/${NOBODY}`],
  ['PATCH', `/api/users/${NOBODY}`],
  ['DELETE', `/api/users/${NOBODY}`],
  ['POST', `/api/users/${NOBODY}/reset-link`],
]

test.each(everyRoute)('%s %s is for global admins, checked before anything else', async (method, path) => {
  expect((await app.call(method, path)).status).toBe(401)
  expect((await call(method, path, undefined, 'ann@example.com')).status).toBe(403)
  expect((await call(method, path, undefined, 'mo@example.com')).status).toBe(403)
  const asAdmin = await call(method, path, method === 'PATCH' ? { email: 'not an email' } : undefined)
  expect(asAdmin.status).toBe(path === '/api/users' ? (method === 'GET' ? 200 : 400) : 404)
})

test('a user with a password signs in at once, as member by default', async () => {
  const made = await call('POST', '/api/users', {
    email: ' New@Example.com ',
    password: 'correct horse battery',
  })
  expect(made.status).toBe(201)
  expect(made.body).toEqual({
    id: expect.any(String),
    email: 'new@example.com',
    role: 'member',
    createdAt: '2026-11-20T12:00:00.000Z',
    lastSeenAt: null,
    suspendedAt: null,
    hasSecondStep: false,
  })
  expect(await app.cookieOf('new@example.com')).toContain('sAccessToken')
})

test('a user without a password gets a link for 7 days, once', async () => {
  const { body } = await call('POST', '/api/users', { email: 'late@example.com', role: 'user' })
  expect(String(body['inviteUrl'])).toStartWith('http://localhost:3000/reset-password?token=')
  expect((await call('GET', `/api/users/${body['id']}`)).body).not.toHaveProperty('inviteUrl')
  const token = tokenOf(body['inviteUrl'])
  app.advance(7 * DAY_MS - 1)
  expect(consume(token, 'reset')).toBeUndefined()
  expect(consume(token, 'invite')).toEqual({ userId: String(body['id']), purpose: 'invite', data: null })
  expect(consume(token, 'invite')).toBeUndefined()
  app.advance(1 - 7 * DAY_MS)
})

test('nobody signs in with an empty password before the first is set', async () => {
  await call('POST', '/api/users', { email: 'late@example.com' })
  for (const password of ['', 'null', 'undefined'])
    expect(
      (await app.call('POST', '/api/auth/signin', { json: { email: 'late@example.com', password } })).status,
    ).toBe(401)
})

test('a reset link is good for an hour, and the next one ends it', async () => {
  const first = await call('POST', `/api/users/${ann}/reset-link`)
  expect(first.status).toBe(201)
  expect(first.body['expiresAt']).toBe('2026-11-20T13:00:00.000Z')
  expect(String(first.body['url'])).toMatch(/\?token=[A-Za-z0-9_-]{43}$/)
  const second = await call('POST', `/api/users/${ann}/reset-link`)
  expect(consume(tokenOf(first.body['url']), 'reset')).toBeUndefined()
  expect(consume(tokenOf(second.body['url']), 'reset')?.userId).toBe(ann)
  const third = await call('POST', `/api/users/${ann}/reset-link`)
  app.advance(60 * 60 * 1000)
  expect(consume(tokenOf(third.body['url']), 'reset')).toBeUndefined()
  app.advance(-60 * 60 * 1000)
})

test('a new email ends the reset link that went to the old one', async () => {
  const made = await call('POST', '/api/users', {
    email: 'old@example.com',
    password: 'correct horse battery',
  })
  const link = async () =>
    tokenOf((await call('POST', `/api/users/${made.body['id']}/reset-link`)).body['url'])
  const change = (json: unknown) => call('PATCH', `/api/users/${made.body['id']}`, json)
  const kept = await link()
  await change({ role: 'user' })
  expect(consume(kept, 'reset')?.userId).toBe(String(made.body['id']))
  const ended = await link()
  await change({ email: 'new@example.com' })
  expect(consume(ended, 'reset')).toBeUndefined()
  await call('DELETE', `/api/users/${made.body['id']}`)
})

const badBodies: [what: string, body: unknown][] = [
  ['no email', {}],
  ['no address', { email: 'ann' }],
  ['a short password', { email: 'x@example.com', password: '1234567' }],
  ['a long password', { email: 'x@example.com', password: 'x'.repeat(257) }],
  ['a project role', { email: 'x@example.com', role: 'owner' }],
  ['a list', []],
]

test.each(badBodies)('400 for %s', async (_what, body) => {
  const { status, body: answer } = await call('POST', '/api/users', body)
  expect(status).toBe(400)
  expect(answer['details']).toBeArray()
})

test('no account is created twice, in any letter case', async () => {
  expect((await call('POST', '/api/users', { email: 'ANN@example.com' })).status).toBe(409)
  expect((await call('PATCH', `/api/users/${root}`, { email: 'Ann@Example.com' })).status).toBe(409)
})

test('lists are paginated, filtered and sorted', async () => {
  const emails = async (query: string) =>
    ((await call('GET', `/api/users${query}`)).body['data'] as { email: string }[]).map(({ email }) => email)
  expect(await emails('?sort=email')).toEqual(['ann@example.com', 'mo@example.com', 'root@example.com'])
  expect(await emails('?sort=email&order=desc&limit=1&page=2')).toEqual(['mo@example.com'])
  expect(await emails('?email=ANN@example.com')).toEqual(['ann@example.com'])
  expect(await emails('?email=ann')).toEqual([])
  expect(await emails('?search=N@EX')).toEqual(['ann@example.com'])
  expect(await emails('?search=%25')).toEqual([])
  expect((await call('GET', '/api/users?limit=2')).body['pagination']).toEqual({
    page: 1,
    limit: 2,
    total: 3,
    pages: 2,
  })
  for (const query of ['?limit=101', '?page=0', '?sort=passwordHash', '?order=up'])
    expect((await call('GET', `/api/users${query}`)).status).toBe(400)
})

test('no response contains a password or its hash', async () => {
  const made = await call('POST', '/api/users', {
    email: 'new@example.com',
    password: 'correct horse battery',
  })
  const one = await call('GET', `/api/users/${made.body['id']}`)
  expect(Object.keys(one.body).sort()).toEqual([
    'createdAt',
    'email',
    'hasSecondStep',
    'id',
    'lastSeenAt',
    'role',
    'suspendedAt',
  ])
})

test('a session has the new role and email from the next request on', async () => {
  const session = await app.cookieOf('ann@example.com')
  const asAnn = (method: string, path: string, json?: unknown) =>
    app.call(method, path, { headers: { cookie: session }, json })
  expect((await asAnn('GET', '/api/users')).status).toBe(403)
  expect((await call('PATCH', `/api/users/${ann}`, { role: 'admin' })).body['role']).toBe('admin')
  expect((await asAnn('GET', '/api/users')).status).toBe(200)
  await call('PATCH', `/api/users/${ann}`, { role: 'member', email: 'anna@example.com' })
  expect((await asAnn('GET', '/api/users')).status).toBe(403)
  expect((await asAnn('POST', '/api/projects', { owner: 'ann', name: 'x' })).status).toBe(403)
  expect(await (await asAnn('GET', '/api/auth/session')).json()).toEqual({
    user: { id: ann, email: 'anna@example.com', role: 'member' },
  })
  await call('PATCH', `/api/users/${ann}`, { role: 'user', email: 'ann@example.com' })
  expect((await asAnn('POST', '/api/projects', { owner: 'ann', name: 'y' })).status).toBe(201)
  app.ctx.db.sqlite.run('DELETE FROM projects')
})

test('the last admin cannot be demoted or deleted', async () => {
  const demote = await call('PATCH', `/api/users/${root}`, { role: 'user' })
  expect(demote.status).toBe(400)
  expect((await call('DELETE', `/api/users/${root}`)).status).toBe(400)
  await call('POST', '/api/projects', { owner: 'acme', name: 'docs' })
  const asOwner = await call('DELETE', `/api/users/${root}`)
  expect([asOwner.status, asOwner.body['message']]).toEqual([
    400,
    'The last administrator cannot be deleted: make another one first',
  ])
  app.ctx.db.sqlite.run('DELETE FROM projects')
  await call('PATCH', `/api/users/${ann}`, { role: 'admin' })
  expect((await call('PATCH', `/api/users/${root}`, { role: 'user' })).status).toBe(200)
  expect((await call('PATCH', `/api/users/${root}`, { role: 'admin' })).status).toBe(403)
  expect((await call('PATCH', `/api/users/${ann}`, { role: 'member' }, 'ann@example.com')).status).toBe(400)
  await call('PATCH', `/api/users/${root}`, { role: 'admin' }, 'ann@example.com')
  expect((await call('PATCH', `/api/users/${ann}`, { role: 'user' })).status).toBe(200)
})

test('the database also protects the last admin', () => {
  const { sqlite } = app.ctx.db
  expect(() => sqlite.run("UPDATE users SET role = 'user' WHERE id = ?", [root])).toThrow('last admin')
  expect(() => sqlite.run('DELETE FROM users WHERE id = ?', [root])).toThrow('last admin')
  expect(() => sqlite.run("DELETE FROM users WHERE role = 'admin'")).toThrow('last admin')
})

test('deleting an account ends its sessions and links', async () => {
  const { body } = await call('POST', '/api/users', {
    email: 'gone@example.com',
    password: 'correct horse battery',
  })
  const link = await call('POST', `/api/users/${body['id']}/reset-link`)
  const cookie = await app.cookieOf('gone@example.com')
  expect((await call('DELETE', `/api/users/${body['id']}`)).status).toBe(204)
  expect((await call('DELETE', `/api/users/${body['id']}`)).status).toBe(404)
  const session = await app.call('GET', '/api/auth/session', { headers: { cookie } })
  expect(await session.json()).toEqual({ user: null })
  expect(consume(tokenOf(link.body['url']), 'reset')).toBeUndefined()
})

test('an owner cannot be deleted: the response names the projects', async () => {
  for (const name of ['docs', 'api'])
    await app.call('POST', '/api/projects', { as: 'ann@example.com', json: { owner: 'acme', name } })
  const refused = await call('DELETE', `/api/users/${ann}`)
  expect(refused.status).toBe(409)
  expect(refused.body['message']).toContain('acme/api, acme/docs')
  expect((await call('GET', `/api/users/${ann}`)).body['role']).toBe('user')
  expect(() => app.ctx.db.sqlite.run('DELETE FROM users WHERE id = ?', [ann])).toThrow('user owns projects')
  app.ctx.db.sqlite.run('DELETE FROM projects')
})
