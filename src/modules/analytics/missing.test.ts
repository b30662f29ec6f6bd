import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openLogsDb } from '../../db/logs-db.ts'
import type { Observed } from '../../db/request-log/row.ts'
import { RequestLogStore } from '../../db/request-log/store.ts'
import { ask } from '../../testing/ask.ts'
import { SEED_OWNER, type Seeded, seedDeployment } from '../../testing/seed.ts'
import { seedMember } from '../../testing/seed-people.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

let app: TestApp
let site: Seeded
let host = ''
beforeAll(async () => {
  app = await testApp()
  const files = {
    'index.html': 'home',
    'about.html': 'about',
    'docs/install/index.html': 'install',
    '404.html': 'none',
  }
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files,
  })
  host = site.aliasHost ?? ''
  for (let i = 0; i < 3; i++) await visit('/About.htm', { referer: `http://${host}/index%2Ehtml?q=1#x` })
  await visit('/About.htm', { referer: 'https://www.search.example/find?q=secret' })
  await visit('/About.htm', { referer: `http://${site.host}/docs/install/` })
  await visit('/guide/install')
  await visit('/guide/install')
  await visit('/a%20b/*:c%2Fd', { referer: 'not an address' })
  await visit('/bot', { 'user-agent': 'curl/8.5' })
  await visit('/about')
})
afterAll(() => app.close())

const visit = (path: string, headers: Record<string, string> = {}) =>
  app.call('GET', path, { host, headers: { 'user-agent': FIREFOX, ...headers } })

type Missing = {
  path: string
  requests: number
  referrers: object[]
  nearest: string | null
  resolved: boolean
}
async function missing(query = '', as = SEED_OWNER): Promise<Missing[]> {
  const { status, body } = await ask(app, 'GET', `/api/projects/${site.projectId}/missing${query}`, { as })
  expect(status).toBe(200)
  return body['missing'] as Missing[]
}

test('what people asked for in vain, most requested first, who links there, and what is nearest', async () => {
  expect(await missing()).toEqual([
    {
      path: '/About.htm',
      requests: 5,
      referrers: [
        { from: '/index.html', requests: 3 },
        { from: '/docs/install/', requests: 1 },
        { from: 'www.search.example', requests: 1 },
      ],
      nearest: '/about',
      resolved: false,
    },
    { path: '/guide/install', requests: 2, referrers: [], nearest: '/docs/install/', resolved: false },
    { path: '/a b/*:c%2Fd', requests: 1, referrers: [], nearest: null, resolved: false },
  ])
  expect((await missing('?limit=1')).map(({ path }) => path)).toEqual(['/About.htm'])
  expect(await missing('?from=2026-11-01&to=2026-11-02')).toEqual([])
})

test('the nearest page in its clean form, as the project spells it', async () => {
  const settle = (htmlHandling: string | null) =>
    ask(app, 'PATCH', `/api/projects/${site.projectId}`, { as: SEED_OWNER, json: { htmlHandling } })
  await settle('force-trailing-slash')
  expect((await missing()).map(({ nearest }) => nearest)).toEqual(['/about/', '/docs/install/', null])
  await settle('none')
  expect((await missing()).map(({ nearest }) => nearest)).toEqual([
    '/about.html',
    '/docs/install/index.html',
    null,
  ])
  await settle(null)
})

test('what is answered since leaves the list, but for all=true', async () => {
  const rule = { proxyType: 'redirect', pathPattern: '/guide/*', targetUrl: '/docs/:splat/' }
  const made = await ask(app, 'POST', `/api/proxy-rules/project/${site.projectId}`, {
    as: SEED_OWNER,
    json: rule,
  })
  expect((await missing()).map(({ path }) => path)).toEqual(['/About.htm', '/a b/*:c%2Fd'])
  expect((await missing('?all=true')).map(({ path, resolved }) => [path, resolved])).toEqual([
    ['/About.htm', false],
    ['/guide/install', true],
    ['/a b/*:c%2Fd', false],
  ])
  await ask(app, 'DELETE', `/api/proxy-rules/${made.body['id']}`, { as: SEED_OWNER })
  expect(await missing()).toHaveLength(3)
})

