import { afterAll, beforeAll, expect, test } from 'bun:test'
import { HOUR_MS } from '../../domain/durations.ts'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

let app: TestApp
let projectId: string
let host: string

beforeAll(async () => {
  app = await testApp()
  await app.addUser('root@example.com', 'admin')
  const seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': '<h1>Docs</h1>', 'about.html': 'about us', 'app.js': 'x'.repeat(2000) },
  })
  projectId = seeded.projectId
  host = seeded.aliasHost ?? ''
  const visit = (path: string, from: string, headers: Record<string, string> = {}) =>
    app.call('GET', path, { host, from, headers: { 'user-agent': FIREFOX, ...headers } })

  await visit('/', '203.0.113.1', { referer: 'https://news.example/a?b' })
  await visit('/app.js', '203.0.113.1', { referer: `http://${host}/` })
  await visit('/about', '203.0.113.1', { referer: `http://${host}/` })
  await visit('/', '203.0.113.2', { referer: 'https://news.example/c' })
  await visit('/', '203.0.113.2', { 'sec-fetch-dest': 'iframe' })
  await visit('/', '203.0.113.2', { 'sec-purpose': 'prefetch;prerender' })
  await visit('/gone.png', '203.0.113.2')
  await visit('/', '203.0.113.3', { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' })
  await visit('/wp-login.php', '203.0.113.3', { 'user-agent': 'curl/8.5', accept: 'text/plain' })
  app.advance(25 * HOUR_MS)
  const etag = (await visit('/', '203.0.113.1')).headers.get('etag') ?? ''
  await visit('/', '203.0.113.1', { 'if-none-match': etag })
})
afterAll(() => app.close())

const get = async (query = '', path = `/api/projects/${projectId}/analytics`) =>
  ask(app, 'GET', `${path}${query}`, { as: 'root@example.com' })

test('requests of people, with bots separate', async () => {
  const { status, body } = await get()
  expect(status).toBe(200)
  expect(body['totals']).toEqual({
    views: 5,
    visitors: 3,
    requests: 11,
    bots: 2,
    // The service's own 404 page has no known length.
    bytes: 13 * 6 + 8 + 2000,
    notFound: 2,
    errors: 0,
  })
  expect(body['pages']).toEqual([
    { path: '/', views: 4 },
    { path: '/about', views: 1 },
  ])
  expect(body['referrers']).toEqual([{ host: 'news.example', views: 2 }])
  expect(body['missing']).toEqual([{ path: '/gone.png', requests: 1 }])
  expect(body['statuses']).toEqual([
    { status: 200, requests: 8 },
    { status: 404, requests: 2 },
    { status: 304, requests: 1 },
  ])
  expect(body['botNames']).toEqual([
    { name: 'curl', requests: 1 },
    { name: 'googlebot', requests: 1 },
  ])
})

test('by day, including days without a visit', async () => {
  const { body } = await get()
  const series = body['series'] as { at: string; views: number; visitors: number }[]
  expect([body['from'], body['to'], body['interval']]).toEqual([
    '2026-10-22T00:00:00.000Z',
    '2026-11-22T00:00:00.000Z',
    'day',
  ])
  expect(series).toHaveLength(31)
  expect(series.slice(-3).map(({ at, views, visitors }) => [at.slice(0, 10), views, visitors])).toEqual([
    ['2026-11-19', 0, 0],
    ['2026-11-20', 3, 2],
    ['2026-11-21', 2, 1],
  ])
})

test('by hour', async () => {
  const { body } = await get('?from=2026-11-20T11:30:00Z&to=2026-11-20T14:00:00Z')
  const series = body['series'] as { at: string; views: number }[]
  expect(body['interval']).toBe('hour')
  expect(series.map(({ at, views }) => [at.slice(11, 16), views])).toEqual([
    ['11:00', 0],
    ['12:00', 3],
    ['13:00', 0],
  ])
  expect((body['totals'] as { views: number }).views).toBe(3)
})

test('for the whole workspace', async () => {
  const { body } = await get('', '/api/analytics')
  const projects = body['projects'] as Record<string, unknown>[]
  expect(projects[0]).toMatchObject({ projectId, owner: 'acme', name: 'docs', views: 5, visitors: 3 })
  expect(projects[1]).toMatchObject({ projectId: null, owner: null, name: null })
  expect(body['pages']).toBeUndefined()
})

