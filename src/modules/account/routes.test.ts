import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { totpCodeAt } from '../../platform/totp.ts'
import { ask, NO_ID } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { cookieHeader, PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'
import { wrongCode, wrongCodes } from '../../testing/wrong-code.ts'

let app: TestApp
let projectId: string

beforeAll(async () => {
  app = await testApp()
  for (const email of ['ann', 'bob', 'owner']) await app.addUser(`${email}@example.com`)
  await app.addUser('root@example.com', 'admin')
  const made = await ask(app, 'POST', '/api/projects', {
    as: 'owner@example.com',
    json: { owner: 'acme', name: 'docs', displayName: 'Docs' },
  })
  projectId = String(made.body['id'])
  await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'x' },
  })
})
afterAll(() => app.close())

const signIn = async (email: string, extra: Record<string, unknown> = {}) => {
  const answer = await app.call('POST', '/api/auth/signin', {
    headers: { 'user-agent': 'Test Browser' },
    json: { email, password: PASSWORD, ...extra },
  })
  return { status: answer.status, cookie: cookieHeader(answer), body: await answer.json() }
}

describe('GET /api/account', () => {
  test('shows the account and its sessions, the current one marked', async () => {
    const { cookie } = await signIn('ann@example.com')
    await signIn('ann@example.com')
    const { body } = await ask(app, 'GET', '/api/account', { headers: { cookie } })
    expect(body).toMatchObject({
      user: { email: 'ann@example.com', role: 'user' },
      mfa: { totp: false, recoveryCodesLeft: 0 },
      connections: [],
    })
    const sessions = body['sessions'] as Record<string, unknown>[]
    expect(sessions).toHaveLength(2)
    expect(sessions.filter(({ current }) => current)).toHaveLength(1)
    expect(Object.keys(sessions[0] ?? {}).sort()).toEqual([
      'current',
      'id',
      'ip',
      'kind',
      'lastSeenAt',
      'name',
      'userAgent',
    ])
    expect(sessions[0]).toMatchObject({
      ip: '127.0.0.1',
      userAgent: 'Test Browser',
      lastSeenAt: '2026-11-20T12:00:00.000Z',
    })
  })

  test('a session records when and from where it was last used', async () => {
    const { cookie } = await signIn('bob@example.com')
    app.advance(10 * 60 * 1000)
    await app.call('GET', '/api/auth/session', { headers: { cookie }, from: '203.0.113.5' })
    const { body } = await ask(app, 'GET', '/api/account', { headers: { cookie } })
    expect(body['sessions']).toMatchObject([{ ip: '203.0.113.5', lastSeenAt: '2026-11-20T12:10:00.000Z' }])
  })

  test('is for people: 401 without a session, 403 with a key', async () => {
    expect((await ask(app, 'GET', '/api/account')).status).toBe(401)
    const key = await ask(app, 'POST', '/api/api-keys', {
      as: 'root@example.com',
      json: { name: 'ci', isGlobal: true },
    })
    const { status } = await ask(app, 'GET', '/api/account', { key: String(key.body['key']) })
    expect(status).toBe(403)
  })
})

describe('sessions', () => {
  test('people can end their own sessions, and no others', async () => {
    const mine = await signIn('ann@example.com')
    const other = await signIn('bob@example.com')
    const list = await ask(app, 'GET', '/api/account', { headers: { cookie: other.cookie } })
    const [{ id } = { id: '' }] = (list.body['sessions'] as { id: string; current: boolean }[]).filter(
      ({ current }) => current,
    )
    const end = (cookie: string) => app.call('DELETE', `/api/account/sessions/${id}`, { headers: { cookie } })
    expect((await end(mine.cookie)).status).toBe(404)
    expect((await ask(app, 'GET', '/api/account', { headers: { cookie: other.cookie } })).status).toBe(200)
    const ended = await end(other.cookie)
    expect([ended.status, ended.headers.getSetCookie().length > 0]).toEqual([204, true])
    expect((await ask(app, 'GET', '/api/account', { headers: { cookie: other.cookie } })).status).toBe(401)
  })
})

