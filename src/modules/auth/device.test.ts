import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { MINUTE_MS } from '../../domain/durations.ts'
import { ask } from '../../testing/ask.ts'
import { type Seeded, seedDeployment } from '../../testing/seed.ts'
import { seedMember } from '../../testing/seed-people.ts'
import { type CallOptions, PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'
import { newUserCode } from './device/user-code.ts'
import { removeExpiredDevices } from './device.ts'

/** Device login, RFC 8628. contract 16 §7. */
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code'
const ANN = 'ann@example.com'
const ROOT = 'root@example.com'
const DAY_MS = 24 * 60 * MINUTE_MS

let app: TestApp
let site: Seeded
beforeEach(async () => {
  app = await testApp()
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    isPublic: false,
    files: { 'index.html': 'home' },
  })
  await app.addUser(ANN)
  await app.addUser(ROOT, 'admin')
})
afterEach(() => app.close())

type Codes = { device_code: string; user_code: string; verification_uri: string; [more: string]: unknown }

type Answer = { status: number; headers: Headers; body: Record<string, unknown> }

async function answerOf(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const answer = await app.call(method, path, options)
  return {
    status: answer.status,
    headers: answer.headers,
    body: (await answer.json()) as Record<string, unknown>,
  }
}
const post = (path: string, json: unknown, options: CallOptions = {}): Promise<Answer> =>
  answerOf('POST', `/api/auth/device/${path}`, { json, ...options })
const codes = async (json: unknown = { clientName: 'Ann’s laptop' }): Promise<Codes> =>
  (await post('code', json, { from: '192.0.2.9' })).body as Codes
const token = (device_code: string) => post('token', { grant_type: GRANT_TYPE, device_code })
const approve = (userCode: string, as = ANN, isApproved = true) =>
  post('approve', { userCode, approve: isApproved }, { as })
const errorOf = async (device_code: string) => (await token(device_code)).body['error']

async function logIn(as = ANN): Promise<string> {
  const { device_code, user_code } = await codes()
  expect((await approve(user_code, as)).status).toBe(200)
  return String((await token(device_code)).body['access_token'])
}
const by = (bearer: string) => ({ headers: { authorization: `Bearer ${bearer}` } })
const count = (table: string) =>
  app.ctx.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n

