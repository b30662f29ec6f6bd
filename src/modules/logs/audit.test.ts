import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

let app: TestApp
let root: string
let docs: string

beforeAll(async () => {
  app = await testApp({ LOG_LEVEL: 'info' })
  root = await app.addUser('root@example.com', 'admin')
  await app.addUser('ann@example.com')
  docs = String((await call('POST', '/api/projects', { owner: 'acme', name: 'docs' }, 'ann')).body['id'])
})
afterAll(() => app.close())

const call = (method: string, path: string, json?: unknown, as = 'root') =>
  ask(app, method, path, { as: `${as}@example.com`, json })

const entries = async (query = '') =>
  (await call('GET', `/api/audit${query}`)).body['data'] as Record<string, unknown>[]

test('who changed what, newest first', async () => {
  app.advance(1000)
  await call('PATCH', `/api/projects/${docs}`, { displayName: 'Docs' }, 'ann')
  const [last] = await entries('?action=project.change')
  expect(last).toEqual({
    id: expect.any(String),
    at: '2026-11-20T12:00:01.000Z',
    actor: { kind: 'user', id: expect.any(String), name: 'ann@example.com' },
    credential: expect.stringMatching(/^session [0-9a-f-]{36}$/),
    ip: '127.0.0.1',
    action: 'project.change',
    target: { kind: 'project', id: docs, name: 'acme/docs' },
    projectId: docs,
    before: { displayName: 'docs' },
    sentence: 'ann@example.com changed the settings of acme/docs',
    canUndo: true,
    undoneBy: null,
    undoOf: null,
    after: { displayName: 'Docs' },
  })
})

test('says by name what was changed, also once that is gone', async () => {
  const latest = async (action: string) => (await entries(`?action=${action}`))[0]
  const ann = app.ctx.db.sqlite
    .query<{ id: string }, [string]>('SELECT id FROM users WHERE email = ?')
    .get('ann@example.com')?.id
  const { body: group } = await call('POST', '/api/groups', { name: 'Wardens' })
  await call('POST', `/api/groups/${group['id']}/members`, { userId: ann })
  expect(await latest('group.add-member')).toMatchObject({
    target: { kind: 'group', name: 'Wardens' },
    after: { userId: ann, email: 'ann@example.com' },
  })
  await call('DELETE', `/api/groups/${group['id']}`)
  expect(await latest('group.delete')).toMatchObject({ target: { id: group['id'], name: 'Wardens' } })
  await app.addUser('lee@example.com')
  await call(
    'POST',
    `/api/projects/${docs}/permissions/users`,
    { email: 'lee@example.com', role: 'viewer' },
    'ann',
  )
  expect(await latest('permission.grant')).toMatchObject({
    target: { kind: 'user', name: 'lee@example.com' },
  })
})

test('says which commit an alias moved from and to', async () => {
  const [from, to] = ['a'.repeat(40), 'b'.repeat(40)]
  for (const sha of [from, to])
    await seedDeployment(app, { owner: 'acme', repo: 'docs', sha, files: { 'index.html': sha } })
  const created = { projectId: docs, name: 'production', commitSha: from }
  const { body: alias } = await call('POST', '/api/aliases', created, 'ann')
  await call('PATCH', `/api/aliases/${alias['id']}`, { commitSha: to }, 'ann')
  const [moved] = await entries('?action=alias.move')
  expect(moved).toMatchObject({
    target: { kind: 'alias', name: 'production' },
    before: { commitSha: from },
    after: { commitSha: to },
  })
})

test('shows times as the rest of the API does', async () => {
  await call('POST', '/api/groups', { name: 'staff' })
  const [made] = await entries('?action=group.create')
  expect(made?.['after']).toMatchObject({ name: 'staff', createdAt: made?.['at'] })
})

test('filters by action, project, actor and time, both ends included', async () => {
  app.advance(1000)
  await call('PATCH', '/api/settings', { allowPublicSignups: false })
  const only = async (query: string, action: string) =>
    expect(new Set((await entries(query)).map((entry) => entry['action']))).toEqual(new Set([action]))
  await only('?action=settings.change', 'settings.change')
  await only(`?from=2026-11-20T12:00:02.000Z&actorId=${root}&action=settings.change`, 'settings.change')
  await only(
    '?from=2026-11-20T12:00:01.000Z&to=2026-11-20T12:00:01.000Z&action=project.change',
    'project.change',
  )
  expect(await entries('?to=2026-11-20T11:59:59.999Z')).toEqual([])
  expect((await entries(`?projectId=${docs}`)).every((entry) => entry['projectId'] === docs)).toBe(true)
  expect(await entries('?projectId=none')).toEqual([])
  const times = (await entries('?order=asc')).map((entry) => String(entry['at']))
  expect(times).toEqual([...times].sort())
  for (const query of ['?from=yesterday', '?to=7', '?sort=action', '?limit=1000'])
    expect((await call('GET', `/api/audit${query}`)).status).toBe(400)
})

