import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { inTransaction } from '../../db/open.ts'
import { totpCodeAt } from '../../platform/totp.ts'
import { ask, NO_ID } from '../../testing/ask.ts'
import { type OidcServer, oidcServer } from '../../testing/oidc-server.ts'
import { type Seeded, seedDeployment } from '../../testing/seed.ts'
import { seedMember } from '../../testing/seed-people.ts'
import { type CallOptions, cookieHeader, PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'
import { openCliSession } from '../auth/sessions/cli.ts'
import { openSession } from '../auth/sessions.ts'

/** Somebody who is suspended has no way in, and finds everything in place when they are let back in. contract 17.6. */

const ROOT = 'root@example.com'
const ANN = 'ann@example.com'
const CALLBACK = 'http://localhost:3000/api/auth/oidc/one/callback'

let provider: OidcServer
beforeAll(async () => {
  provider = await oidcServer({ redirectUris: [CALLBACK] })
})
afterAll(() => provider.close())

let app: TestApp
let site: Seeded
let ann: string
beforeEach(async () => {
  app = await testApp({ ...provider.env, FEATURE_REQUIRE_PROJECT_MEMBERSHIP: 'true' })
  await app.addUser(ROOT, 'admin')
  ann = await app.addUser(ANN, 'admin')
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    isPublic: false,
    files: { 'index.html': 'home' },
  })
})
afterEach(() => app.close())

const suspend = (id = ann, options: CallOptions = { json: {} }) =>
  ask(app, 'POST', `/api/users/${id}/suspend`, { as: ROOT, ...options })
const unsuspend = (id = ann) => ask(app, 'POST', `/api/users/${id}/unsuspend`, { as: ROOT })
const signIn = (password = PASSWORD, more: CallOptions & { code?: string } = {}) =>
  app.call('POST', '/api/auth/signin', {
    ...more,
    json: { email: ANN, password, ...(more.code === undefined ? {} : { code: more.code }) },
  })
const refusal = async (answer: Response) => ({
  status: answer.status,
  error: ((await answer.json()) as Record<string, unknown>)['error'],
  cookies: answer.headers.getSetCookie(),
})
const SUSPENDED = { status: 403, error: 'ACCOUNT_SUSPENDED', cookies: [] }
const rows = (sql: string) => app.ctx.db.sqlite.query<Record<string, unknown>, []>(sql).all()

async function secondStep(): Promise<string> {
  const { body } = await ask(app, 'POST', '/api/account/mfa/totp', { as: ANN })
  const code = () => totpCodeAt(String(body['secret']), app.ctx.now())
  await ask(app, 'POST', '/api/account/mfa/totp/confirm', { as: ANN, json: { code: await code() } })
  app.advance(60_000)
  return code()
}

