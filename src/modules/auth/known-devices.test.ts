import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY_MS } from '../../domain/durations.ts'
import { totpCodeAt } from '../../platform/totp.ts'
import { type MailApp, mailApp } from '../../testing/mail-app.ts'
import { oidcServer } from '../../testing/oidc-server.ts'
import { cookieHeader, PASSWORD, testApp } from '../../testing/test-app.ts'
import { removeOldDevices } from './known-devices.ts'

/** contract 16 §5: the notice `newDevice` and its cookie. */
const ANN = 'ann@example.com'
const BOB = 'bob@example.com'

let mails: MailApp
beforeEach(async () => {
  mails = await mailApp()
  await mails.app.addUser(ANN)
  await mails.app.addUser(BOB)
})
afterEach(() => mails.close())

const deviceOf = (setCookies: readonly string[]): string =>
  setCookies.find((cookie) => cookie.startsWith('svc_device='))?.split(';')[0] ?? ''
const signIn = async (email: string, cookie = '', headers: Record<string, string> = {}): Promise<string> =>
  deviceOf((await mails.signIn(email, { headers: { ...headers, ...(cookie && { cookie }) } })).setCookies)
const told = async () => (await mails.arrived()).map(({ to }) => to[0])

test('the cookie is opaque, for 400 days, HttpOnly, Lax, and hashed at rest', async () => {
  const { setCookies } = await mails.signIn(ANN)
  const cookie = setCookies.find((one) => one.startsWith('svc_device=')) ?? ''
  expect(cookie).toMatch(/^svc_device=[\w-]{43}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/)
  const token = deviceOf(setCookies).split('=')[1]
  expect(JSON.stringify(mails.app.ctx.db.sqlite.query('SELECT * FROM known_devices').all())).not.toContain(
    token,
  )
})

test('it is set for the host as the session’s are, and stays at sign-out', async () => {
  const app = await mailApp({ BASE_DOMAIN: 'sites.example.com', TRUST_PROXY: '10.0.0.0/8' })
  await app.app.addUser(ANN)
  const host = 'admin.sites.example.com'
  const headers = { 'x-forwarded-proto': 'https' }
  const { setCookies, cookie } = await app.signIn(ANN, { host, headers, from: '10.0.0.1' })
  expect(setCookies.find((one) => one.startsWith('svc_device='))).toMatch(
    /; Domain=\.sites\.example\.com; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax; Secure$/,
  )
  const out = await app.app.call('POST', '/api/auth/signout', { host, headers: { cookie } })
  expect(out.headers.getSetCookie().join()).not.toContain('svc_device')
  await app.close()
})

test('none for the first sign-in; one for a sign-in without the cookie of an earlier one', async () => {
  const first = await signIn(ANN)
  expect(await told()).toEqual([])
  const second = await signIn(ANN, '', { 'user-agent': 'Browser\tof somebody' })
  const [mail] = await mails.arrived()
  expect(mail?.to).toEqual([ANN])
  expect(mail?.text).toContain('Time: 2026-11-20T12:00:00.000Z')
  expect(mail?.text).toContain('Address: 127.0.0.1')
  expect(mail?.text).toContain('Browser of somebody')
  expect(mail?.text).toContain(`${mails.app.ctx.adminUrl()}/account#sessions`)
  expect(await signIn(ANN, first)).toBe(first)
  expect(await signIn(ANN, second)).toBe(second)
  await signIn(ANN, `${first}; ${second}`)
  expect(await told()).toEqual([])
  await signIn(ANN, 'svc_device=made-up')
  expect(await told()).toEqual([ANN])
})

test('two people with one browser: each is told once, and the browser stays known to both', async () => {
  await signIn(BOB)
  const ofAnn = await signIn(ANN)
  const both = await signIn(BOB, ofAnn)
  expect(await told()).toEqual([BOB])
  expect(both).not.toBe(ofAnn)
  await signIn(ANN, both)
  await signIn(BOB, both)
  expect(await told()).toEqual([])
})

test('attack: a cookie that somebody else put into the browser does not let them in unseen', async () => {
  const ofAttacker = await signIn(BOB)
  await signIn(ANN)
  const given = await signIn(ANN, ofAttacker)
  expect(given).not.toBe(ofAttacker)
  expect(await told()).toEqual([ANN])
  await signIn(ANN, ofAttacker)
  expect(await told()).toEqual([ANN])
})

test('after 400 days without a sign-in a browser is unknown, and the account still has had its first', async () => {
  const cookie = await signIn(ANN)
  mails.app.advance(399 * DAY_MS)
  await signIn(ANN, cookie)
  expect(await told()).toEqual([])
  mails.app.advance(401 * DAY_MS)
  mails.app.ctx.db.sqlite.run('DELETE FROM sessions')
  await removeOldDevices(mails.app.ctx)
  await signIn(ANN, cookie)
  expect(await told()).toEqual([ANN])
})

