import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { inTransaction } from '../../db/open.ts'
import { ask } from '../../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { cookieHeader, type TestApp, testApp } from '../../testing/test-app.ts'
import { destinationOf, visitAddress } from './handover.ts'
import { openSession, sessionCookies } from './sessions.ts'

/** With plain `localhost` no cookie is shared, so every site behaves like a mapped domain. */
const HOST = 'production--docs--acme.localhost'
const OTHER = 'production--blog--acme.localhost'
const ORIGIN = `http://${HOST}:3000`

let app: TestApp
let userId: string
/** The session on the admin host. */
let signedIn: { cookie: string; sessionId: string }

beforeAll(async () => {
  app = await testApp({ PRIVATE_SITE_RESPONSE: 'login' })
  for (const repo of ['docs', 'blog'])
    await seedDeployment(app, {
      owner: 'acme',
      repo,
      sha: 'a'.repeat(40),
      alias: 'production',
      isPublic: false,
      files: { 'guide/index.html': `secret ${repo}` },
    })
  await app.addUser('root@example.com', 'admin')
  userId =
    app.ctx.db.sqlite.query<{ id: string }, [string]>('SELECT id FROM users WHERE email = ?').get(SEED_OWNER)
      ?.id ?? ''
  signedIn = signIn()
})
afterAll(() => app.close())

const adminFacts = {
  ip: '127.0.0.1',
  isSecure: false,
  host: 'localhost',
  hostWithPort: 'localhost:3000',
  site: null,
  isDirectLoopback: true,
  peerAddress: '127.0.0.1',
  isBehindProxy: false,
  forwardedFor: null,
}

/** A session of the seeded owner on the admin host. */
function signIn(): { cookie: string; sessionId: string } {
  const from = { ip: '127.0.0.1', userAgent: 'test' }
  const { id, tokens } = inTransaction(app.ctx.db, (tx) => openSession(app.ctx, tx, userId, from))
  const cookie = sessionCookies(app.ctx, tokens, adminFacts).map((one) => one.split(';')[0])
  return { cookie: cookie.join('; '), sessionId: id }
}

const destination = (address: string, { sessionId } = signedIn) =>
  destinationOf(
    app.ctx,
    adminFacts,
    { user: { id: userId, email: SEED_OWNER, role: 'user' }, sessionId },
    address,
  )
const codeFor = (address: string, by = signedIn) =>
  new URL(destination(address, by) ?? '').searchParams.get('code') ?? ''
const redeem = (query: Record<string, string>, host = HOST) =>
  app.call('GET', `/_svc/auth/callback?${new URLSearchParams(query)}`, { host })

test('a link to a site leads through the sign-in page only if necessary', async () => {
  const link = (url: string, isPublic: boolean) => visitAddress(app.ctx, adminFacts, { url, isPublic })
  expect(link(ORIGIN, true)).toBe(ORIGIN)
  expect(link(ORIGIN, false)).toBe(`/signin?redirect=${encodeURIComponent(ORIGIN)}`)
  const wide = await testApp({ BASE_DOMAIN: 'sites.example.com' })
  const below = 'http://production--docs--acme.sites.example.com:3000'
  const at = { ...adminFacts, host: 'admin.sites.example.com' }
  expect(visitAddress(wide.ctx, at, { url: below, isPublic: false })).toBe(below)
  wide.close()
})

test('another visit replaces the session that was handed over before', async () => {
  const by = signIn()
  const handedOver = () =>
    app.ctx.db.sqlite
      .query<{ host: string }, [string]>('SELECT host FROM sessions WHERE opened_from = ? ORDER BY host')
      .all(by.sessionId)
      .map(({ host }) => host)
  const visit = async (host: string) => {
    const answer = await redeem({ code: codeFor(`http://${host}:3000/`, by) }, host)
    expect(answer.status).toBe(303)
    return cookieHeader(answer)
  }
  const tabs = [await visit(HOST), await visit(OTHER), await visit(HOST)]
  expect(handedOver()).toEqual([OTHER, HOST, HOST])
  const { body } = await ask(app, 'GET', '/api/auth/session', {
    host: HOST,
    headers: { cookie: tabs[0] ?? '' },
  })
  expect(body['user']).toMatchObject({ email: SEED_OWNER })
  app.advance(61_000)
  await visit(HOST)
  expect(handedOver()).toEqual([OTHER, HOST])
})

test('a code read by a service worker of the site is useless elsewhere', async () => {
  const cookie = cookieHeader(await redeem({ code: codeFor(`${ORIGIN}/`) }))
  const whoIs = async (host: string) =>
    (await ask(app, 'GET', '/api/auth/session', { host, headers: { cookie } })).body['user']
  expect(await whoIs(HOST)).toMatchObject({ email: SEED_OWNER })
  expect(await whoIs(OTHER)).toBeNull()
  expect(await whoIs('localhost')).toBeNull()
  app.advance(60 * 60 * 1000)
  const refresh = (host: string) =>
    app.call('POST', '/api/auth/session/refresh', { host, headers: { cookie } })
  expect((await refresh('localhost')).status).toBe(401)
  expect((await refresh(HOST)).status).toBe(200)
})

