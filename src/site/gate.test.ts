import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SEED_OWNER, seedDeployment } from '../testing/seed.ts'
import { cookieHeader, PASSWORD, type TestApp, testApp } from '../testing/test-app.ts'

const SHA = 'a'.repeat(40)
const HOST = 'production--secret--acme.localhost'
const HTML = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
const ROLES = ['guest', 'viewer', 'contributor', 'admin'] as const

let app: TestApp
let projectId = ''
let aliasId = ''
beforeAll(async () => {
  app = await testApp()
  const seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'secret',
    sha: SHA,
    alias: 'production',
    isPublic: false,
    files: { 'index.html': 'secret', 'app.js': 'x'.repeat(2000) },
    withVariants: true,
  })
  projectId = seeded.projectId
  aliasId = seeded.aliasId ?? ''
  await app.addUser('stranger@example.com')
  await app.addUser('root@example.com', 'admin')
  for (const role of ROLES) {
    const userId = await app.addUser(`${role}@example.com`, 'member')
    app.ctx.db.sqlite.query('INSERT INTO permissions VALUES (?, ?, ?, 0)').run(projectId, userId, role)
  }
  app.ctx.db.writes += 1
})
afterAll(() => app.close())

async function visit(as: string | null, headers: Record<string, string> = HTML, path = '/') {
  const cookie = as === null ? undefined : await signIn(as)
  return app.call('GET', path, {
    host: HOST,
    headers: { ...headers, ...(cookie === undefined ? {} : { cookie }) },
  })
}

/** On a site host the workspace's cookie is sent as well. */
const signIn = (email: string) => app.cookieOf(email)
const setProject = (json: object) => app.call('PATCH', `/api/projects/${projectId}`, { as: SEED_OWNER, json })
const setAlias = (json: object) => app.call('PATCH', `/api/aliases/${aliasId}`, { as: SEED_OWNER, json })

describe('a private site', () => {
  const rows: [as: string | null, headers: Record<string, string>, status: number][] = [
    [null, HTML, 404],
    [null, { accept: '*/*' }, 404],
    ['stranger@example.com', HTML, 403],
    ['stranger@example.com', { accept: 'application/json' }, 403],
    ['guest@example.com', HTML, 200],
    ['viewer@example.com', HTML, 200],
    [SEED_OWNER, HTML, 200],
    ['root@example.com', HTML, 200],
  ]
  test.each(rows)('%p with %p gets %p', async (as, headers, status) => {
    expect((await visit(as, headers)).status).toBe(status)
  })

  test('is private to caches', async () => {
    const page = await visit('guest@example.com')
    expect(page.headers.get('cache-control')).toBe('private, max-age=0, must-revalidate')
    expect(page.headers.get('vary')).toBe('Cookie')
    const script = await visit('guest@example.com', { 'accept-encoding': 'br' }, '/app.js')
    expect(script.headers.get('vary')).toBe('Accept-Encoding, Cookie')
  })

  test('is not shown to pages of sibling sites, which send the cookie too', async () => {
    const script = await visit('guest@example.com', {}, '/app.js')
    expect(script.headers.get('cross-origin-resource-policy')).toBe('same-origin')
  })

  test('tells a stranger which account was rejected and where the hub is', async () => {
    const page = await visit('stranger@example.com')
    const body = await page.text()
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(body).toContain('stranger@example.com')
    expect(body).toContain('http://localhost:3000/account')
  })

  test('tells a program in JSON', async () => {
    const answer = await visit('stranger@example.com', { accept: 'application/json' })
    expect(await answer.json()).toEqual({
      statusCode: 403,
      message: expect.stringMatching(/^stranger@example\.com .* http:\/\/localhost:3000\/account\.$/),
      error: 'Forbidden',
    })
  })

  test('gives an anonymous visitor the same response for existing and missing files', async () => {
    const [there, missing] = [await visit(null, HTML, '/'), await visit(null, HTML, '/nothing')]
    // The way to sign in leads back to the address that was asked for.
    expect(await there.text()).toBe((await missing.text()).replace('%2Fnothing', '%2F'))
    expect((await visit('stranger@example.com', HTML, '/nothing')).status).toBe(403)
  })

  test('gives an anonymous visitor the response of a host without a site, with a sign-in link', async () => {
    const nowhere = 'production--nothing--acme.localhost'
    const seen = async (host: string) => {
      const answer = await app.call('GET', '/a/b?c=1', { host, headers: HTML })
      const { date: _, ...headers } = Object.fromEntries(answer.headers)
      return { status: answer.status, headers, html: (await answer.text()).replaceAll(host, 'HOST') }
    }
    const hidden = await seen(HOST)
    expect(hidden).toEqual(await seen(nowhere))
    const wayIn = /href="([^"]+\/signin[^"]+)"/.exec(hidden.html)?.[1] ?? ''
    expect(new URL(wayIn).searchParams.get('redirect')).toBe('http://HOST:3000/a/b?c=1')
  })

  test('rejects before checking the method', async () => {
    expect((await app.call('POST', '/', { host: HOST })).status).toBe(404)
  })

  test.each(['not-a-key', ''])('an invalid API key %p counts as anonymous', async (key) => {
    expect((await app.call('GET', '/', { host: HOST, headers: { 'x-api-key': key } })).status).toBe(404)
  })
})