describe('password', () => {
  test('a wrong current password is 400 and changes nothing; so is a short new one', async () => {
    const { cookie } = await signIn('ann@example.com')
    const change = (json: unknown) => ask(app, 'POST', '/api/account/password', { headers: { cookie }, json })
    const wrong = await change({ currentPassword: 'not the password', newPassword: 'a better password' })
    expect([wrong.status, wrong.body['error']]).toEqual([400, 'WRONG_CREDENTIALS_ERROR'])
    const short = await change({ currentPassword: PASSWORD, newPassword: 'short' })
    expect([short.status, short.body['details']]).toMatchObject([400, [{ path: 'newPassword' }]])
    expect((await signIn('ann@example.com')).status).toBe(200)
  })

  test('a change ends the other sessions and keeps this one', async () => {
    await app.addUser('carl@example.com')
    const here = await signIn('carl@example.com')
    const there = await signIn('carl@example.com')
    const { status } = await ask(app, 'POST', '/api/account/password', {
      headers: { cookie: here.cookie },
      json: { currentPassword: PASSWORD, newPassword: 'a better password' },
    })
    expect(status).toBe(200)
    expect((await ask(app, 'GET', '/api/account', { headers: { cookie: here.cookie } })).status).toBe(200)
    expect((await ask(app, 'GET', '/api/account', { headers: { cookie: there.cookie } })).status).toBe(401)
    expect((await signIn('carl@example.com')).status).toBe(401)
    expect((await signIn('carl@example.com', { password: 'a better password' })).status).toBe(200)
  })

  test('a stolen session cannot be used to guess the password', async () => {
    await app.addUser('dora@example.com')
    const { cookie } = await signIn('dora@example.com')
    const guess = (currentPassword: string) =>
      ask(app, 'POST', '/api/account/password', {
        headers: { cookie },
        json: { currentPassword, newPassword: 'a better password' },
      })
    for (let i = 0; i < 10; i++) expect((await guess(`guess ${i}`)).status).toBe(400)
    expect((await guess(PASSWORD)).status).toBe(429)
  })
})

