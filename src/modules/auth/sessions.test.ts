import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ask, NO_ID } from '../../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { cookieHeader, PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

const HOUR = 60 * 60 * 1000
const BASE = 'sites.example.com'
const ADMIN = `admin.${BASE}`
const SITE = `production--secret--acme.${BASE}`

let app: TestApp

beforeAll(async () => {
  app = await testApp({ BASE_DOMAIN: BASE, TRUST_PROXY: '10.9.0.0/16' })
  await seedDeployment(app, {
    owner: 'acme',
    repo: 'secret',
    sha: 'a'.repeat(40),
    alias: 'production',
    isPublic: false,
    files: { 'index.html': 'secret' },
  })
  await app.addUser('boss@example.com', 'admin')
  await app.addUser('ann@example.com')
  await app.addUser('mallory@example.com')
})
afterAll(() => app.close())

type Cookies = { access: string; refresh: string }

const signInAnswer = (email: string, options: { host?: string; headers?: Record<string, string> } = {}) =>
  app.call('POST', '/api/auth/signin', { host: ADMIN, ...options, json: { email, password: PASSWORD } })

async function signIn(email: string): Promise<Cookies> {
  return cookiesOf(await signInAnswer(email))
}

function cookiesOf(answer: Response): Cookies {
  const all = new Map(
    cookieHeader(answer)
      .split('; ')
      .map((pair) => pair.split('=') as [string, string]),
  )
  return { access: all.get('sAccessToken') ?? '', refresh: all.get('sIdRefreshToken') ?? '' }
}

const header = ({ access, refresh }: Partial<Cookies>): string =>
  [access && `sAccessToken=${access}`, refresh && `sIdRefreshToken=${refresh}`].filter(Boolean).join('; ')

async function whoIs(cookie: string, host = ADMIN): Promise<string | null> {
  const { body } = await ask(app, 'GET', '/api/auth/session', { host, headers: { cookie } })
  return (body['user'] as { email: string } | null)?.email ?? null
}

const refresh = (cookies: Partial<Cookies>) =>
  app.call('POST', '/api/auth/session/refresh', { host: ADMIN, headers: { cookie: header(cookies) } })