test('svc login is told of too, with its name', async () => {
  const { cookie } = await mails.signIn(ANN)
  const call = async (path: string, json: unknown, headers = {}) =>
    (await mails.app.call('POST', `/api/auth/device/${path}`, { json, headers })).json() as Promise<
      Record<string, string>
    >
  const { device_code, user_code } = await call('code', { clientName: 'Ann’s laptop' })
  await call('approve', { userCode: user_code, approve: true }, { cookie })
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
  expect((await call('token', { grant_type, device_code }))['token_type']).toBe('Bearer')
  const [mail, ...others] = await mails.arrived()
  expect(others).toEqual([])
  expect(mail?.text).toContain('Name: Ann’s laptop')
})

test('who signs up or sets the server up is not told of it, and gets the cookie', async () => {
  await mails.call('PATCH', '/api/settings', { allowPublicSignups: true })
  await mails.arrived()
  const json = { email: 'new@example.com', password: PASSWORD }
  const answer = await mails.app.call('POST', '/api/auth/signup', { json })
  const device = deviceOf(answer.headers.getSetCookie())
  expect(device).not.toBe('')
  await signIn('new@example.com', device)
  expect(await told()).toEqual([])
})

test('a provider, and the second step, are ways to sign in like any other', async () => {
  const provider = await oidcServer({
    redirectUris: ['http://localhost:3000/api/auth/oidc/one/callback'],
  })
  const here = await mailApp(provider.env)
  const id = await here.app.addUser(ANN)
  provider.person = { sub: 'ann-1', email: ANN, email_verified: true }
  here.app.ctx.db.sqlite.run("INSERT INTO user_connections VALUES ('one', 'ann-1', ?, ?, 0)", [id, ANN])
  const byProvider = async (cookie = '') => {
    const started = await here.app.call('GET', '/api/auth/oidc/one/start', { headers: { cookie } })
    const back = new URL(await provider.visit(started.headers.get('location') ?? ''))
    const headers = { cookie: `${cookie}; ${cookieHeader(started)}`, 'sec-fetch-site': 'cross-site' }
    const answer = await here.app.call('GET', `${back.pathname}${back.search}`, { headers })
    return deviceOf(answer.headers.getSetCookie())
  }
  const first = await byProvider()
  expect(first).not.toBe('')
  expect(await byProvider(first)).toBe(first)
  expect(await here.arrived()).toEqual([])
  await byProvider()
  expect((await here.arrived()).map(({ to }) => to)).toEqual([[ANN]])

  const { cookie } = await here.signIn(ANN, { headers: { cookie: first } })
  const totp = async (path: string, json: unknown) =>
    (await here.app.call('POST', `/api/account/mfa/totp${path}`, { headers: { cookie }, json })).json()
  const { secret } = (await totp('', {})) as { secret: string }
  await totp('/confirm', { code: await totpCodeAt(secret, here.app.ctx.now()) })
  here.app.advance(60_000)
  const code = await totpCodeAt(secret, here.app.ctx.now())
  const json = { email: ANN, password: PASSWORD }
  expect((await here.app.call('POST', '/api/auth/signin', { json })).status).toBe(401)
  expect(await here.arrived()).toEqual([])
  await here.signIn(ANN, { json: { ...json, code } })
  expect((await here.arrived()).map(({ to }) => to)).toEqual([[ANN]])
  await here.close()
  await provider.close()
})

test('whoever turned it off is not told', async () => {
  await signIn(ANN)
  const off = await mails.app.call('PATCH', '/api/account/notices', { as: ANN, json: { newDevice: false } })
  expect(off.status).toBe(200)
  await mails.arrived()
  await signIn(ANN)
  expect(await told()).toEqual([])
})

test('a refused sign-in tells nobody', async () => {
  await signIn(ANN)
  const json = { email: ANN, password: 'wrong password' }
  expect((await mails.app.call('POST', '/api/auth/signin', { json })).status).toBe(401)
  expect(mails.rows()).toEqual([])
})

test('an account knows its newest hundred browsers', async () => {
  for (let i = 0; i < 103; i += 1) await signIn(ANN)
  expect(mails.app.ctx.db.sqlite.query('SELECT 1 FROM known_devices').all()).toHaveLength(100)
})

test('without a mail server there is no cookie', async () => {
  const app = await testApp()
  await app.addUser(ANN)
  const answer = await app.call('POST', '/api/auth/signin', { json: { email: ANN, password: PASSWORD } })
  expect(answer.headers.getSetCookie().join()).not.toContain('svc_device')
  app.close()
})