describe('codes', () => {
  test('are given to anybody, for ten minutes', async () => {
    const answer = await post('code', { clientName: 'x' })
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const code = String(answer.body['user_code'])
    expect(answer.body).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${app.ctx.adminUrl()}/device`,
      verification_uri_complete: `${app.ctx.adminUrl()}/device?code=${code}`,
      expires_in: 600,
      interval: 5,
    })
    expect((await ask(app, 'POST', '/api/auth/device/code')).status).toBe(200)
    expect((await post('code', { clientName: 'x'.repeat(101) })).status).toBe(400)
    expect((await post('code', { clientName: 7 })).status).toBe(400)
  })

  test('use every letter', () => {
    const letters = new Set(Array.from({ length: 300 }, newUserCode).join(''))
    expect([...letters].sort().join('')).toBe('BCDFGHJKLMNPQRSTVWXZ')
  })

  test('no network can have more than a hundred that wait, and others are not kept out', async () => {
    for (let at = 0; at < 100; at++) await codes()
    const full = await post('code', {}, { from: '192.0.2.9' })
    expect([full.status, full.headers.get('retry-after')]).toEqual([429, '600'])
    expect((await post('code', {}, { from: '192.0.2.10' })).status).toBe(200)
    app.advance(10 * MINUTE_MS)
    expect((await post('code', {}, { from: '192.0.2.9' })).status).toBe(200)
  })

  test('are stored as hashes only, and removed once they are long expired', async () => {
    const { device_code, user_code } = await codes()
    const rows = JSON.stringify(app.ctx.db.sqlite.query('SELECT * FROM device_logins').all())
    for (const secret of [device_code, user_code, user_code.replace('-', '')])
      expect(rows).not.toContain(secret)
    app.advance(71 * MINUTE_MS)
    await removeExpiredDevices(app.ctx)
    expect(count('device_logins')).toBe(0)
  })
})

describe('a person decides', () => {
  test('sees who asks, in any spelling of the code', async () => {
    const { user_code } = await codes({ clientName: ' Ann’s\n\u202elaptop ' })
    const shown = user_code.toLowerCase().replace('-', '%20')
    const answer = await ask(app, 'GET', `/api/auth/device/${shown}`, { as: ANN })
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        clientName: 'Ann’s laptop',
        ip: '192.0.2.9',
        createdAt: '2026-11-20T12:00:00.000Z',
        expiresAt: '2026-11-20T12:10:00.000Z',
      },
    ])
  })

  test('the token comes once, is the person, and is a session with a name', async () => {
    const { device_code, user_code } = await codes()
    expect(await errorOf(device_code)).toBe('authorization_pending')
    await approve(user_code.replace('-', '').toLowerCase())
    const answer = await token(device_code)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^svcp_[\w-]{43}$/),
      token_type: 'Bearer',
      user: expect.objectContaining({ email: ANN }),
    })
    expect(await errorOf(device_code)).toBe('invalid_grant')
    const bearer = String(answer.body['access_token'])
    expect(JSON.stringify(app.ctx.db.sqlite.query('SELECT * FROM cli_sessions').all())).not.toContain(bearer)
    const hub = await ask(app, 'GET', '/api/account', { as: ANN })
    expect(hub.body['sessions']).toContainEqual(
      expect.objectContaining({ kind: 'cli', name: 'Ann’s laptop', current: false }),
    )
    const actions = app.ctx.db.sqlite
      .query<{ action: string; target_name: string }, []>(
        "SELECT action, target_name FROM audit_log WHERE target_kind IN ('device', 'session') ORDER BY rowid DESC LIMIT 2",
      )
      .all()
    expect(actions).toEqual([
      { action: 'session.open', target_name: 'Ann’s laptop' },
      { action: 'device.approve', target_name: 'Ann’s laptop' },
    ])
  })

  test('a refusal is final', async () => {
    const { device_code, user_code } = await codes()
    expect((await approve(user_code, ANN, false)).body).toEqual({ success: true, approved: false })
    expect(await errorOf(device_code)).toBe('access_denied')
    expect((await approve(user_code)).status).toBe(404)
    expect(await errorOf(device_code)).toBe('access_denied')
  })

  test('attack: a code is approved twice, by somebody else, or after its time', async () => {
    await app.addUser('eve@example.com')
    const first = await codes()
    await approve(first.user_code)
    expect((await approve(first.user_code, 'eve@example.com')).status).toBe(404)
    expect((await token(first.device_code)).body['user']).toMatchObject({ email: ANN })
    expect((await approve(first.user_code)).status).toBe(404)
    const late = await codes()
    app.advance(10 * MINUTE_MS)
    expect((await approve(late.user_code)).status).toBe(404)
    expect(await errorOf(late.device_code)).toBe('expired_token')
  })

  test('attack: codes are guessed', async () => {
    const { user_code, device_code } = await codes()
    const guess = () => answerOf('GET', '/api/auth/device/BBBB-BBBB', { as: ANN, from: randomAddress() })
    for (let at = 0; at < 10; at++) expect((await guess()).status).toBe(404)
    const locked = await guess()
    expect([locked.status, Number(locked.headers.get('retry-after'))]).toEqual([429, 900])
    expect((await approve(user_code)).status).toBe(429)
    expect(await errorOf(device_code)).toBe('authorization_pending')
    app.advance(15 * MINUTE_MS)
    expect((await approve((await codes()).user_code)).status).toBe(200)
  })

  test('attack: the approval comes from a site host, another site, a key, a token or nobody', async () => {
    const { user_code, device_code } = await codes()
    const json = { userCode: user_code, approve: true }
    const onSite = { host: site.aliasHost ?? '' }
    const cookie = await app.cookieOf(ANN)
    const bearer = await logIn()
    const refused: [CallOptions, number, string][] = [
      [{ ...onSite, headers: { cookie } }, 403, 'ADMIN_HOST_ONLY'],
      [{ as: ANN, headers: { origin: 'https://evil.example' } }, 403, 'CROSS_ORIGIN_REQUEST'],
      [{ as: ANN, headers: { 'sec-fetch-site': 'same-site' } }, 403, 'CROSS_ORIGIN_REQUEST'],
      [by(bearer), 403, 'Forbidden'],
      [{ headers: { 'x-api-key': 'svcp_unknown' } }, 401, 'Unauthorized'],
      [{}, 401, 'Unauthorized'],
    ]
    for (const [options, status, error] of refused)
      expect((await post('approve', json, options)).body).toMatchObject({ statusCode: status, error })
    expect(await errorOf(device_code)).toBe('authorization_pending')
    const read = await ask(app, 'GET', `/api/auth/device/${user_code}`, { ...onSite, headers: { cookie } })
    expect(read.body['error']).toBe('ADMIN_HOST_ONLY')
  })

  test('attack: the device code is stolen after the approval', async () => {
    const { device_code, user_code } = await codes()
    await approve(user_code)
    const stolen = String((await token(device_code)).body['access_token'])
    expect(await errorOf(device_code)).toBe('invalid_grant')
    const hub = await ask(app, 'GET', '/api/account', { as: ANN })
    const session = (hub.body['sessions'] as { id: string; kind: string }[]).find(
      ({ kind }) => kind === 'cli',
    )
    await ask(app, 'DELETE', `/api/account/sessions/${session?.id}`, { as: ANN })
    expect((await ask(app, 'GET', '/api/projects', by(stolen))).status).toBe(401)
  })

  test('attack: the device code is stolen, and the password changed before it is used', async () => {
    const { device_code, user_code } = await codes()
    await approve(user_code)
    await ask(app, 'POST', '/api/account/password', {
      as: ANN,
      json: { currentPassword: PASSWORD, newPassword: `${PASSWORD} two` },
    })
    expect(await errorOf(device_code)).toBe('invalid_grant')
  })
})

describe('a device asks', () => {
  test('too often: it is slowed down, five seconds more each time', async () => {
    const { device_code } = await codes()
    const asked: [afterSeconds: number, error: string][] = [
      [0, 'authorization_pending'],
      [4, 'slow_down'],
      [9, 'slow_down'],
      [14, 'slow_down'],
      [20, 'authorization_pending'],
      [19, 'slow_down'],
      [25, 'authorization_pending'],
    ]
    for (const [afterSeconds, error] of asked) {
      app.advance(afterSeconds * 1000)
      expect(await errorOf(device_code)).toBe(error)
    }
  })

  test('with a form, as RFC 8628 has it', async () => {
    const { device_code, user_code } = await codes()
    await approve(user_code)
    const body = new URLSearchParams({ grant_type: GRANT_TYPE, device_code }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await ask(app, 'POST', '/api/auth/device/token', { body, headers })).status).toBe(200)
  })

  const wrong: [fields: unknown, error: string][] = [
    [{}, 'unsupported_grant_type'],
    [{ grant_type: 'password', device_code: 'x' }, 'unsupported_grant_type'],
    [{ grant_type: GRANT_TYPE }, 'invalid_grant'],
    [{ grant_type: GRANT_TYPE, device_code: 'x' }, 'invalid_grant'],
    [{ grant_type: GRANT_TYPE, device_code: { a: 1 } }, 'invalid_grant'],
    [[], 'Bad Request'],
  ]
  test.each(wrong)('%j is %s', async (fields, error) => {
    const answer = await post('token', fields)
    expect([answer.status, answer.body['error'], answer.headers.get('cache-control')]).toEqual([
      400,
      error,
      'no-store',
    ])
  })
})

describe('the token', () => {
  test('works in both headers, with the role on each project, at most contributor, on site hosts too', async () => {
    const admin = await seedMember(app, site.projectId, 'admin')
    const bearer = await logIn(admin)
    const path = `/api/aliases/${site.aliasId}`
    const patch = (json: unknown, options: CallOptions) => ask(app, 'PATCH', path, { json, ...options })
    const move = { deploymentId: site.deploymentId }
    for (const options of [by(bearer), { headers: { 'x-api-key': bearer } }]) {
      expect((await patch(move, options)).status).toBe(200)
      expect((await patch(move, { ...options, host: site.aliasHost ?? '' })).status).toBe(200)
      expect((await patch({ isLocked: true }, options)).status).toBe(403)
      expect((await app.call('GET', '/', { ...options, host: site.aliasHost ?? '' })).status).toBe(200)
    }
    const stranger = await logIn(ANN)
    expect((await patch(move, by(stranger))).status).toBe(404)
  })

  test('lists what the person sees: an admin of the workspace all projects, on every host', async () => {
    const bearer = await logIn(ROOT)
    for (const host of ['localhost', site.aliasHost ?? '']) {
      const { body } = await ask(app, 'GET', '/api/projects', { ...by(bearer), host })
      expect(body['projects']).toHaveLength(1)
    }
    expect((await ask(app, 'GET', '/api/users', by(bearer))).status).toBe(403)
    expect((await ask(app, 'GET', '/api/account', by(bearer))).status).toBe(403)
    expect((await ask(app, 'GET', '/api/projects', by(await logIn()))).body['projects']).toEqual([])
  })

  test('opens no page of the admin, and signs nobody in', async () => {
    const bearer = await logIn()
    const opened = await app.call('GET', '/account', {
      headers: { ...by(bearer).headers, accept: 'text/html' },
    })
    expect([opened.status, opened.headers.getSetCookie()]).toEqual([303, []])
    expect((await ask(app, 'GET', '/api/auth/session', by(bearer))).body).toEqual({ user: null })
    expect((await ask(app, 'POST', '/api/auth/refresh', by(bearer))).status).toBe(401)
  })

  const ends: [how: string, end: (bearer: string) => Promise<unknown>][] = [
    ['its own sign-out', (bearer) => ask(app, 'POST', '/api/auth/signout', by(bearer))],
    [
      'a change of the password',
      () =>
        ask(app, 'POST', '/api/account/password', {
          as: ANN,
          json: { currentPassword: PASSWORD, newPassword: `${PASSWORD} two` },
        }),
    ],
    [
      'the end of the account',
      async () => {
        const { body } = await ask(app, 'GET', '/api/users?search=ann', { as: ROOT })
        const ann = (body['data'] as { id: string; email: string }[]).find(({ email }) => email === ANN)
        return ask(app, 'DELETE', `/api/users/${ann?.id}`, { as: ROOT })
      },
    ],
    ['90 days without use', async () => app.advance(90 * DAY_MS)],
  ]
  test.each(ends)('ends with %s', async (_how, end) => {
    const bearer = await logIn()
    expect((await ask(app, 'GET', '/api/projects', by(bearer))).status).toBe(200)
    await end(bearer)
    expect((await ask(app, 'GET', '/api/projects', by(bearer))).status).toBe(401)
    expect((await ask(app, 'POST', '/api/auth/signout', by(bearer))).status).toBe(401)
  })

  test('use keeps it alive, and what nobody used is removed', async () => {
    const bearer = await logIn()
    for (let at = 0; at < 3; at++) {
      app.advance(89 * DAY_MS)
      expect((await ask(app, 'GET', '/api/projects', by(bearer))).status).toBe(200)
    }
    await removeExpiredDevices(app.ctx)
    expect(count('cli_sessions')).toBe(1)
    app.advance(91 * DAY_MS)
    await removeExpiredDevices(app.ctx)
    expect(count('cli_sessions')).toBe(0)
  })

  test('sign-out with it leaves the sessions of browsers alone', async () => {
    const bearer = await logIn()
    const answer = await answerOf('POST', '/api/auth/signout', by(bearer))
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []])
    expect((await ask(app, 'GET', '/api/account', { as: ANN })).status).toBe(200)
    const ended = app.ctx.db.sqlite
      .query<{ actor_name: string }, []>("SELECT actor_name FROM audit_log WHERE action = 'session.end'")
      .all()
    expect(ended).toEqual([{ actor_name: ANN }])
  })
})

let last = 0
const randomAddress = (): string => `198.51.100.${(last++ % 250) + 1}`