describe('cookies', () => {
  const attributes = (answer: Response) =>
    answer.headers.getSetCookie().map((cookie) => cookie.replace(/=[\w-]{43};/, '=…;'))

  test('below the base domain they are for the whole workspace, Secure over HTTPS', async () => {
    expect(attributes(await signInAnswer('ann@example.com'))).toEqual([
      `sAccessToken=…; Domain=.${BASE}; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax`,
      `sIdRefreshToken=…; Domain=.${BASE}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax`,
    ])
    const secure = await app.call('POST', '/api/auth/signin', {
      host: SITE,
      from: '10.9.0.1',
      headers: { 'x-forwarded-proto': 'HTTPS, http' },
      json: { email: 'ann@example.com', password: PASSWORD },
    })
    for (const cookie of attributes(secure)) expect(cookie).toEndWith('; Secure')
  })

  test('a stranger cannot claim HTTPS, and cannot choose the domain of the cookies', async () => {
    const answer = await signInAnswer('ann@example.com', {
      headers: { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' },
    })
    expect(answer.headers.getSetCookie().join()).not.toMatch(/Secure|evil/)
  })

  test('elsewhere they are host-only', async () => {
    const answer = await signInAnswer('ann@example.com', { host: '127.0.0.1' })
    expect(answer.headers.getSetCookie().join()).not.toContain('Domain')
  })

  test('tokens are stored as hashes only', async () => {
    const cookies = await signIn('ann@example.com')
    const rows = JSON.stringify(app.ctx.db.sqlite.query('SELECT * FROM session_tokens').all())
    expect(rows).not.toContain(cookies.access)
    expect(rows).not.toContain(cookies.refresh)
  })
})

describe('an expired access token and a good refresh token', () => {
  const requests: [what: string, host: string, path: string][] = [
    ['the API', ADMIN, '/api/auth/session'],
    ['the API behind a guard', ADMIN, '/api/account'],
    ['a page', ADMIN, '/'],
    ['site content', SITE, '/'],
  ]

  test.each(requests)('%s is served, with new cookies', async (_what, host, path) => {
    const old = await signIn(SEED_OWNER)
    app.advance(HOUR)
    expect(await whoIs(header({ access: old.access }))).toBeNull()
    const answer = await app.call('GET', path, {
      host,
      headers: { cookie: header(old), accept: 'text/html' },
    })
    expect(answer.status).toBe(200)
    const fresh = cookiesOf(answer)
    expect(fresh.refresh).not.toBe(old.refresh)
    expect(await whoIs(header({ access: fresh.access }))).toBe(SEED_OWNER)
  })

  test('a good access token is not exchanged', async () => {
    const cookies = await signIn('ann@example.com')
    const answer = await app.call('GET', '/api/auth/session', {
      host: ADMIN,
      headers: { cookie: header(cookies) },
    })
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  test('after 30 days without a visit the session has ended', async () => {
    const cookies = await signIn('ann@example.com')
    app.advance(30 * 24 * HOUR)
    expect(await whoIs(header(cookies))).toBeNull()
    expect((await refresh(cookies)).status).toBe(401)
  })

  test('a session from a clock that was ahead has ended once the clock is set back', async () => {
    const YEAR = 365 * 24 * HOUR
    app.advance(YEAR)
    const cookies = await signIn('ann@example.com')
    expect(await whoIs(header(cookies))).toBe('ann@example.com')
    app.advance(-HOUR)
    expect(await whoIs(header(cookies))).toBe('ann@example.com')
    app.advance(HOUR - YEAR)
    expect(await whoIs(header({ access: cookies.access }))).toBeNull()
    expect(await whoIs(header({ refresh: cookies.refresh }))).toBeNull()
  })
})

describe('refresh-token theft', () => {
  test('a replaced token used again after a minute ends the session and its family', async () => {
    const first = await signIn('ann@example.com')
    const second = cookiesOf(await refresh(first))
    expect(await whoIs(header(second))).toBe('ann@example.com')
    app.advance(60_001)
    const stolen = await refresh(first)
    expect([stolen.status, stolen.headers.getSetCookie()]).toEqual([401, []])
    expect(await whoIs(header(second))).toBeNull()
    expect((await refresh(second)).status).toBe(401)
    const audit = '/api/audit?action=session.end&limit=1'
    const { body } = await ask(app, 'GET', audit, { as: 'boss@example.com', host: ADMIN })
    expect(body['data']).toMatchObject([
      { actor: { name: 'ann@example.com' }, after: { reason: 'a replaced refresh token was used again' } },
    ])
  })

  test('the same through a page, without a refresh request', async () => {
    const first = await signIn('ann@example.com')
    const second = cookiesOf(await refresh(first))
    app.advance(60_001)
    expect(await whoIs(header({ refresh: first.refresh }))).toBeNull()
    expect(await whoIs(header(second))).toBeNull()
  })

  test('parallel requests within a minute are accepted, each with working cookies', async () => {
    const first = await signIn('ann@example.com')
    app.advance(HOUR)
    const answers = await Promise.all([refresh(first), refresh(first), refresh(first)])
    app.advance(59_000)
    answers.push(await refresh(first))
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(await whoIs(header(cookiesOf(answer)))).toBe('ann@example.com')
    }
  })

  test('a refresh token is not an access token, nor the other way round', async () => {
    const { access, refresh: other } = await signIn('ann@example.com')
    expect(await whoIs(`sAccessToken=${other}`)).toBeNull()
    expect((await refresh({ refresh: access })).status).toBe(401)
  })

  test('signing out ends both tokens at once', async () => {
    const cookies = await signIn('ann@example.com')
    const out = await app.call('POST', '/api/auth/logout', {
      host: ADMIN,
      headers: { cookie: header(cookies) },
    })
    expect(await out.json()).toEqual({ success: true })
    expect(out.headers.getSetCookie()).toHaveLength(4)
    expect(await whoIs(header(cookies))).toBeNull()
    expect((await refresh(cookies)).status).toBe(401)
    const again = await app.call('POST', '/api/auth/signout', {
      host: ADMIN,
      headers: { cookie: header(cookies) },
    })
    expect(again.status).toBe(401)
  })

  test('without a session the body is not read', async () => {
    const body = { body: '{', headers: { 'content-type': 'application/json' } }
    for (const path of ['signout', 'logout', 'session/refresh', 'refresh'])
      for (const prefix of ['/api/auth', '/_svc/auth'])
        expect((await app.call('POST', `${prefix}/${path}`, body)).status).toBe(401)
  })
})

describe('cookie tossing: a sibling site adds cookies of its own', () => {
  test('with the access token of another person added, the request is anonymous, in either order', async () => {
    const ann = await signIn('ann@example.com')
    const mallory = await signIn('mallory@example.com')
    expect(await whoIs(`${header(mallory)}; ${header(ann)}`)).toBeNull()
    expect(await whoIs(`${header(ann)}; ${header(mallory)}`)).toBeNull()
  })

  test('it does not take over a session whose access token has expired', async () => {
    const ann = await signIn('ann@example.com')
    app.advance(HOUR)
    const mallory = await signIn('mallory@example.com')
    expect(await whoIs(`sAccessToken=${mallory.access}; ${header(ann)}`)).toBeNull()
    const both = `sIdRefreshToken=${mallory.refresh}; ${header(ann)}`
    expect(await whoIs(both)).toBeNull()
    const answer = await app.call('POST', '/api/auth/session/refresh', {
      host: ADMIN,
      headers: { cookie: both },
    })
    expect(answer.status).toBe(401)
  })

  const tossed: [where: string, path: string, removed: string, isKept: boolean][] = [
    ['a narrower path', '/api/auth/session', 'Domain=.sites.example.com; Path=/api/auth', true],
    ['a folder', '/api/auth/session', 'Domain=.sites.example.com; Path=/api/', true],
    ['a domain above', '/account', 'Domain=.example.com; Path=/', true],
    ['the session’s own place', '/account', 'Domain=.sites.example.com; Path=/', false],
  ]
  test.each(tossed)(
    'a cookie of %s on the way to %s is removed: %p',
    async (_where, path, removed, isKept) => {
      const [ann, mallory] = [await signIn('ann@example.com'), await signIn('mallory@example.com')]
      const cookie = `sAccessToken=${mallory.access}; ${header(ann)}`
      const answer = await app.call('GET', path, { host: ADMIN, headers: { cookie } })
      const exact = `sAccessToken=; ${removed}; Max-Age=0`
      expect(answer.headers.getSetCookie().includes(exact)).toBe(isKept)
    },
  )

  test('a partitioned cookie is removed over HTTPS, and no other', async () => {
    const [ann, mallory] = [await signIn('ann@example.com'), await signIn('mallory@example.com')]
    const headers = { cookie: `sAccessToken=${mallory.access}; ${header(ann)}`, 'x-forwarded-proto': 'https' }
    const answer = await app.call('GET', '/', { host: ADMIN, headers, from: '10.9.0.1' })
    const own = answer.headers.getSetCookie().filter((one) => one.includes('=.sites.example.com; Path=/;'))
    expect(own.length).toBe(2)
    for (const one of own) expect(one).toEndWith('; Secure; Partitioned')
  })

  test('a long address does not cause a long response', async () => {
    const [ann, mallory] = [await signIn('ann@example.com'), await signIn('mallory@example.com')]
    const cookie = `sAccessToken=${mallory.access}; ${header(ann)}`
    const path = `/api/projects/${'x'.repeat(3000)}/docs`
    const answer = await app.call('GET', path, { host: ADMIN, headers: { cookie } })
    const set = answer.headers.getSetCookie()
    expect(set).not.toEqual([])
    expect(set.join('\n').length).toBeLessThan(4096)
  })

  test('nothing is removed if all cookies are of one person', async () => {
    const [first, second] = [await signIn('ann@example.com'), await signIn('ann@example.com')]
    const cookie = `${header(first)}; ${header(second)}`
    const answer = await app.call('GET', '/account', { host: ADMIN, headers: { cookie } })
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  test('invalid cookies do not sign anybody out', async () => {
    const ann = await signIn('ann@example.com')
    const rubbish = 'sAccessToken=rubbish; sIdRefreshToken=rubbish'
    expect(await whoIs(`${rubbish}; ${header(ann)}`)).toBe('ann@example.com')
    app.advance(HOUR)
    expect(await whoIs(`${rubbish}; ${header(ann)}`)).toBe('ann@example.com')
  })
})

test("session fixation: signing in with somebody else's cookies opens a new session", async () => {
  const mallory = await signIn('mallory@example.com')
  const answer = await signInAnswer('ann@example.com', { headers: { cookie: header(mallory) } })
  const ann = cookiesOf(answer)
  expect(ann.access).not.toBe(mallory.access)
  expect(await whoIs(header(mallory))).toBe('mallory@example.com')
  expect(await whoIs(header(ann))).toBe('ann@example.com')
  const chosen = await signInAnswer('ann@example.com', {
    headers: { cookie: 'sAccessToken=chosen-by-mallory; sIdRefreshToken=chosen-by-mallory' },
  })
  expect(cookieHeader(chosen)).not.toContain('chosen-by-mallory')
})

describe('CSRF', () => {
  const changes: [what: string, headers: Record<string, string>, status: number][] = [
    ['from a sibling site', { origin: `http://${SITE}`, 'sec-fetch-site': 'same-site' }, 403],
    ['from a sandboxed page', { origin: 'null', 'sec-fetch-site': 'cross-site' }, 403],
    ['with a Referer of a sibling site', { referer: `http://${SITE}/page` }, 403],
    ['from our own page', { origin: `http://${ADMIN}`, 'sec-fetch-site': 'same-origin' }, 400],
    ['by curl', {}, 400],
  ]

  test.each(changes)('a password change %s: %d', async (_what, headers, status) => {
    const cookie = header(await signIn('ann@example.com'))
    const { status: got } = await ask(app, 'POST', '/api/account/password', {
      host: ADMIN,
      headers: { ...headers, cookie },
      json: { currentPassword: 'not the password', newPassword: 'chosen by mallory' },
    })
    app.ctx.lockout.clear('ann@example.com', '127.0.0.1')
    expect(got).toBe(status as number)
  })

  test('a site cannot reach the account, even from its own pages', async () => {
    const cookie = header(await signIn(SEED_OWNER))
    const { status, body } = await ask(app, 'GET', '/api/account', { host: SITE, headers: { cookie } })
    expect([status, body['error']]).toEqual([403, 'ADMIN_HOST_ONLY'])
    expect((await ask(app, 'GET', '/api/account', { host: SITE })).status).toBe(401)
  })
})

test('on a site a list may be filtered by the own project only', async () => {
  const seed = { owner: 'acme', alias: 'live', files: { 'index.html': '' } }
  const own = await seedDeployment(app, { ...seed, repo: 'own', sha: 'b'.repeat(40) })
  const other = await seedDeployment(app, { ...seed, repo: 'other', sha: 'c'.repeat(40) })
  const headers = { cookie: header(await signIn(SEED_OWNER)) }
  const answerTo = async (path: string, host: string) => {
    const { status, body } = await ask(app, 'GET', path, { host, headers })
    return body['error'] ?? status
  }
  const named = ({ projectId }: { projectId: string }, repo: string) => [
    `/api/deployments?projectId=${projectId}`,
    `/api/deployments?owner=acme&repo=${repo}`,
    `/api/aliases?projectId=${projectId}`,
    `/api/aliases?owner=acme&repo=${repo}`,
    `/api/domains?projectId=${projectId}`,
  ]
  const site = `live--own--acme.${BASE}`
  for (const path of [...named(own, 'own'), '/api/aliases', '/api/aliases?owner=acme'])
    expect([path, await answerTo(path, site)]).toEqual([path, 200])
  for (const path of [...named(other, 'other'), `/api/domains?projectId=${NO_ID}`]) {
    expect([path, await answerTo(path, site)]).toEqual([path, 'ADMIN_HOST_ONLY'])
    expect([path, await answerTo(path, ADMIN)]).toEqual([path, 200])
  }
})

test('a role change applies from the next request on', async () => {
  const id = await app.addUser('other-boss@example.com', 'admin')
  const cookie = header(await signIn('other-boss@example.com'))
  const list = () => ask(app, 'GET', '/api/users', { host: ADMIN, headers: { cookie } })
  expect((await list()).status).toBe(200)
  const boss = header(await signIn('boss@example.com'))
  await app.call('PATCH', `/api/users/${id}`, {
    host: ADMIN,
    headers: { cookie: boss },
    json: { role: 'member' },
  })
  expect((await list()).status).toBe(403)
  await app.call('DELETE', `/api/users/${id}`, { host: ADMIN, headers: { cookie: boss } })
  expect((await list()).status).toBe(401)
})

test('an account that is deleted while its password is checked gets no session', async () => {
  const id = await app.addUser('brief@example.com')
  const pending = signInAnswer('brief@example.com')
  app.ctx.db.sqlite.run('DELETE FROM users WHERE id = ?', [id])
  app.ctx.db.writes += 1
  expect((await pending).status).toBe(401)
})