test('an invitation that made an account was accepted by the session that it opened', async () => {
  const path = `/api/projects/${docs}/invitations`
  const invited = await call('POST', path, { email: 'eve@example.com', role: 'viewer' }, 'ann')
  const invitationToken = new URL(String(invited.body['url'])).searchParams.get('token')
  const json = { email: 'eve@example.com', password: PASSWORD, invitationToken }
  expect((await ask(app, 'POST', '/api/auth/signup', { json })).status).toBe(201)
  const [made] = await entries('?action=user.create&order=desc')
  const [accepted] = await entries('?action=invitation.accept')
  expect(accepted).toMatchObject({ actor: { name: 'eve@example.com' }, credential: made?.['credential'] })
  const session = String(accepted?.['credential']).replace(/^session /, '')
  expect(app.ctx.db.sqlite.query('SELECT id FROM sessions WHERE id = ?').get(session)).toEqual({
    id: session,
  })
})

test('the total counts every entry, whatever the page', async () => {
  const all = app.ctx.db.sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM audit_log').get()
  for (const query of ['', '?limit=1', '?page=1000', '?from=2020-01-01'])
    expect((await call('GET', `/api/audit${query}`)).body['pagination']).toMatchObject({ total: all?.n })
})

test('for global admins only', async () => {
  expect((await ask(app, 'GET', '/api/audit')).status).toBe(401)
  expect((await call('GET', '/api/audit', undefined, 'ann')).status).toBe(403)
})

test('no password, token, key or secret is in the audit log or the log', async () => {
  const secrets: string[] = [PASSWORD, 'hush-hush-value']
  const take = (value: unknown): void => void secrets.push(String(value))
  const tokenOf = (url: unknown) => new URL(String(url)).searchParams.get('token')
  const user = await call('POST', '/api/users', { email: 'new@example.com' })
  take(tokenOf(user.body['inviteUrl']))
  take(tokenOf((await call('POST', `/api/users/${user.body['id']}/reset-link`)).body['url']))
  const key = await call('POST', '/api/api-keys', { name: 'ci', projectId: docs })
  take(key.body['key'])
  await call('PUT', `/api/projects/${docs}/secrets/MAIL`, { value: 'hush-hush-value' }, 'ann')
  const invited = await call(
    'POST',
    `/api/projects/${docs}/invitations`,
    { email: 'guest@example.com', role: 'guest' },
    'ann',
  )
  const token = tokenOf(invited.body['url'])
  take(token)
  // A fault is logged too, with the path that the token is part of.
  const { sqlite } = app.ctx.db
  sqlite.run('ALTER TABLE invitations RENAME TO away')
  expect((await ask(app, 'GET', `/api/invitations/${token}`)).status).toBe(500)
  sqlite.run('ALTER TABLE away RENAME TO invitations')
  await ask(app, 'POST', '/api/auth/signup', {
    json: { email: 'guest@example.com', password: PASSWORD, invitationToken: token },
  })
  const cookie = await app.cookieOf('guest@example.com')
  for (const pair of cookie.split('; ')) take(pair.split('=')[1])
  await call('DELETE', `/api/projects/${docs}/secrets/MAIL`, undefined, 'ann')
  await call('DELETE', `/api/api-keys/${(key.body['apiKey'] as { id: string }).id}`)
  await call('DELETE', `/api/projects/${docs}`, undefined, 'ann')

  const written =
    JSON.stringify(app.ctx.db.sqlite.query('SELECT * FROM audit_log').all()) + app.lines.join('')
  for (const action of ['api-key.create', 'secret.put', 'invitation.accept', 'user.reset-link'])
    expect(written).toContain(`"${action}"`)
  expect(written).toContain('/api/invitations/[token]')
  expect(secrets).toHaveLength(8)
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(10)
    expect(written).not.toContain(secret)
    expect(written).not.toContain(new Bun.CryptoHasher('sha256').update(secret).digest('hex'))
  }
})

test('entries cannot be changed or deleted in the database', () => {
  expect(() => app.ctx.db.sqlite.run("UPDATE audit_log SET action = 'x'")).toThrow('append only')
  expect(() => app.ctx.db.sqlite.run('DELETE FROM audit_log')).toThrow('append only')
})
