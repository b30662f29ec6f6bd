import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { SEED_OWNER, type Seeded, seedDeployment } from '../testing/seed.ts'
import { cookieHeader, PASSWORD, type TestApp, testApp } from '../testing/test-app.ts'

/** Recent access decisions are cached. Losing the right must take effect anyway. */

const ROOT = 'root@example.com'
const ANN = 'ann@example.com'
const HTML = { accept: 'text/html' }

let app: TestApp
let site: Seeded
let annId = ''
let groupId = ''
let cookie = ''

beforeEach(async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  annId = await app.addUser(ANN)
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'secret',
    sha: 'a'.repeat(40),
    alias: 'production',
    isPublic: false,
    files: { 'index.html': 'secret' },
  })
  const group = await app.call('POST', '/api/groups', { as: ROOT, json: { name: 'Team' } })
  groupId = (await group.json()).id
  cookie = await signIn()
})
afterEach(() => app.close())

async function signIn(): Promise<string> {
  const json = { email: ANN, password: PASSWORD }
  return cookieHeader(await app.call('POST', '/api/auth/signin', { json }))
}

const visit = async (headers: Record<string, string> = {}, host = site.aliasHost ?? '') =>
  app.call('GET', '/', { host, headers: { ...HTML, cookie, ...headers } })
const statusOf = async (headers?: Record<string, string>, host?: string) =>
  (await visit(headers, host)).status

const people = (path: string) => `/api/projects/${site.projectId}${path}`
const asRoot = (method: string, path: string, json?: unknown) => app.call(method, path, { as: ROOT, json })
const grant = (role = 'viewer') => asRoot('POST', people('/permissions/users'), { email: ANN, role })
const byGroup = async () => {
  await asRoot('POST', people('/permissions/groups'), { groupId, role: 'viewer' })
  await asRoot('POST', `/api/groups/${groupId}/members`, { userId: annId })
}
const asAnn = (method: string, path: string, json?: unknown) =>
  app.call(method, path, { headers: { cookie }, json })

type Row = { name: string; given?: () => Promise<unknown>; taken: () => Promise<unknown>; status: number }

const ROWS: Row[] = [
  { name: 'signing out', taken: () => asAnn('POST', '/api/auth/signout'), status: 404 },
  {
    name: 'a new password set by a link',
    taken: async () => {
      const { url } = await (await asRoot('POST', `/api/users/${annId}/reset-link`)).json()
      const token = new URL(url).searchParams.get('token')
      await app.call('POST', '/api/auth/reset-password', { json: { token, password: 'a better password' } })
    },
    status: 404,
  },
  { name: 'the account deleted', taken: () => asRoot('DELETE', `/api/users/${annId}`), status: 404 },
  { name: 'leaving', taken: () => asAnn('DELETE', `/api/account/sites/${site.projectId}`), status: 403 },
  {
    name: 'the role removed',
    taken: () => asRoot('DELETE', people(`/permissions/users/${annId}`)),
    status: 403,
  },
  { name: 'the member removed', taken: () => asRoot('DELETE', people(`/members/${annId}`)), status: 403 },
  {
    name: 'removed from the group',
    given: byGroup,
    taken: () => asRoot('DELETE', `/api/groups/${groupId}/members/${annId}`),
    status: 403,
  },
  {
    name: "the group's role removed",
    given: byGroup,
    taken: () => asRoot('DELETE', people(`/permissions/groups/${groupId}`)),
    status: 403,
  },
  {
    name: 'the gate closed on those without a membership',
    given: byGroup,
    taken: () => asRoot('PATCH', '/api/settings', { requireProjectMembership: true }),
    status: 403,
  },
  {
    name: 'a higher required role of the project',
    taken: () => asRoot('PATCH', `/api/projects/${site.projectId}`, { requiredRole: 'admin' }),
    status: 403,
  },
  {
    name: 'a higher required role of the alias',
    taken: () => asRoot('PATCH', `/api/aliases/${site.aliasId}`, { requiredRole: 'admin' }),
    status: 403,
  },
  {
    name: 'the project deleted',
    taken: () => asRoot('DELETE', `/api/projects/${site.projectId}`),
    status: 404,
  },
]

describe('a visitor who was let in is rejected at once after', () => {
  test.each(ROWS)('$name', async ({ given = grant, taken, status }) => {
    await given()
    for (let i = 0; i < 3; i++) expect(await statusOf()).toBe(200)
    await taken()
    expect(await statusOf()).toBe(status)
    expect(await statusOf()).toBe(status)
  })
})

test('a cached decision does not apply to another site or to an invalid key', async () => {
  await grant()
  const other = await seedDeployment(app, {
    owner: 'acme',
    repo: 'other',
    sha: 'b'.repeat(40),
    alias: 'production',
    isPublic: false,
    files: { 'index.html': 'other' },
  })
  for (let i = 0; i < 2; i++) {
    expect(await statusOf()).toBe(200)
    expect(await statusOf({}, other.aliasHost ?? '')).toBe(403)
    expect(await statusOf({ 'x-api-key': 'svc_wrong' })).toBe(404)
    expect(await statusOf({ cookie: cookie.replaceAll('=', '=x') })).toBe(404)
  }
})

test('what the admin host shows does not grant access to the site', async () => {
  await byGroup()
  await asRoot('PATCH', '/api/settings', { requireProjectMembership: true })
  const path = '/repo/acme/secret/alias/production/index.html'
  for (let i = 0; i < 2; i++) {
    expect((await app.call('GET', path, { headers: { cookie } })).status).toBe(200)
    expect(await statusOf()).toBe(403)
  }
})

test('the session is checked again every five minutes, and renewed when it expires', async () => {
  await grant()
  await visit()
  const seen = () =>
    app.ctx.db.sqlite
      .query<{ at: number }, [string]>('SELECT max(last_seen_at) AS at FROM sessions WHERE user_id = ?')
      .get(annId)?.at
  app.advance(5 * 60 * 1000 + 1)
  await visit()
  expect(seen()).toBe(app.ctx.now())
  app.advance(60 * 60 * 1000)
  const answer = await visit()
  expect([answer.status, answer.headers.getSetCookie().length]).toEqual([200, 2])
  app.advance(30 * 24 * 60 * 60 * 1000 + 1)
  expect(await statusOf()).toBe(404)
})

test('HEAD is treated like GET, and other methods do not reach the files', async () => {
  await grant()
  await visit()
  const ask = (method: string) =>
    app.call(method, '/', { host: site.aliasHost ?? '', headers: { ...HTML, cookie } })
  expect((await ask('HEAD')).status).toBe(200)
  expect((await ask('POST')).status).toBe(405)
  expect((await ask('HEAD')).headers.get('cache-control')).toBe('private, max-age=0, must-revalidate')
})

test('an added rule applies from the next request on', async () => {
  await grant()
  await visit()
  const rule = { pathPattern: '/', targetUrl: '/gone.html', proxyType: 'internal_rewrite' }
  await app.call('POST', `/api/proxy-rules/project/${site.projectId}`, { as: SEED_OWNER, json: rule })
  expect(await statusOf()).toBe(404)
})