const refused = [
  '?from=tomorrow',
  '?from=2026-11-20&to=2026-11-19',
  '?interval=week',
  '?limit=0',
  '?limit=101',
  '?from=2020-01-01',
  '?interval=hour&from=2026-01-01',
]

test.each(refused)('%s is refused', async (query) => {
  const { status, body } = await get(query)
  expect(status).toBe(400)
  expect(body['details']).toHaveLength(1)
})

test('`limit` shortens the lists', async () => {
  expect((await get('?limit=1')).body['pages']).toEqual([{ path: '/', views: 4 }])
})

test('a page is counted under one address, however it was asked for', async () => {
  const wall = await seedDeployment(app, {
    owner: 'acme',
    repo: 'wall',
    sha: 'b'.repeat(40),
    alias: 'production',
    files: {
      'index.html': 'home',
      'wall/index.html': 'wall',
      'caf\u00e9 @/menu.html': 'menu',
      'xindex.html': 'x',
      '404.html': 'none',
    },
  })
  const paths = [
    ...[
      '/',
      '/index.html',
      '/%69ndex.html',
      '/wall/',
      '/wall/index.html',
      '/w%61ll/index%2Ehtml',
      '/xindex.html',
    ],
    ...['/caf%C3%A9%20@/menu.html', '/cafe%CC%81%20%40/menu.html', '/no%20where', '/no%20wher%65'],
  ]
  for (const path of paths)
    await app.call('GET', path, { host: wall.aliasHost ?? '', headers: { 'user-agent': FIREFOX } })
  const { body } = await get('', `/api/projects/${wall.projectId}/analytics`)
  expect(body['pages']).toEqual([
    { path: '/', views: 3 },
    { path: '/wall/', views: 3 },
    { path: '/caf\u00e9 @/menu', views: 2 },
    { path: '/xindex', views: 1 },
  ])
  expect(body['missing']).toEqual([{ path: '/no where', requests: 2 }])
})

test('a page with a long name is counted under one address too, and its row in the log is cut', async () => {
  const folder = Array.from({ length: 4 }, () => '\u65e5'.repeat(80)).join('/')
  const wiki = await seedDeployment(app, {
    owner: 'acme',
    repo: 'wiki',
    sha: 'c'.repeat(40),
    alias: 'production',
    files: { [`${folder}/index.html`]: 'page' },
  })
  const host = wiki.aliasHost ?? ''
  const path = `/${folder.split('/').map(encodeURIComponent).join('/')}`
  expect(path.length).toBeGreaterThan(2500)
  for (const spelled of [`${path}/`, `${path}/index.html`, `${path}/%69ndex.html`, `${path.toLowerCase()}/`])
    await app.call('GET', spelled, { host, headers: { 'user-agent': FIREFOX } })
  const { body } = await get('', `/api/projects/${wiki.projectId}/analytics`)
  expect(body['pages']).toEqual([{ path: `/${folder}/`, views: 4 }])
  const longest = 'SELECT max(length(path)) AS longest FROM requests'
  expect(app.ctx.requestLog.db.sqlite.query(longest).get()).toEqual({ longest: 1000 })
})

test('is for project admins; a project may be called analytics', async () => {
  for (const [role, status] of [
    ['viewer', 403],
    ['contributor', 403],
    ['admin', 200],
  ] as const) {
    const email = `${role}@example.com`
    await app.addUser(email)
    const grant = { email, role }
    await ask(app, 'POST', `/api/projects/${projectId}/permissions/users`, {
      as: 'root@example.com',
      json: grant,
    })
    expect((await ask(app, 'GET', `/api/projects/${projectId}/analytics`, { as: email })).status).toBe(status)
  }
  await ask(app, 'POST', '/api/projects', {
    as: 'root@example.com',
    json: { owner: 'acme', name: 'analytics' },
  })
  expect((await get('', '/api/projects/acme/analytics')).body).toMatchObject({
    owner: 'acme',
    name: 'analytics',
  })
})