test('a private site redirects to the sign-in page, and back with its own session', async () => {
  const wall = await app.call('GET', '/guide/?a=1', { host: HOST, headers: { accept: 'text/html' } })
  expect(wall.status).toBe(302)
  const back = new URL(wall.headers.get('location') ?? '').searchParams.get('redirect') ?? ''
  const next = new URL(destination(back) ?? '')
  expect(`${next.origin}${next.pathname}`).toBe(`${ORIGIN}/_svc/auth/callback`)

  const answer = await app.call('GET', `${next.pathname}${next.search}`, { host: HOST })
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/guide/?a=1'])
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const cookies = answer.headers.getSetCookie()
  expect(cookies).toHaveLength(2)
  for (const cookie of cookies) expect(cookie).not.toContain('Domain')
  const page = await app.call('GET', '/guide/', { host: HOST, headers: { cookie: cookieHeader(answer) } })
  expect(await page.text()).toBe('secret docs')
})

describe('the code', () => {
  test('works once', async () => {
    const code = codeFor(`${ORIGIN}/`)
    expect((await redeem({ code, redirect: '/' })).status).toBe(303)
    const again = await redeem({ code, redirect: '/' })
    expect([again.status, again.headers.getSetCookie()]).toEqual([400, []])
  })

  test('works for a minute', async () => {
    const [late, inTime] = [codeFor(`${ORIGIN}/`), codeFor(`${ORIGIN}/`)]
    app.advance(59_999)
    expect((await redeem({ code: inTime })).status).toBe(303)
    app.advance(1)
    expect((await redeem({ code: late })).status).toBe(400)
  })

  test('works only on its host, and is used up by a try elsewhere', async () => {
    const code = codeFor(`${ORIGIN}/`)
    expect((await redeem({ code }, OTHER)).status).toBe(400)
    expect((await redeem({ code })).status).toBe(400)
  })

  test('does not set a password, nor does a reset token sign in', async () => {
    const code = codeFor(`${ORIGIN}/`)
    const reset = await ask(app, 'POST', '/api/auth/reset-password', {
      json: { token: code, password: 'of the thief' },
    })
    expect(reset.body['error']).toBe('RESET_TOKEN_INVALID')
    const link = await ask(app, 'POST', `/api/users/${userId}/reset-link`, { as: 'root@example.com' })
    const token = new URL(String(link.body['url'])).searchParams.get('token') ?? ''
    expect((await redeem({ code: token })).status).toBe(400)
  })

  test('is stored as a hash', () => {
    const code = codeFor(`${ORIGIN}/`)
    expect(JSON.stringify(app.ctx.db.sqlite.query('SELECT * FROM one_time_tokens').all())).not.toContain(code)
  })
})

describe('signing out where the session was opened ends the sessions handed over from it', () => {
  const whoIs = async (cookie: string) =>
    (await ask(app, 'GET', '/api/auth/session', { host: HOST, headers: { cookie } })).body['user']

  const ways: [name: string, end: (by: { cookie: string; sessionId: string }) => Promise<Response>][] = [
    ['signing out', ({ cookie }) => app.call('POST', '/api/auth/signout', { headers: { cookie } })],
    [
      'ending it from another device',
      ({ sessionId }) =>
        app.call('DELETE', `/api/account/sessions/${sessionId}`, { headers: { cookie: signIn().cookie } }),
    ],
  ]

  test.each(ways)('%s', async (_name, end) => {
    const [by, other] = [signIn(), signIn()]
    const open = async (from: typeof by) => cookieHeader(await redeem({ code: codeFor(`${ORIGIN}/`, from) }))
    const [mine, theirs] = [await open(by), await open(other)]
    const unused = codeFor(`${ORIGIN}/`, by)
    expect((await end(by)).status).toBeLessThan(300)
    expect(await whoIs(mine)).toBeNull()
    expect(await whoIs(theirs)).toMatchObject({ email: SEED_OWNER })
    expect((await redeem({ code: unused })).status).toBe(400)
  })

  test('signing out on the site keeps the other sessions', async () => {
    const by = signIn()
    const mine = cookieHeader(await redeem({ code: codeFor(`${ORIGIN}/`, by) }))
    await app.call('POST', '/api/auth/signout', { host: HOST, headers: { cookie: mine } })
    expect(await whoIs(mine)).toBeNull()
    const { status } = await ask(app, 'GET', '/api/account', { headers: { cookie: by.cookie } })
    expect(status).toBe(200)
  })
})