describe('the required role', () => {
  afterAll(() => setProject({ requiredRole: 'guest' }))

  const rows: [required: string, allowed: string[]][] = [
    ['viewer', ['viewer', 'contributor', 'admin']],
    ['admin', ['admin']],
    ['owner', []],
  ]
  test.each(rows)('%s', async (requiredRole, allowed) => {
    await setProject({ requiredRole })
    const seen: string[] = []
    for (const role of ROLES) if ((await visit(`${role}@example.com`)).status === 200) seen.push(role)
    expect(seen).toEqual(allowed)
    expect((await visit('root@example.com')).status).toBe(200)
    expect((await visit(SEED_OWNER)).status).toBe(200)
  })

  test('of the alias overrides that of the project', async () => {
    await setProject({ requiredRole: 'guest' })
    await setAlias({ requiredRole: 'contributor' })
    expect((await visit('viewer@example.com')).status).toBe(403)
    await setAlias({ requiredRole: null })
    expect((await visit('viewer@example.com')).status).toBe(200)
  })
})

test('an alias may be public where its project is private, and the other way round', async () => {
  await setAlias({ isPublic: true })
  expect((await visit(null)).status).toBe(200)
  expect((await app.call('GET', '/', { host: HOST.replace('production', SHA.slice(0, 12)) })).status).toBe(
    404,
  )
  await setProject({ isPublic: true })
  await setAlias({ isPublic: false })
  expect((await visit(null)).status).toBe(404)
  await setAlias({ isPublic: null })
  expect((await visit(null)).status).toBe(200)
  await setProject({ isPublic: false })
  expect((await visit(null)).status).toBe(404)
})

describe('the answer login', () => {
  beforeAll(() => setProject({ privateSiteResponse: 'login' }))
  afterAll(() => setProject({ privateSiteResponse: null }))

  test('redirects a browser to sign in, and back', async () => {
    const answer = await visit(null, HTML, '/deep?a=1&b=2')
    const back = encodeURIComponent(`http://${HOST}:3000/deep?a=1&b=2`)
    expect([answer.status, answer.headers.get('location')]).toEqual([
      302,
      `http://localhost:3000/signin?redirect=${back}`,
    ])
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('is 401 for anything else', async () => {
    expect((await visit(null, { accept: '*/*' })).status).toBe(401)
    expect((await visit(null, { accept: 'text/html', 'sec-fetch-mode': 'cors' })).status).toBe(401)
    expect((await visit(null, { accept: 'text/html', 'sec-fetch-dest': 'empty' })).status).toBe(401)
  })

  test.each([{ 'sec-fetch-dest': 'document' }, { 'sec-fetch-mode': 'navigate' }])(
    'treats %p alone as a navigation, whatever it accepts',
    async (headers) => {
      expect((await visit(null, { accept: '*/*', ...headers })).status).toBe(302)
      const refused = await visit('stranger@example.com', { accept: '*/*', ...headers })
      expect([refused.status, refused.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
    },
  )

  test('changes nothing for /public', async () => {
    expect((await app.call('GET', '/public/acme/secret/production/', { headers: HTML })).status).toBe(404)
  })
})

describe('the membership gate', () => {
  const lone = async () => {
    const gated = await testApp({ FEATURE_REQUIRE_PROJECT_MEMBERSHIP: 'true' })
    await seedDeployment(gated, {
      owner: 'acme',
      repo: 'secret',
      sha: SHA,
      alias: 'production',
      isPublic: false,
      files: { 'index.html': 'secret' },
    })
    await gated.addUser('root@example.com', 'admin')
    return gated
  }

  test('rejects even a global admin, and says so', async () => {
    const gated = await lone()
    const cookie = await gated.cookieOf('root@example.com')
    const answer = await gated.call('GET', '/', { host: HOST, headers: { ...HTML, cookie } })
    expect(answer.status).toBe(403)
    expect(await answer.text()).toContain('root@example.com')
    gated.close()
  })

  test('does not apply on the admin host', async () => {
    const gated = await lone()
    const answer = await gated.call('GET', `/repo/acme/secret/${SHA}/`, { as: 'root@example.com' })
    expect(answer.status).toBe(200)
    gated.close()
  })

  test('lets a member in', async () => {
    const gated = await lone()
    const signedIn = await gated.call('POST', '/api/auth/signin', {
      host: HOST,
      json: { email: SEED_OWNER, password: PASSWORD },
    })
    const answer = await gated.call('GET', '/', { host: HOST, headers: { cookie: cookieHeader(signedIn) } })
    expect(answer.status).toBe(200)
    gated.close()
  })
})