describe('the right proof is told 403 ACCOUNT_SUSPENDED, with no cookie', () => {
  test('the password; a wrong one, and an unknown email, are answered as before', async () => {
    await suspend()
    expect(await refusal(await signIn())).toEqual(SUSPENDED)
    const wrong = { status: 401, error: 'WRONG_CREDENTIALS_ERROR', cookies: [] }
    expect(await refusal(await signIn('wrong'))).toEqual(wrong)
    const nobody = await app.call('POST', '/api/auth/signin', {
      json: { email: 'no@example.com', password: 'x' },
    })
    expect(await refusal(nobody)).toEqual(wrong)
  })

  test('before the second step is asked for, with it, and with a ticket of before', async () => {
    const code = await secondStep()
    const page = await app.call('POST', '/signin', {
      body: new URLSearchParams({ email: ANN, password: PASSWORD }),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    const ticket = /name="mfaTicket" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
    expect(ticket).not.toBe('')
    await suspend()
    expect(await refusal(await signIn())).toEqual(SUSPENDED)
    expect(await refusal(await signIn(PASSWORD, { code }))).toEqual(SUSPENDED)
    const form = new URLSearchParams({ mfaTicket: ticket, code })
    const answer = await app.call('POST', '/signin', {
      body: form,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []])
    expect(await answer.text()).toContain('This account is suspended')
    // The code was not used up.
    await unsuspend()
    expect((await signIn(PASSWORD, { code })).status).toBe(200)
  })

  test('a site that knows them; one whose gate does not, as before', async () => {
    const host = site.aliasHost ?? ''
    await suspend()
    expect(await refusal(await signIn(PASSWORD, { host }))).toMatchObject({ status: 401 })
    await unsuspend()
    const grant = { userId: ann, role: 'viewer' }
    await app.call('POST', `/api/projects/${site.projectId}/permissions/users`, { as: ROOT, json: grant })
    expect((await signIn(PASSWORD, { host })).status).toBe(200)
    await suspend()
    expect(await refusal(await signIn(PASSWORD, { host }))).toEqual(SUSPENDED)
  })

  test('an invitation, which stays open', async () => {
    const json = { email: 'bea@example.com', role: 'viewer' }
    const path = `/api/projects/${site.projectId}/invitations`
    const { body } = await ask(app, 'POST', path, { as: ROOT, json })
    const invitationToken = new URL(String(body['url'])).searchParams.get('token')
    const bea = await app.addUser('bea@example.com', 'member')
    await suspend(bea)
    const signUp = () =>
      app.call('POST', '/api/auth/signup', {
        json: { email: 'bea@example.com', password: PASSWORD, invitationToken },
      })
    expect(await refusal(await signUp())).toEqual(SUSPENDED)
    await unsuspend(bea)
    expect((await signUp()).status).toBe(201)
  })

  test('a provider, connected or claiming an account that nobody used', async () => {
    const { sqlite } = app.ctx.db
    const via = async (sub: string, email: string) => {
      provider.person = { sub, email, email_verified: true }
      const started = await app.call('GET', '/api/auth/oidc/one/start')
      const back = new URL(await provider.visit(started.headers.get('location') ?? ''))
      return app.call('GET', `${back.pathname}${back.search}`, {
        headers: { cookie: cookieHeader(started), 'sec-fetch-site': 'cross-site' },
      })
    }
    sqlite.run("INSERT INTO user_connections VALUES ('one', 'ann-1', ?, ?, 0)", [ann, ANN])
    const claimed = await app.addUser('new@example.com')
    sqlite.run('UPDATE users SET password_hash = NULL WHERE id = ?', [claimed])
    app.ctx.db.writes += 1
    await suspend()
    await suspend(claimed)
    for (const [sub, email] of [
      ['ann-1', ANN],
      ['new-1', 'new@example.com'],
    ] as const) {
      const answer = await via(sub, email)
      expect([answer.status, cookieHeader(answer)]).toEqual([403, ''])
      expect(await answer.text()).toContain('suspended')
    }
    expect(rows("SELECT 1 FROM user_connections WHERE subject = 'new-1'")).toEqual([])
    await unsuspend()
    expect((await via('ann-1', ANN)).status).toBe(302)
  })
})

test('what they had is worth nothing from the same moment: cookies, refresh token, site, command line, key, codes', async () => {
  const cookie = await app.cookieOf(ANN)
  const key = String(
    (await ask(app, 'POST', '/api/api-keys', { as: ANN, json: { name: 'ci', isGlobal: true } })).body['key'],
  )
  const keyId = rows('SELECT id FROM api_keys')[0]?.['id']
  const from = { ip: '127.0.0.1', userAgent: '' }
  const cli = inTransaction(app.ctx.db, (tx) => openCliSession(app.ctx, tx, ann, { ...from, name: 'laptop' }))
  const device = await ask(app, 'POST', '/api/auth/device/code', { json: {} })
  const userCode = device.body['user_code']
  await app.call('POST', '/api/auth/device/approve', { as: ANN, json: { userCode, approve: true } })
  app.ctx.db.sqlite.run("INSERT INTO one_time_tokens VALUES ('h', 'site_code', ?, '{}', ?, ?)", [
    ann,
    app.ctx.now(),
    app.ctx.now() + 60_000,
  ])
  const link = (await ask(app, 'POST', `/api/users/${ann}/reset-link`, { as: ROOT })).body['url']
  const bearer = { headers: { authorization: `Bearer ${cli.token}` } }
  const asked = async () => [
    (await app.call('GET', '/api/projects', { headers: { cookie } })).status,
    (await app.call('POST', '/api/auth/refresh', { headers: { cookie } })).status,
    (await app.call('GET', '/api/projects', bearer)).status,
    (await app.call('GET', '/api/projects', { key })).status,
    (await app.call('GET', '/repo/acme/docs/alias/production/', { headers: { cookie } })).status,
    (await app.call('GET', '/repo/acme/docs/alias/production/', { key })).status,
  ]
  expect(await asked()).toEqual([200, 200, 200, 200, 200, 200])
  const { status, body } = await suspend(ann, { json: { reason: ' left the company ' } })
  expect([status, body['suspendedAt']]).toEqual([200, '2026-11-20T12:00:00.000Z'])
  expect(await asked()).toEqual([401, 401, 401, 401, 404, 404])
  expect(await ask(app, 'GET', '/api/projects', { key })).toMatchObject({
    body: { error: 'API_KEY_SUSPENDED', message: expect.stringContaining('is suspended') },
  })
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
  const redeemed = await app.call('POST', '/api/auth/device/token', {
    json: { grant_type, device_code: device.body['device_code'] },
  })
  expect(redeemed.status).toBe(400)
  expect(rows(`SELECT 1 FROM sessions WHERE user_id = '${ann}'`)).toEqual([])
  expect(rows("SELECT 1 FROM one_time_tokens WHERE purpose = 'site_code'")).toEqual([])
  // A link sets a password, and lets nobody in.
  const token = new URL(String(link)).searchParams.get('token')
  const set = await app.call('POST', '/api/auth/reset-password', {
    json: { token, password: 'another long password' },
  })
  expect([set.status, set.headers.getSetCookie()]).toEqual([200, []])
  expect(await refusal(await signIn('another long password'))).toEqual(SUSPENDED)

  const overview = (await ask(app, 'GET', `/api/users/${ann}/overview`, { as: ROOT })).body
  expect(overview).toMatchObject({ suspendedReason: 'left the company', sessions: [] })
  const keys = async () => rows('SELECT suspended_reason AS why, id FROM api_keys')
  expect(await keys()).toEqual([{ why: 'maker_suspended', id: keyId }])
  await unsuspend()
  expect(await keys()).toEqual([{ why: null, id: keyId }])
  expect(await asked()).toEqual([401, 401, 401, 200, 404, 200])
  expect((await signIn('another long password')).status).toBe(200)
})

test('no session can be written for them at all, whoever writes it', async () => {
  await suspend()
  const from = { ip: '127.0.0.1', userAgent: '' }
  for (const open of [
    openSession,
    (...[ctx, tx, id, f]: Parameters<typeof openSession>) => openCliSession(ctx, tx, id, { ...f, name: 'x' }),
  ])
    expect(() => inTransaction(app.ctx.db, (tx) => open(app.ctx, tx, ann, from))).toThrow('is suspended')
  expect(() =>
    app.ctx.db.sqlite.run("INSERT INTO sessions VALUES ('s', ?, '', '', NULL, 0, 0, NULL)", [ann]),
  ).toThrow('account suspended')
})

test('twice, the other way, oneself, nobody, a long reason', async () => {
  const me = rows(`SELECT id FROM users WHERE email = '${ROOT}'`)[0]?.['id']
  expect((await unsuspend()).body).toMatchObject({ statusCode: 409, error: 'NOT_SUSPENDED' })
  expect((await suspend(ann, { json: { reason: 'x'.repeat(501) } })).status).toBe(400)
  expect((await suspend(ann, { json: { reason: 'x'.repeat(500) } })).status).toBe(200)
  expect((await suspend()).body).toMatchObject({ statusCode: 409, error: 'ALREADY_SUSPENDED' })
  expect((await suspend(String(me))).status).toBe(400)
  expect([(await suspend(NO_ID)).status, (await unsuspend(NO_ID)).status]).toEqual([404, 404])
  const list = async (status: string) =>
    (await ask(app, 'GET', `/api/users?status=${status}`, { as: ROOT })).body['data']
  expect(await list('suspended')).toMatchObject([{ email: ANN }])
  expect(JSON.stringify(await list('active'))).not.toContain(ANN)
  expect((await ask(app, 'GET', '/api/users?status=gone', { as: ROOT })).status).toBe(400)
})

test('demotion, deletion and suspension count together for the last admin; of two at once one stays', async () => {
  const me = String(rows(`SELECT id FROM users WHERE email = '${ROOT}'`)[0]?.['id'])
  for (const email of [ROOT, ANN]) await app.cookieOf(email)
  const both = await Promise.all([
    suspend(),
    ask(app, 'POST', `/api/users/${me}/suspend`, { as: ANN, json: {} }),
  ])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
  const [left, gone] = both[0].status === 200 ? [ROOT, ann] : [ANN, me]
  const mine = left === ROOT ? me : ann
  const demoted = await ask(app, 'PATCH', `/api/users/${mine}`, { as: left, json: { role: 'user' } })
  expect([demoted.status, (await app.call('DELETE', `/api/users/${mine}`, { as: left })).status]).toEqual([
    400, 400,
  ])
  // The one who is suspended may go, and does not count.
  const other = await ask(app, 'PATCH', `/api/users/${gone}`, { as: left, json: { role: 'user' } })
  expect(other.status).toBe(200)
})

test.each([
  ['suspended, then demoted', ['suspend', 'user'], ['maker_suspended', 'maker_suspended']],
  ['demoted, then suspended', ['user', 'suspend'], ['maker_demoted', 'maker_suspended']],
  [
    'let back in as a user',
    ['suspend', 'user', 'unsuspend'],
    ['maker_suspended', 'maker_suspended', 'maker_demoted'],
  ],
  [
    'promoted while suspended',
    ['user', 'suspend', 'admin', 'unsuspend'],
    ['maker_demoted', 'maker_suspended', 'maker_suspended', null],
  ],
])('keys of somebody who is %s', async (_, steps, expected) => {
  await ask(app, 'POST', '/api/api-keys', { as: ANN, json: { name: 'ci', isGlobal: true } })
  const reasons: unknown[] = []
  for (const step of steps) {
    if (step === 'suspend') await suspend()
    else if (step === 'unsuspend') await unsuspend()
    else await ask(app, 'PATCH', `/api/users/${ann}`, { as: ROOT, json: { role: step } })
    reasons.push(rows('SELECT suspended_reason AS why FROM api_keys')[0]?.['why'])
  }
  expect(reasons).toEqual(expected)
})

test('in the middle of an upload: nothing is kept', async () => {
  const { readable, writable } = new TransformStream<Uint8Array>()
  const writer = writable.getWriter()
  const text = (part: string) => writer.write(new TextEncoder().encode(part))
  const cookie = await app.cookieOf(ANN)
  const answer = app.call('POST', '/api/deployments', {
    body: readable,
    headers: { cookie, 'content-type': 'multipart/form-data; boundary=b' },
  })
  const field = (name: string, value: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  await text(field('owner', 'acme') + field('repo', 'docs') + field('commitSha', 'b'.repeat(40)))
  await text('--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf')
  expect((await suspend()).status).toBe(200)
  await text(' whole\r\n--b--\r\n')
  await writer.close()
  expect((await answer).status).toBe(401)
  expect(rows(`SELECT 1 FROM deployments WHERE commit_sha = '${'b'.repeat(40)}'`)).toEqual([])
})

test('as owner: they stay it, and nobody can be made owner while suspended', async () => {
  const viewer = await seedMember(app, site.projectId, 'viewer')
  const id = String(rows(`SELECT id FROM users WHERE email = '${viewer}'`)[0]?.['id'])
  const transfer = () =>
    ask(app, 'POST', `/api/projects/${site.projectId}/transfer-ownership`, { as: ROOT, json: { userId: id } })
  const reach = async () =>
    (await ask(app, 'GET', `/api/users/${id}/overview`, { as: ROOT })).body['projects']
  await suspend(id)
  expect((await transfer()).body).toMatchObject({
    statusCode: 400,
    message: expect.stringContaining('suspended'),
  })
  await unsuspend(id)
  expect((await transfer()).status).toBe(200)
  await suspend(id)
  expect(await reach()).toMatchObject([
    { role: 'owner', canSeeSite: false, why: [{ kind: 'owner', name: null, role: 'owner' }] },
  ])
  const explained = await ask(
    app,
    'GET',
    `/api/projects/${site.projectId}/permissions/explain?userId=${id}`,
    { as: ROOT },
  )
  expect(explained.body).toMatchObject({
    effectiveRole: null,
    sources: [{ role: 'owner' }],
    site: { mayView: false },
  })
  await unsuspend(id)
  expect(await reach()).toMatchObject([{ role: 'owner', canSeeSite: true }])
})