describe('login CSRF: a browser is signed in only by a code that it asked for', () => {
  const BROWSER = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
  const visit = (address: string, cookie?: string) => {
    const { pathname, search } = new URL(address)
    const headers = cookie === undefined ? BROWSER : { ...BROWSER, cookie }
    return app.call('GET', `${pathname}${search}`, { host: HOST, headers })
  }
  /** What the admin host is asked for after somebody else's code. */
  const askedFor = (answer: Response) =>
    new URL(answer.headers.get('location') ?? '').searchParams.get('redirect') ?? ''

  test('a code from a link leads to signing in as oneself, and then to the page', async () => {
    const link = destination(`${ORIGIN}/guide/?a=1`) ?? ''
    const sent = await visit(link)
    expect([sent.status, sent.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/^http:\/\/localhost:3000\/signin\?redirect=/),
    ])
    const [kept, ...more] = sent.headers.getSetCookie()
    expect(more).toEqual([])
    expect(kept).toMatch(
      /^svcBrowser=[^;]{43}; Path=\/_svc\/auth\/callback; Max-Age=3600; HttpOnly; SameSite=Lax$/,
    )
    expect((await visit(link)).status).toBe(400)

    const arrived = await visit(destination(askedFor(sent)) ?? '', cookieHeader(sent))
    expect([arrived.status, arrived.headers.get('location')]).toEqual([303, '/guide/?a=1'])
    expect(arrived.headers.getSetCookie().map((cookie) => cookie.split('=')[0])).toEqual([
      'sAccessToken',
      'sIdRefreshToken',
    ])
  })

  test("a code that another browser asked for is refused, with or without the browser's own secret", async () => {
    const mine = await visit(destination(`${ORIGIN}/`) ?? '')
    const victim = await visit(destination(`${ORIGIN}/`) ?? '')
    for (const cookie of [cookieHeader(victim), undefined]) {
      const answer = await visit(destination(askedFor(mine)) ?? '', cookie)
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([400, []])
    }
  })

  test('a code for one browser cannot be redeemed by a client that is not a browser', async () => {
    const sent = await visit(destination(`${ORIGIN}/`) ?? '')
    const { pathname, search } = new URL(destination(askedFor(sent)) ?? '')
    expect((await app.call('GET', `${pathname}${search}`, { host: HOST })).status).toBe(400)
  })

  test('a path that is too long to be carried twice is dropped', async () => {
    const sent = await visit(destination(`${ORIGIN}/${'%20'.repeat(600)}`) ?? '')
    expect(new URL(askedFor(sent)).searchParams.get('redirect')).toBe('/')
  })
})

const afterCode: [redirect: string, location: string][] = [
  ['/guide/?a=1#b', '/guide/?a=1#b'],
  ['//evil.example/', '/'],
  ['/\\evil.example', '/'],
  ['https://evil.example/', '/'],
  ['http://localhost:3000/', '/'],
  ['javascript:alert(1)', '/'],
  ['', '/'],
]

test.each(afterCode)('open redirect: after the code %p leads to %p', async (redirect, location) => {
  const answer = await redeem({ code: codeFor(`${ORIGIN}/`), redirect })
  expect(answer.headers.get('location')).toBe(location)
})

const targets: [address: string, outcome: 'none' | 'same' | 'code'][] = [
  ['/keys', 'same'],
  ['http://localhost:3000/keys', 'same'],
  [`${ORIGIN}/guide/`, 'code'],
  ['http://nothing-here.localhost:3000/', 'same'],
  [`http://${HOST}:9000/`, 'none'],
  [`http://${HOST}.evil.example:3000/`, 'none'],
  [`http://evil.example:3000/?${HOST}`, 'none'],
  [`http://${HOST}@evil.example/`, 'none'],
  ['//evil.example/', 'none'],
  ['javascript:alert(1)', 'none'],
]

test.each(targets)('open redirect: %s is %s, and only a site of ours gets a code', (address, outcome) => {
  const got = destination(address)
  if (outcome === 'code') expect(got).toStartWith(`${ORIGIN}/_svc/auth/callback?code=`)
  else expect(got).toBe(outcome === 'same' ? address : undefined)
})

test('below a shared base domain no code is needed', async () => {
  const shared = await testApp({ BASE_DOMAIN: 'sites.example.com' })
  await seedDeployment(shared, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  const address = 'http://production--docs--acme.sites.example.com:3000/guide/'
  const facts = { ...adminFacts, host: 'admin.sites.example.com' }
  const person = { user: { id: userId, email: SEED_OWNER, role: 'user' }, sessionId: '' } as const
  expect(destinationOf(shared.ctx, facts, person, address)).toBe(address)
  shared.close()
})