test('on a private site the gate is not asked', async () => {
  const settle = (isPublic: boolean) =>
    ask(app, 'PATCH', `/api/projects/${site.projectId}`, { as: SEED_OWNER, json: { isPublic } })
  await settle(false)
  const rule = { proxyType: 'redirect', pathPattern: '/guide/*', targetUrl: '/docs/:splat/' }
  const made = await ask(app, 'POST', `/api/proxy-rules/project/${site.projectId}`, {
    as: SEED_OWNER,
    json: rule,
  })
  expect((await missing()).map(({ path }) => path)).not.toContain('/guide/install')
  await ask(app, 'DELETE', `/api/proxy-rules/${made.body['id']}`, { as: SEED_OWNER })
  await settle(true)
})

test.each(['?limit=0', '?limit=101', '?all=yes', '?from=x', '?from=2026-11-20&to=2026-11-19'])(
  '%s is 400',
  async (query) => {
    const { status } = await ask(app, 'GET', `/api/projects/${site.projectId}/missing${query}`, {
      as: SEED_OWNER,
    })
    expect(status).toBe(400)
  },
)

test('for project admins; a project of that name is still found', async () => {
  const contributor = await seedMember(app, site.projectId, 'contributor')
  const path = `/api/projects/${site.projectId}/missing`
  expect((await ask(app, 'GET', path, { as: contributor })).status).toBe(403)
  const admin = await seedMember(app, site.projectId, 'admin')
  expect((await ask(app, 'GET', path, { as: admin })).status).toBe(200)
  await seedDeployment(app, { owner: 'acme', repo: 'missing', sha: 'b'.repeat(40), files: { 'a.txt': 'a' } })
  const named = await ask(app, 'GET', '/api/projects/acme/missing', { as: SEED_OWNER })
  expect(named.body).toMatchObject({ owner: 'acme', name: 'missing' })
})

test('without production nothing is nearest and nothing resolved', async () => {
  const other = await seedDeployment(app, {
    owner: 'acme',
    repo: 'other',
    sha: 'c'.repeat(40),
    alias: 'staging',
    files: { 'about.html': 'x' },
  })
  await app.call('GET', '/about/', { host: other.aliasHost ?? '', headers: { 'user-agent': FIREFOX } })
  const { body } = await ask(app, 'GET', `/api/projects/${other.projectId}/missing`, { as: SEED_OWNER })
  expect(body['missing']).toEqual([
    { path: '/about/', requests: 1, referrers: [], nearest: null, resolved: false },
  ])
})

test('links are bounded per project and day', () => {
  const db = openLogsDb(':memory:')
  const store = new RequestLogStore(db, false)
  const row = (projectId: string, linkedFrom: string): Observed => ({
    at: 0,
    projectId,
    method: 'GET',
    host: 'a.example',
    path: '/gone',
    status: 404,
    durationMs: 1,
    sizeBytes: null,
    referrer: null,
    linkedFrom,
    userAgent: FIREFOX,
    address: '203.0.113.1',
    isPage: false,
    weight: 1,
  })
  for (let round = 0; round < 5; round++)
    store.write(Array.from({ length: 500 }, (_, i) => row('p', `h${round}-${i}.example`)))
  store.write([row('p', 'h0-0.example'), row('q', 'h.example')])
  const count = (sql: string) => db.sqlite.query<{ n: number }, []>(`SELECT ${sql} AS n FROM links`).get()?.n
  expect([count("count(*) FILTER (WHERE project_id = 'p')"), count('count(*)'), count('max(count)')]).toEqual(
    [2000, 2001, 2],
  )
  db.close()
})