describe('two-step sign-in', () => {
  let cookie: string
  let secret: string
  let codes: string[]
  const code = () => totpCodeAt(secret, app.ctx.now())
  const confirm = (value: string) =>
    ask(app, 'POST', '/api/account/mfa/totp/confirm', { headers: { cookie }, json: { code: value } })

  beforeAll(async () => {
    await app.addUser('mia@example.com')
    cookie = (await signIn('mia@example.com')).cookie
  })

  test('enrolling returns the secret, the address and a QR code, and changes nothing yet', async () => {
    const { status, body } = await ask(app, 'POST', '/api/account/mfa/totp', { headers: { cookie } })
    expect(status).toBe(200)
    secret = String(body['secret'])
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(new URL(String(body['otpauthUrl'])).searchParams.get('secret')).toBe(secret)
    expect(String(body['qrSvg'])).toStartWith('<svg')
    expect((await signIn('mia@example.com')).status).toBe(200)
    const stored = JSON.stringify(app.ctx.db.sqlite.query('SELECT * FROM totp_enrollments').all())
    expect(stored).not.toContain(secret)
  })

  test('a wrong code does not turn it on', async () => {
    const { status, body } = await confirm(await wrongCode(secret, app.ctx.now()))
    expect([status, body['error']]).toEqual([400, 'MFA_CODE_INVALID'])
  })

  test('a right code does, and shows ten recovery codes once', async () => {
    const { status, body } = await confirm(await code())
    expect(status).toBe(200)
    codes = body['recoveryCodes'] as string[]
    expect(new Set(codes).size).toBe(10)
    const account = await ask(app, 'GET', '/api/account', { headers: { cookie } })
    expect(account.body['mfa']).toEqual({ totp: true, recoveryCodesLeft: 10 })
    const stored = JSON.stringify([
      app.ctx.db.sqlite.query('SELECT * FROM recovery_codes').all(),
      app.ctx.db.sqlite.query('SELECT totp_secret FROM users').all(),
      app.ctx.db.sqlite.query('SELECT * FROM audit_log').all(),
    ])
    for (const hidden of [secret, ...codes, ...codes.map((one) => one.replaceAll('-', ''))])
      expect(stored).not.toContain(hidden)
  })

  test('TOTP replay: the code that turned it on cannot sign in, nor can one that was used before', async () => {
    const sign = async (value: string) => (await signIn('mia@example.com', { code: value })).body
    expect(await sign(await code())).toMatchObject({ error: 'MFA_CODE_INVALID' })
    app.advance(30_000)
    const used = await code()
    expect(await sign(used)).toMatchObject({ user: { email: 'mia@example.com' } })
    expect(await sign(used)).toMatchObject({ error: 'MFA_CODE_INVALID' })
    app.advance(60_000)
    const parallel = await code()
    const both = await Promise.all([sign(parallel), sign(parallel)])
    expect(both.filter((body) => 'user' in (body as object))).toHaveLength(1)
  })

  test('without a code: MFA_REQUIRED; with a wrong password: no hint of the second step', async () => {
    const missing = await signIn('mia@example.com')
    expect([missing.status, missing.body]).toMatchObject([401, { error: 'MFA_REQUIRED' }])
    expect(missing.cookie).toBe('')
    const wrong = await signIn('mia@example.com', { password: 'not the password' })
    expect(wrong.body).toMatchObject({ error: 'WRONG_CREDENTIALS_ERROR' })
  })

  test('a recovery code signs in once', async () => {
    const first = codes[0] ?? ''
    expect((await signIn('mia@example.com', { code: first.toUpperCase() })).status).toBe(200)
    expect((await signIn('mia@example.com', { code: first })).body).toMatchObject({
      error: 'MFA_CODE_INVALID',
    })
    const account = await ask(app, 'GET', '/api/account', { headers: { cookie } })
    expect(account.body['mfa']).toEqual({ totp: true, recoveryCodesLeft: 9 })
  })

  test('it cannot be set up again without turning it off', async () => {
    expect((await ask(app, 'POST', '/api/account/mfa/totp', { headers: { cookie } })).status).toBe(409)
  })

  test('wrong codes count for the lockout', async () => {
    app.advance(15 * 60 * 1000)
    for (const wrong of await wrongCodes(secret, app.ctx.now(), 10))
      expect((await signIn('mia@example.com', { code: wrong })).body).toMatchObject({
        error: 'MFA_CODE_INVALID',
      })
    expect((await signIn('mia@example.com', { code: await code() })).status).toBe(429)
    app.advance(15 * 60 * 1000)
    expect((await signIn('mia@example.com', { code: await code() })).status).toBe(200)
  })

  test('new recovery codes require the password, and void the old ones; a code that is sent must be right', async () => {
    const renew = (json: object) =>
      ask(app, 'POST', '/api/account/mfa/recovery-codes', { headers: { cookie }, json })
    const refused = async (json: object) => {
      const { status, body } = await renew(json)
      return [status, body['error']]
    }
    const was = codes
    expect(await refused({ password: 'wrong' })).toEqual([400, 'WRONG_CREDENTIALS_ERROR'])
    expect(await refused({ password: PASSWORD, code: 'no' })).toEqual([400, 'MFA_CODE_INVALID'])
    const { status, body } = await renew({ password: PASSWORD })
    codes = body['recoveryCodes'] as string[]
    expect([status, new Set([...codes, ...was]).size]).toEqual([200, codes.length + was.length])
    expect(codes).toHaveLength(10)
    const enter = async (one = '') => (await signIn('mia@example.com', { code: one })).status
    expect([await enter(was.at(-1)), await enter(codes[0])]).toEqual([401, 200])
    expect((await renew({ password: PASSWORD, code: codes[1] })).status).toBe(200)
    expect(await enter(codes[2])).toBe(401)
    expect(await refused({})).toEqual([400, 'Bad Request'])
    const noted = "SELECT actor_name AS by FROM audit_log WHERE action = 'user.recovery-codes'"
    const by = { by: 'mia@example.com' }
    expect(app.ctx.db.sqlite.query(noted).all()).toEqual([by, by])
  })

  test('turning it off requires the password', async () => {
    const turnOff = (password: string) =>
      ask(app, 'DELETE', '/api/account/mfa/totp', { headers: { cookie }, json: { password } })
    const wrong = await turnOff('not the password')
    expect([wrong.status, wrong.body['error']]).toEqual([400, 'WRONG_CREDENTIALS_ERROR'])
    expect((await turnOff(PASSWORD)).status).toBe(204)
    expect((await signIn('mia@example.com')).status).toBe(200)
    const account = await ask(app, 'GET', '/api/account', { headers: { cookie } })
    expect(account.body['mfa']).toEqual({ totp: false, recoveryCodesLeft: 0 })
    const json = { password: PASSWORD }
    const codesNow = await ask(app, 'POST', '/api/account/mfa/recovery-codes', { headers: { cookie }, json })
    expect([codesNow.status, codesNow.body['error']]).toEqual([409, 'MFA_NOT_ON'])
  })
})

