import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { totpCodeAt } from '../../platform/totp.ts'
import { ask } from '../../testing/ask.ts'
import { OIDC_CLIENT, type OidcPerson, type OidcServer, oidcServer } from '../../testing/oidc-server.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { cookieHeader, type TestApp, testApp } from '../../testing/test-app.ts'

const CALLBACK = 'http://localhost:3000/api/auth/oidc/one/callback'
const START = '/api/auth/oidc/one/start'
const ANN: OidcPerson = { sub: 'ann-1', email: 'Ann@example.com', email_verified: true }

let provider: OidcServer
let app: TestApp

beforeAll(async () => {
  provider = await oidcServer({ redirectUris: [CALLBACK] })
  app = await testApp(provider.env)
  await app.addUser('root@example.com', 'admin')
  await app.call('PATCH', '/api/settings', { as: 'root@example.com', json: { allowPublicSignups: true } })
})
afterAll(async () => {
  app.close()
  await provider.close()
})

type Jar = { cookie: string }

const goTo = (path: string, headers: Record<string, string> = {}) => app.call('GET', path, { headers })

/** Goes from the button to the page that follows, with the cookies of one browser. */
async function signInAs(
  person: OidcPerson | null,
  { redirect, cookie = '', link = false }: { redirect?: string; cookie?: string; link?: boolean } = {},
): Promise<{ location: string; cookie: string; status: number }> {
  provider.person = person
  const query = redirect === undefined ? '' : `?${new URLSearchParams({ redirect })}`
  const started = await goTo(`${START}${query}`, {
    ...(cookie === '' ? {} : { cookie }),
    ...(link ? { 'sec-fetch-site': 'same-origin' } : {}),
  })
  const flow = cookieHeader(started)
  const back = new URL(await provider.visit(started.headers.get('location') ?? ''))
  const answer = await goTo(`${back.pathname}${back.search}`, {
    cookie: [cookie, flow].filter(Boolean).join('; '),
    'sec-fetch-site': 'cross-site',
  })
  return {
    status: answer.status,
    location: answer.headers.get('location') ?? '',
    cookie: cookieHeader(answer),
  }
}

const whoIs = async ({ cookie }: Jar): Promise<unknown> =>
  (await ask(app, 'GET', '/api/auth/session', { headers: { cookie } })).body['user']

async function addUser(email: string, hasPassword = true): Promise<string> {
  const id = await app.addUser(email)
  if (!hasPassword) app.ctx.db.sqlite.run('UPDATE users SET password_hash = NULL WHERE id = ?', [id])
  app.ctx.db.writes += 1
  return id
}

describe('the way to the provider', () => {
  test('sends what the provider must check, and keeps the rest sealed in a cookie for the callback', async () => {
    const answer = await goTo(`${START}?redirect=%2Fkeys`)
    expect(answer.status).toBe(302)
    const url = new URL(answer.headers.get('location') ?? '')
    expect(url.origin).toBe(provider.issuer)
    const query = Object.fromEntries(url.searchParams)
    expect(query).toMatchObject({
      client_id: 'svc',
      redirect_uri: CALLBACK,
      response_type: 'code',
      code_challenge_method: 'S256',
    })
    expect(query['scope']?.split(' ')).toContain('openid')
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(query[name]?.length).toBeGreaterThanOrEqual(43)
    const [cookie = ''] = answer.headers.getSetCookie()
    expect(cookie).toMatch(
      /^svcOidc=v1\.[\w.-]+; Path=\/api\/auth\/oidc; Max-Age=600; HttpOnly; SameSite=Lax$/,
    )
    expect(cookie).not.toContain(query['state'] ?? '')
  })

  test('has a new state each time', async () => {
    const state = async () =>
      new URL((await goTo(START)).headers.get('location') ?? '').searchParams.get('state')
    expect(await state()).not.toBe(await state())
  })

  test('starts and ends on the admin host, wherever the button is', async () => {
    const { aliasHost } = await seedDeployment(app, {
      owner: 'acme',
      repo: 'docs',
      sha: 'a'.repeat(40),
      alias: 'production',
      files: { 'index.html': 'x' },
    })
    const onSite = { host: aliasHost ?? '' }
    const answer = await app.call('GET', '/_svc/auth/oidc/one/start?redirect=%2Fguide', onSite)
    expect(answer.headers.get('location')).toBe(
      `http://localhost:3000${START}?redirect=${encodeURIComponent(`http://${aliasHost}:3000/guide`)}`,
    )
    const back = await app.call('GET', '/_svc/auth/oidc/one/callback?state=x', onSite)
    expect(back.headers.get('location')).toBe(`${CALLBACK}?state=x`)
  })

  test('an unknown provider is 404', async () => {
    expect((await goTo('/api/auth/oidc/two/start')).status).toBe(404)
    expect((await goTo('/api/auth/oidc/two/callback')).status).toBe(404)
  })
})

