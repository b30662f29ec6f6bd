import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY_MS } from '../../domain/durations.ts'
import { ask, NO_ID } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { cookieHeader, PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'
import { removeExpiredInvitations } from './service.ts'

let app: TestApp
let docs: string
let ann: string

beforeEach(async () => {
  app = await testApp()
  await app.addUser('owner@example.com')
  ann = await app.addUser('ann@example.com')
  docs = await newProject('docs')
})
afterEach(() => app.close())

const call = (method: string, path: string, json?: unknown, as = 'owner') =>
  ask(app, method, path, { as: `${as}@example.com`, json })

const newProject = async (name: string) =>
  String((await call('POST', '/api/projects', { owner: 'acme', name })).body['id'])

const invite = (email: string, role = 'viewer', as = 'owner') =>
  call('POST', `/api/projects/${docs}/invitations`, { email, role }, as)

async function linkFor(email: string, role = 'viewer'): Promise<string> {
  const url = String((await invite(email, role)).body['url'])
  return new URL(url).searchParams.get('token') ?? ''
}

const signUp = (email: string, invitationToken: string, password = PASSWORD) =>
  ask(app, 'POST', '/api/auth/signup', { json: { email, password, invitationToken } })

const members = async () =>
  (
    (await call('GET', `/api/projects/${docs}/members`)).body['members'] as { email: string; role: string }[]
  ).map(({ email, role }) => [email, role])

test('an account is a member with the role at once', async () => {
  const answer = await invite('ANN@example.com')
  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({
    id: expect.any(String),
    email: 'ann@example.com',
    role: 'viewer',
    status: 'accepted',
    createdAt: '2026-11-20T12:00:00.000Z',
    expiresAt: null,
  })
  expect(await members()).toEqual([
    ['ann@example.com', 'viewer'],
    ['owner@example.com', 'owner'],
  ])
})

test('a new email gets a link, shown only once', async () => {
  const answer = await invite('new@example.com', 'contributor')
  expect(answer.status).toBe(201)
  expect(answer.body).toMatchObject({
    status: 'pending',
    role: 'contributor',
    expiresAt: '2026-11-27T12:00:00.000Z',
  })
  expect(String(answer.body['url'])).toMatch(/^http:\/\/localhost:3000\/invite\?token=[A-Za-z0-9_-]{43}$/)
  const { url, mail, ...rest } = answer.body
  expect(mail).toBe('not_configured')
  const list = await call('GET', `/api/projects/${docs}/invitations`)
  expect(list.body).toEqual({ invitations: [rest] })
  expect(await members()).toHaveLength(1)
})

test('the link shows what it invites to, for anybody who has it', async () => {
  const token = await linkFor('new@example.com')
  const offer = {
    email: 'new@example.com',
    role: 'viewer',
    project: { id: docs, owner: 'acme', name: 'docs', displayName: 'docs' },
  }
  expect(await ask(app, 'GET', `/api/invitations/${token}`)).toEqual({ status: 200, body: offer })
  expect((await call('GET', `/api/invitations/${token}`, undefined, 'ann')).status).toBe(200)
  expect((await ask(app, 'GET', `/api/invitations/${'x'.repeat(43)}`)).status).toBe(404)
})

test('signing up by a link creates account, membership and role although signups are closed; once', async () => {
  const token = await linkFor('new@example.com')
  const made = await signUp('New@Example.com', token)
  expect(made).toMatchObject({ status: 201, body: { user: { email: 'new@example.com', role: 'member' } } })
  expect(await members()).toContainEqual(['new@example.com', 'viewer'])
  expect((await ask(app, 'GET', `/api/invitations/${token}`)).status).toBe(404)
  expect(await signUp('new@example.com', token)).toMatchObject({
    status: 400,
    body: { error: 'INVITATION_INVALID' },
  })
  const list = await call('GET', `/api/projects/${docs}/invitations`)
  expect(list.body['invitations']).toMatchObject([{ status: 'accepted', expiresAt: null }])
})

test('a link for another email, an expired and an unknown one create nothing', async () => {
  const token = await linkFor('new@example.com')
  for (const [email, used] of [
    ['other@example.com', token],
    ['ann@example.com', token],
    ['new@example.com', 'x'.repeat(43)],
  ] as const)
    expect(await signUp(email, used)).toMatchObject({ status: 400, body: { error: 'INVITATION_INVALID' } })
  app.advance(7 * DAY_MS)
  expect((await signUp('new@example.com', token)).body['error']).toBe('INVITATION_INVALID')
  expect((await ask(app, 'GET', `/api/invitations/${token}`)).status).toBe(404)
  const list = await call('GET', `/api/projects/${docs}/invitations`)
  expect(list.body['invitations']).toMatchObject([{ status: 'expired' }])
  expect(
    (await ask(app, 'POST', '/api/auth/signin', { json: { email: 'new@example.com', password: PASSWORD } }))
      .status,
  ).toBe(401)
})

test('without a link the closed sign-up stays closed', async () => {
  await linkFor('new@example.com')
  for (const json of [
    { email: 'new@example.com', password: PASSWORD },
    { email: 'new@example.com', password: PASSWORD, invitationToken: '' },
  ])
    expect((await ask(app, 'POST', '/api/auth/signup', { json })).body['error']).toBe(
      'PUBLIC_SIGNUP_DISABLED',
    )
})

test('a link made by a clock that was ahead is invalid once the clock is set back', async () => {
  const token = await linkFor('ahead@example.com')
  app.advance(-2 * DAY_MS)
  expect((await signUp('ahead@example.com', token)).body['error']).toBe('INVITATION_INVALID')
  app.advance(2 * DAY_MS)
  expect((await signUp('ahead@example.com', token)).status).toBe(201)
})

test('an account created in the meantime must prove its password, and every guess counts', async () => {
  const token = await linkFor('late@example.com')
  await app.addUser('late@example.com', 'user')
  const wrong = await signUp('late@example.com', token, 'not the password')
  expect(wrong).toMatchObject({ status: 409, body: { error: 'EMAIL_ALREADY_EXISTS_ERROR' } })
  expect(await members()).toHaveLength(1)
  for (let i = 1; i < 10; i++) await signUp('late@example.com', token, 'not the password')
  expect((await signUp('late@example.com', token)).status).toBe(429)
  app.advance(15 * 60 * 1000)
  expect((await signUp('late@example.com', token)).status).toBe(201)
  expect(await members()).toContainEqual(['late@example.com', 'viewer'])
})

test('a locked pair cannot create an account with a link', async () => {
  const token = await linkFor('new@example.com')
  const json = { email: 'new@example.com', password: 'not the password' }
  for (let i = 0; i < 10; i++) await ask(app, 'POST', '/api/auth/signin', { json })
  expect((await signUp('new@example.com', token)).status).toBe(429)
  expect(await members()).toHaveLength(1)
})

test('accepting works with the session of that email, once', async () => {
  const token = await linkFor('late@example.com', 'contributor')
  await app.addUser('late@example.com')
  const path = `/api/invitations/${token}/accept`
  expect((await ask(app, 'POST', path)).status).toBe(401)
  expect((await call('POST', path, undefined, 'ann')).status).toBe(403)
  expect(await members()).toHaveLength(1)
  const accepted = await call('POST', path, undefined, 'late')
  expect(accepted).toMatchObject({ status: 200, body: { role: 'contributor', project: { id: docs } } })
  expect(await members()).toContainEqual(['late@example.com', 'contributor'])
  expect((await call('POST', path, undefined, 'late')).status).toBe(404)
  expect((await call('POST', `/api/invitations/${'x'.repeat(43)}/accept`, undefined, 'late')).status).toBe(
    404,
  )
  expect((await ask(app, 'POST', `/api/invitations/${'x'.repeat(43)}/accept`)).status).toBe(401)
})

test.each(['%FF', '%C0%80', '%E0%A4%A'])(
  'a link %p that cannot be decoded is an unknown one',
  async (token) => {
    const answer = await ask(app, 'GET', `/api/invitations/${token}`)
    expect(answer).toMatchObject({ status: 404, body: { statusCode: 404, error: 'Not Found' } })
    expect((await call('POST', `/api/invitations/${token}/accept`, undefined, 'owner')).status).toBe(404)
  },
)

test('a key cannot accept', async () => {
  const token = await linkFor('new@example.com')
  await app.addUser('root@example.com', 'admin')
  const made = await call('POST', '/api/api-keys', { name: 'g', isGlobal: true }, 'root')
  const key = String(made.body['key'])
  expect((await ask(app, 'POST', `/api/invitations/${token}/accept`, { key })).status).toBe(403)
})

test('an invitation never lowers a direct role, and raises a lower one', async () => {
  for (const [role, held] of [
    ['contributor', 'contributor'],
    ['guest', 'contributor'],
    ['admin', 'admin'],
  ] as const)
    expect((await invite('ann@example.com', role)).body['role']).toBe(held)
  expect(await members()).toContainEqual(['ann@example.com', 'admin'])
})

test('the same by a link: accepted after a higher grant', async () => {
  const token = await linkFor('late@example.com', 'guest')
  await app.addUser('late@example.com')
  await call('POST', `/api/projects/${docs}/permissions/users`, { email: 'late@example.com', role: 'admin' })
  const accepted = await call('POST', `/api/invitations/${token}/accept`, undefined, 'late')
  expect(accepted.body['role']).toBe('admin')
  expect(await members()).toContainEqual(['late@example.com', 'admin'])
})

test('a member who was removed is invited again', async () => {
  await invite('ann@example.com')
  await call('DELETE', `/api/projects/${docs}/members/${ann}`)
  expect((await call('GET', `/api/projects/${docs}`, undefined, 'ann')).status).toBe(404)
  expect((await invite('ann@example.com')).status).toBe(201)
  expect((await call('GET', `/api/projects/${docs}`, undefined, 'ann')).body['role']).toBe('viewer')
})

test('a second invitation ends the first link, and revoking one ends its link', async () => {
  const first = await linkFor('new@example.com')
  const second = await invite('new@example.com')
  expect((await ask(app, 'GET', `/api/invitations/${first}`)).status).toBe(404)
  const token = new URL(String(second.body['url'])).searchParams.get('token') ?? ''
  const path = `/api/projects/${docs}/invitations/${second.body['id']}`
  expect((await call('DELETE', path)).status).toBe(204)
  expect((await call('DELETE', path)).status).toBe(404)
  expect((await signUp('new@example.com', token)).body['error']).toBe('INVITATION_INVALID')
})

test.each([
  [{ email: 'ann@example.com', role: 'owner' }],
  [{ email: 'new@example.com', role: 'owner' }],
  [{ email: 'owner@example.com', role: 'guest' }],
  [{ email: 'ann@example.com' }],
  [{ email: 'ann', role: 'guest' }],
  [{ role: 'guest' }],
])('400 for %j', async (body) => {
  expect((await call('POST', `/api/projects/${docs}/invitations`, body)).status).toBe(400)
  expect(await members()).toHaveLength(1)
})

test('admins of the project only, and of this project', async () => {
  const path = `/api/projects/${docs}/invitations`
  const { body } = await invite('new@example.com')
  const other = await newProject('other')
  expect((await call('DELETE', `/api/projects/${other}/invitations/${body['id']}`)).status).toBe(404)
  for (const [role, list, write] of [
    [null, 404, 404],
    ['guest', 403, 403],
    ['viewer', 403, 403],
    ['contributor', 403, 403],
    ['admin', 200, 201],
  ] as const) {
    if (role !== null) await call('POST', `/api/projects/${docs}/permissions/users`, { userId: ann, role })
    expect((await call('GET', path, undefined, 'ann')).status).toBe(list)
    expect((await invite('x@example.com', 'guest', 'ann')).status).toBe(write)
  }
  expect((await ask(app, 'GET', path)).status).toBe(401)
  expect((await call('GET', `/api/projects/${NO_ID}/invitations`)).status).toBe(404)
  expect(
    (await call('DELETE', `/api/projects/${other}/invitations/${body['id']}`, undefined, 'ann')).status,
  ).toBe(404)
})

test('a link ends with its project', async () => {
  const token = await linkFor('new@example.com')
  await call('DELETE', `/api/projects/${docs}`)
  expect((await ask(app, 'GET', `/api/invitations/${token}`)).status).toBe(404)
  expect((await signUp('new@example.com', token)).body['error']).toBe('INVITATION_INVALID')
})

test('an invitation that nobody accepted is kept for 30 days after it expired; its link answers the same', async () => {
  const token = await linkFor('late@example.com')
  await invite('ann@example.com')
  const kept = async () => {
    await removeExpiredInvitations(app.ctx)
    const rows = app.ctx.db.sqlite.query<{ email: string }, []>('SELECT email FROM invitations').all()
    const seen = await ask(app, 'GET', `/api/invitations/${token}`)
    const used = await signUp('late@example.com', token)
    return {
      emails: rows.map(({ email }) => email).sort(),
      answers: [seen, used].map(({ status, body }) => [status, body]),
    }
  }
  app.advance(36 * DAY_MS)
  const expired = await kept()
  expect(expired.emails).toEqual(['ann@example.com', 'late@example.com'])
  expect(expired.answers.map(([status]) => status)).toEqual([404, 400])
  app.advance(2 * DAY_MS)
  expect(await kept()).toEqual({ emails: ['ann@example.com'], answers: expired.answers })
})

test('on a gated site, only a link of that site signs up', async () => {
  const site = async (repo: string) => {
    const files = { 'index.html': repo }
    const { aliasHost } = await seedDeployment(app, {
      owner: 'acme',
      repo,
      sha: 'a'.repeat(40),
      alias: 'production',
      files,
    })
    return aliasHost ?? ''
  }
  await newProject('other')
  const [own, other] = [await site('docs'), await site('other')]
  await app.addUser('root@example.com', 'admin')
  await call('PATCH', '/api/settings', { requireProjectMembership: true }, 'root')
  const json = {
    email: 'new@example.com',
    password: PASSWORD,
    invitationToken: await linkFor('new@example.com'),
  }
  const elsewhere = await ask(app, 'POST', '/_svc/auth/signup', { host: other, json })
  expect(elsewhere).toMatchObject({ status: 400, body: { error: 'INVITATION_INVALID' } })
  const here = await app.call('POST', '/_svc/auth/signup', { host: own, json })
  expect(here.status).toBe(201)
  const headers = { cookie: cookieHeader(here) }
  const session = (host: string) => ask(app, 'GET', '/_svc/auth/session', { host, headers })
  expect((await session(own)).body).toMatchObject({ user: { email: 'new@example.com' } })
  expect((await session(other)).body).toEqual({ user: null })
})