describe('My Sites', () => {
  const sitesOf = async (email: string) =>
    (await ask(app, 'GET', '/api/account/sites', { as: email })).body['sites'] as Record<string, unknown>[]
  const leave = (email: string, id = projectId) =>
    ask(app, 'DELETE', `/api/account/sites/${id}`, { as: email })
  const grant = (email: string, role: string) =>
    ask(app, 'POST', `/api/projects/${projectId}/permissions/users`, {
      as: 'owner@example.com',
      json: { email, role },
    })

  test('lists each site with the role held there', async () => {
    expect(await sitesOf('owner@example.com')).toEqual([
      {
        projectId,
        owner: 'acme',
        name: 'docs',
        displayName: 'Docs',
        url: 'http://production--docs--acme.localhost:3000',
        role: 'owner',
        isOwner: true,
        joinedAt: expect.stringMatching(/^2026-.*Z$/),
      },
    ])
    await grant('ann@example.com', 'viewer')
    expect(await sitesOf('ann@example.com')).toMatchObject([{ role: 'viewer', isOwner: false }])
  })

  test('the owner cannot leave: 400', async () => {
    expect((await leave('owner@example.com')).status).toBe(400)
    expect(await sitesOf('owner@example.com')).toHaveLength(1)
  })

  test('leaving ends the membership and the direct role; a role by a group stays', async () => {
    await grant('bob@example.com', 'contributor')
    const group = await ask(app, 'POST', '/api/groups', { as: 'root@example.com', json: { name: 'readers' } })
    const users = app.ctx.db.sqlite.query<{ id: string }, [string]>('SELECT id FROM users WHERE email = ?')
    await ask(app, 'POST', `/api/groups/${group.body['id']}/members`, {
      as: 'root@example.com',
      json: { userId: users.get('bob@example.com')?.id },
    })
    await ask(app, 'POST', `/api/projects/${projectId}/permissions/groups`, {
      as: 'owner@example.com',
      json: { groupId: group.body['id'], role: 'viewer' },
    })
    expect((await leave('bob@example.com')).status).toBe(204)
    expect(await sitesOf('bob@example.com')).toEqual([])
    const me = await ask(app, 'GET', `/api/projects/${projectId}/permissions`, { as: 'bob@example.com' })
    expect(me.body['me']).toEqual({ role: 'viewer' })
  })

  test('non-members get 404, as for a project that does not exist', async () => {
    await app.addUser('eve@example.com')
    expect((await leave('eve@example.com')).status).toBe(404)
    expect((await leave('eve@example.com', NO_ID)).status).toBe(404)
    expect((await leave('eve@example.com', 'nonsense')).status).toBe(404)
  })
})

describe('connections', () => {
  const connect = (email: string, provider: string) => {
    app.ctx.db.sqlite.run('INSERT INTO user_connections SELECT ?, ?, id, ?, ? FROM users WHERE email = ?', [
      provider,
      `${provider}:${email}`,
      email,
      app.ctx.now(),
      email,
    ])
  }
  const remove = (email: string, provider: string) =>
    ask(app, 'DELETE', `/api/account/connections/${provider}`, { as: email })

  test('are listed and can be removed', async () => {
    await app.addUser('fred@example.com')
    connect('fred@example.com', 'one')
    const { body } = await ask(app, 'GET', '/api/account', { as: 'fred@example.com' })
    expect(body['connections']).toEqual([
      { provider: 'one', email: 'fred@example.com', connectedAt: expect.any(String) },
    ])
    expect((await remove('fred@example.com', 'two')).status).toBe(404)
    expect((await remove('fred@example.com', 'one')).status).toBe(204)
  })

  test('the last way to sign in stays: 400', async () => {
    await app.addUser('gina@example.com')
    connect('gina@example.com', 'one')
    connect('gina@example.com', 'two')
    const cookie = await app.cookieOf('gina@example.com')
    app.ctx.db.sqlite.run("UPDATE users SET password_hash = NULL WHERE email = 'gina@example.com'")
    app.ctx.db.writes += 1
    expect(cookie).not.toBe('')
    expect((await remove('gina@example.com', 'one')).status).toBe(204)
    expect((await remove('gina@example.com', 'two')).status).toBe(400)
  })
})