describe('coming back', () => {
  test('a new verified email gets an account and a session, and is recognised the next time', async () => {
    const first = await signInAs(ANN, { redirect: '/account' })
    expect([first.status, first.location]).toEqual([302, '/account'])
    expect(await whoIs(first)).toMatchObject({ email: 'ann@example.com', role: 'member' })
    const again = await signInAs({ ...ANN, email: 'renamed@example.com' })
    expect(await whoIs(again)).toEqual(await whoIs(first))
    const account = await ask(app, 'GET', '/api/account', { headers: { cookie: again.cookie } })
    expect(account.body['connections']).toMatchObject([{ provider: 'one', email: 'ann@example.com' }])
  })

  test('signing up follows the setting', async () => {
    const root = 'root@example.com'
    await app.call('PATCH', '/api/settings', { as: root, json: { allowPublicSignups: false } })
    const refused = await signInAs({ sub: 'new-1', email: 'new@example.com', email_verified: true })
    await app.call('PATCH', '/api/settings', { as: root, json: { allowPublicSignups: true } })
    expect(refused.location).toBe('/signin?problem=provider-signup-disabled')
    expect(refused.cookie).toBe('')
  })

  test.each(['not an email', 'two@at@signs.example', `${'a'.repeat(320)}@example.com`])(
    'what is no email makes no account: %p',
    async (email) => {
      const { location } = await signInAs({ sub: 'odd', email, email_verified: true })
      expect(location).toBe('/signin?problem=provider-unverified')
    },
  )

  test('the provider says no', async () => {
    expect((await signInAs(null)).location).toBe('/signin?problem=provider-refused')
  })

  test('an account with a second step is asked for its code', async () => {
    await addUser('mia@example.com')
    const cookie = await app.cookieOf('mia@example.com')
    const mia = { sub: 'mia-1', email: 'mia@example.com', email_verified: true }
    expect((await signInAs(mia, { cookie, link: true })).location).toBe('/account?done=connected')
    const headers = { cookie }
    const enrolled = await ask(app, 'POST', '/api/account/mfa/totp', { headers })
    const code = await totpCodeAt(String(enrolled.body['secret']), app.ctx.now())
    await ask(app, 'POST', '/api/account/mfa/totp/confirm', { headers, json: { code } })
    const { location, cookie: got } = await signInAs(mia, { redirect: '/keys' })
    expect(location).toMatch(/^\/signin\?mfaTicket=[\w-]{43}&redirect=%2Fkeys$/)
    expect(got).toBe('')
  })
})

