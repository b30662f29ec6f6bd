import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type OidcServer, oidcServer } from '../../testing/oidc-server.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { cookieHeader, type TestApp, testApp } from '../../testing/test-app.ts'

/** Cookies of a sign-in on its way, over HTTPS as a proxy in front says. contract 12.7. */
const PROXY = '10.0.0.2'
const ADMIN = 'localhost'
/** With plain `localhost` no cookie is shared, so every site behaves like a mapped domain. */
const HOST = 'production--docs--acme.localhost'
const START = '/api/auth/oidc/one/start'

let provider: OidcServer
let app: TestApp
beforeAll(async () => {
  provider = await oidcServer({ redirectUris: [`https://${ADMIN}/api/auth/oidc/one/callback`] })
  app = await testApp({ ...provider.env, PUBLIC_URL: `https://${ADMIN}`, TRUST_PROXY: PROXY })
  await app.addUser('root@example.com', 'admin')
  await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  await app.call('PATCH', '/api/settings', { as: 'root@example.com', json: { allowPublicSignups: true } })
})
afterAll(async () => {
  app.close()
  await provider.close()
})

type Way = { host?: string; cookie?: string; proto?: string; site?: string }
const get = (path: string, { host = ADMIN, cookie, proto = 'https', site }: Way = {}) =>
  app.call('GET', path, {
    host,
    from: PROXY,
    headers: {
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-proto': proto,
      ...(cookie === undefined ? {} : { cookie }),
      ...(site === undefined ? {} : { 'sec-fetch-site': site }),
    },
  })

describe('on the way to a provider', () => {
  /** Goes there and back; `carry` makes the cookies that the browser sends of those that it got. */
  async function roundTrip(carry: (cookie: string) => string): Promise<Response> {
    provider.person = { sub: 'ann-1', email: 'ann@example.com', email_verified: true }
    const started = await get(START)
    const back = new URL(await provider.visit(started.headers.get('location') ?? ''))
    return get(`${back.pathname}${back.search}`, { cookie: carry(cookieHeader(started)), site: 'cross-site' })
  }

  test('the cookie is __Host-svcOidc with Secure and Path=/, without Domain, and ends with the sign-in', async () => {
    const [cookie = ''] = (await get(START)).headers.getSetCookie()
    expect(cookie).toMatch(
      /^__Host-svcOidc=v1\.[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    )
    const done = await roundTrip((sent) => sent)
    expect(done.headers.get('location')).toBe('/')
    expect(cookieHeader(done)).toContain('sAccessToken')
    expect(done.headers.getSetCookie()).toContain(
      '__Host-svcOidc=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
    )
  })

  test('the plain name is not read, which a sibling host can set', async () => {
    const done = await roundTrip((sent) => sent.replace('__Host-', ''))
    expect(done.headers.get('location')).toBe('/signin?problem=provider-expired')
  })

  test('over HTTP the plain name stays, and the other one is not read', async () => {
    const [cookie = ''] = (await get(START, { proto: 'http' })).headers.getSetCookie()
    expect(cookie).toMatch(/^svcOidc=[^;]+; Path=\/api\/auth\/oidc; Max-Age=600; HttpOnly; SameSite=Lax$/)
  })
})

describe('on the way to a domain outside the base domain', () => {
  const callback = '/_svc/auth/callback'

  async function codeOf(redirect: string): Promise<string> {
    const cookie = await app.cookieOf('root@example.com', ADMIN)
    const sent = await get(`/signin?${new URLSearchParams({ redirect })}`, { cookie })
    const to = new URL(sent.headers.get('location') ?? '')
    return `${to.pathname}${to.search}`
  }

  async function asked(): Promise<{ cookies: string[]; own: string }> {
    const sent = await get(await codeOf(`https://${HOST}/`), { host: HOST, site: 'cross-site' })
    const own = new URL(sent.headers.get('location') ?? '').searchParams.get('redirect') ?? ''
    return { cookies: sent.headers.getSetCookie(), own }
  }

  test('the cookie is __Host-svcBrowser with Secure and Path=/, without Domain', async () => {
    const { cookies, own } = await asked()
    expect(cookies).toEqual([
      expect.stringMatching(
        /^__Host-svcBrowser=[^;]{43}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ])
    const [cookie = ''] = cookies
    const done = await get(await codeOf(own), {
      host: HOST,
      site: 'cross-site',
      cookie: cookie.split(';')[0] ?? '',
    })
    expect([done.status, cookieHeader(done)]).toEqual([303, expect.stringContaining('sAccessToken')])
    expect(own).toStartWith(`https://${HOST}${callback}`)
  })

  test('the plain name is not read', async () => {
    const { cookies, own } = await asked()
    const plain = (cookies[0] ?? '').split(';')[0]?.replace('__Host-', '') ?? ''
    const done = await get(await codeOf(own), { host: HOST, site: 'cross-site', cookie: plain })
    expect([done.status, done.headers.getSetCookie()]).toEqual([400, []])
  })
})