describe('attacks', () => {
  test('account takeover: an unverified email of the victim gives no access', async () => {
    await addUser('victim@example.com')
    for (const email_verified of [false, undefined, 'false' as unknown as boolean]) {
      const { location, cookie } = await signInAs({
        sub: 'mallory',
        email: 'victim@example.com',
        ...(email_verified === undefined ? {} : { email_verified }),
      })
      expect([location, cookie]).toEqual(['/signin?problem=provider-unverified', ''])
    }
  })

  test('account takeover: an email, verified or not, gives no access to an account with a password', async () => {
    await addUser('bob@example.com')
    const { location, cookie } = await signInAs({
      sub: 'bob-1',
      email: 'bob@example.com',
      email_verified: true,
    })
    expect([location, cookie]).toEqual(['/signin?problem=provider-account-exists', ''])
  })

  test('a verified email opens an unused invited account, once', async () => {
    await addUser('invited@example.com', false)
    const person = { sub: 'invited-1', email: 'invited@example.com', email_verified: true }
    expect(await whoIs(await signInAs(person))).toMatchObject({ email: 'invited@example.com' })
    const other = await signInAs({ ...person, sub: 'invited-2' })
    expect(other.location).toBe('/signin?problem=provider-account-exists')
  })

  test('login CSRF: a callback without the cookie of this browser signs nobody in', async () => {
    provider.person = ANN
    const started = await goTo(START)
    const back = new URL(await provider.visit(started.headers.get('location') ?? ''))
    const path = `${back.pathname}${back.search}`
    for (const cookie of ['', cookieHeader(await goTo(START)), 'svcOidc=v1.rubbish.rubbish']) {
      const answer = await goTo(path, { cookie })
      expect(answer.headers.get('location')).toBe('/signin?problem=provider-expired')
      expect(cookieHeader(answer)).toBe('')
    }
    expect(cookieHeader(await goTo(path, { cookie: cookieHeader(started) }))).toContain('sAccessToken')
  })

  test('a code works only once, and a flow only for ten minutes', async () => {
    provider.person = ANN
    const started = await goTo(START)
    const flow = { cookie: cookieHeader(started) }
    const back = new URL(await provider.visit(started.headers.get('location') ?? ''))
    const path = `${back.pathname}${back.search}`
    expect(cookieHeader(await goTo(path, flow))).toContain('sAccessToken')
    expect((await goTo(path, flow)).headers.get('location')).toBe('/signin?problem=provider-failed')
    const late = await goTo(START)
    const lateBack = new URL(await provider.visit(late.headers.get('location') ?? ''))
    app.advance(10 * 60 * 1000)
    const answer = await goTo(`${lateBack.pathname}${lateBack.search}`, { cookie: cookieHeader(late) })
    expect(answer.headers.get('location')).toBe('/signin?problem=provider-expired')
  })

  test('mix-up: a response of another issuer is refused', async () => {
    provider.person = ANN
    const started = await goTo(START)
    const back = new URL(await provider.visit(started.headers.get('location') ?? ''))
    back.searchParams.set('iss', 'https://evil.example')
    const answer = await goTo(`${back.pathname}${back.search}`, { cookie: cookieHeader(started) })
    expect(answer.headers.get('location')).toBe('/signin?problem=provider-failed')
  })

  test('forced connection: another site cannot connect its account at the provider to that of a visitor', async () => {
    await addUser('carl@example.com')
    const cookie = await app.cookieOf('carl@example.com')
    const mallory = { sub: 'mallory-9', email: 'mallory@example.com', email_verified: true }
    await signInAs(mallory, { cookie })
    const account = await ask(app, 'GET', '/api/account', { headers: { cookie } })
    expect(account.body['connections']).toEqual([])
  })

  test('a connection is made only for the person who asked for it', async () => {
    await addUser('dora@example.com')
    await addUser('eve@example.com')
    provider.person = { sub: 'dora-1' }
    const dora = await app.cookieOf('dora@example.com')
    const eve = await app.cookieOf('eve@example.com')
    const started = await goTo(START, { cookie: dora, 'sec-fetch-site': 'same-origin' })
    const back = new URL(await provider.visit(started.headers.get('location') ?? ''))
    const path = `${back.pathname}${back.search}`
    const asEve = await goTo(path, { cookie: `${eve}; ${cookieHeader(started)}` })
    expect(asEve.headers.get('location')).toBe('/account?problem=provider-expired')
    const asDora = await goTo(path, { cookie: `${dora}; ${cookieHeader(started)}` })
    expect(asDora.headers.get('location')).toBe('/account?done=connected')
    const second = await signInAs({ sub: 'dora-2' }, { cookie: dora, link: true })
    expect(second.location).toBe('/account?problem=provider-other-connected')
    const taken = await signInAs({ sub: 'dora-1' }, { cookie: eve, link: true })
    expect(taken.location).toBe('/account?problem=provider-taken')
  })

  test('open redirect: the return address must belong to this workspace', async () => {
    for (const redirect of ['https://evil.example/', '//evil.example', 'javascript:alert(1)'])
      expect((await signInAs(ANN, { redirect })).location).toBe('/')
  })
})

describe('the ID token', () => {
  /** Comes back after the address of the provider was changed on the way. */
  async function tampered(change: (query: URLSearchParams) => void): Promise<string | null> {
    provider.person = ANN
    const started = await goTo(START)
    const away = new URL(started.headers.get('location') ?? '')
    change(away.searchParams)
    const back = new URL(await provider.visit(away.href))
    const answer = await goTo(`${back.pathname}${back.search}`, { cookie: cookieHeader(started) })
    return answer.headers.get('location')
  }

  test('must contain the nonce of this flow: another one was made for somebody else', async () => {
    expect(await tampered(() => {})).toBe('/')
    expect(await tampered((query) => query.set('nonce', 'of-mallory'))).toBe(
      '/signin?problem=provider-failed',
    )
  })

  test('is handed out only for the verifier of this flow (PKCE)', async () => {
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
    expect(await tampered((query) => query.set('code_challenge', challenge))).toBe(
      '/signin?problem=provider-failed',
    )
  })

  test('must be signed with a key that the provider publishes', async () => {
    const forger = await oidcServer({ redirectUris: [CALLBACK], isForger: true })
    const own = await testApp(forger.env)
    forger.person = ANN
    const started = await own.call('GET', START)
    const back = new URL(await forger.visit(started.headers.get('location') ?? ''))
    const headers = { cookie: cookieHeader(started) }
    const answer = await own.call('GET', `${back.pathname}${back.search}`, { headers })
    expect(answer.headers.get('location')).toBe('/signin?problem=provider-failed')
    own.close()
    await forger.close()
  })

  test('may be signed with ES256, and the email may come from the user info endpoint alone', async () => {
    const other = await oidcServer({
      redirectUris: [CALLBACK],
      signingAlg: 'ES256',
      emailInIdToken: false,
    })
    const own = await testApp(other.env)
    await own.addUser('root@example.com', 'admin')
    await own.call('PATCH', '/api/settings', { as: 'root@example.com', json: { allowPublicSignups: true } })
    other.person = ANN
    const started = await own.call('GET', START)
    const back = new URL(await other.visit(started.headers.get('location') ?? ''))
    const answer = await own.call('GET', `${back.pathname}${back.search}`, {
      headers: { cookie: cookieHeader(started) },
    })
    expect(cookieHeader(answer)).toContain('sAccessToken')
    own.close()
    await other.close()
  })

  test('a provider that is unreachable or not allowed is 502 without details', async () => {
    const own = await testApp({ OIDC_PROVIDERS: provider.env['OIDC_PROVIDERS'] ?? '' })
    const { status, body } = await ask(own, 'GET', START)
    expect(status).toBe(502)
    expect(JSON.stringify(body)).not.toContain('127.0.0.1')
    own.close()
  })
})

test('login-methods name the providers and keep their secrets', async () => {
  const { body } = await ask(app, 'GET', '/api/auth/login-methods')
  expect(body).toEqual({
    password: true,
    providers: [{ id: 'one', kind: 'oidc', displayName: 'One' }],
    allowSignup: true,
    hasPassword: true,
    hasGoogle: false,
    workspace: { hasPassword: true, hasGoogle: false, allowSignup: true },
  })
  expect(JSON.stringify(body)).not.toContain(OIDC_CLIENT.clientSecret)
})

test('behind the gate, signing up on the way to a site that allows it makes the person a guest', async () => {
  const gated = await testApp({ ...provider.env, FEATURE_REQUIRE_PROJECT_MEMBERSHIP: 'true' })
  const { aliasHost } = await seedDeployment(gated, {
    owner: 'acme',
    repo: 'open',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  const come = async (sub: string) => {
    provider.person = { sub, email: `${sub}@example.com`, email_verified: true }
    const redirect = encodeURIComponent(`http://${aliasHost}:3000/`)
    const started = await gated.call('GET', `${START}?redirect=${redirect}`)
    const back = new URL(await provider.visit(started.headers.get('location') ?? ''))
    const headers = { cookie: cookieHeader(started) }
    return (await gated.call('GET', `${back.pathname}${back.search}`, { headers })).headers.get('location')
  }
  expect(await come('one')).toContain('problem=provider-signup-disabled')
  gated.ctx.db.sqlite.run('UPDATE projects SET allow_public_signup = 1')
  gated.ctx.db.writes += 1
  expect(await come('two')).toStartWith(`http://${aliasHost}:3000/_svc/auth/callback?code=`)
  const guests = gated.ctx.db.sqlite.query("SELECT role FROM permissions WHERE role = 'guest'").all()
  expect(guests).toHaveLength(1)
  gated.close()
})
