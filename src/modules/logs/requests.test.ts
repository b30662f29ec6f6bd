import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY_MS } from '../../domain/durations.ts'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { stopAfter } from '../../testing/stop-after.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { removeOldLogs } from './requests.ts'
import { endTails } from './tail.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

let app: TestApp
let projectId: string
let host: string

beforeEach(async () => {
  app = await testApp()
  await app.addUser('root@example.com', 'admin')
  await app.addUser('ann@example.com')
  const files = { 'index.html': '<h1>Docs</h1>', 'app.js': 'x'.repeat(2000) }
  const seeded = await seedDeployment(app, { owner: 'acme', repo: 'docs', sha: 'a'.repeat(40), files })
  projectId = seeded.projectId
  host = seeded.host
})
afterEach(() => app.close())

const visit = (path: string, headers: Record<string, string> = {}, from = '203.0.113.77') =>
  app.call('GET', path, { host, from, headers: { 'user-agent': FIREFOX, ...headers } })

const list = async (query = '') =>
  (await ask(app, 'GET', `/api/logs${query}`, { as: 'root@example.com' })).body

const rows = async (query = '') => (await list(query))['data'] as Record<string, unknown>[]

test('a request, without its address, query, cookies and keys', async () => {
  await visit('/app.js?token=hunter2', {
    referer: 'https://news.example/some/private/page?q=secret',
    cookie: 'sAccessToken=abc123',
    authorization: 'Bearer tops3cret',
  })
  const [row] = await rows(`?projectId=${projectId}`)
  expect(row).toEqual({
    id: expect.stringMatching(/^\d+$/),
    at: '2026-11-20T12:00:00.000Z',
    projectId,
    method: 'GET',
    host,
    path: '/app.js',
    status: 200,
    durationMs: expect.any(Number),
    sizeBytes: 2000,
    referrer: 'news.example',
    userAgent: FIREFOX,
    bot: null,
    visitor: expect.stringMatching(/^[0-9a-f]{16}$/),
    weight: 1,
  })
  const stored = JSON.stringify(app.ctx.requestLog.db.sqlite.query('SELECT * FROM requests').all())
  expect(stored).not.toMatch(/203\.0\.113\.77|hunter2|abc123|tops3cret|private/)
})

test('a token in a path is in no log', async () => {
  const loud = await testApp({ LOG_LEVEL: 'info' })
  await loud.addUser('root@example.com', 'admin')
  await loud.call('GET', '/api/invitations/very-secret-token')
  await loud.call('POST', '/api/invitations/very-secret-token/accept')
  const mistyped = [
    '//api/invitations/',
    '/API/invitations/',
    '/api/%69nvitations/',
    '/api//invitations%2f%zz',
  ]
  for (const path of mistyped) await loud.call('GET', `${path}very-secret-token`)
  const { body } = await ask(loud, 'GET', '/api/logs', { as: 'root@example.com' })
  const paths = (body['data'] as { path: string }[]).map(({ path }) => path)
  expect(paths).toContain('/api/invitations/[token]')
  expect(paths).toContain('/api/invitations/[token]/accept')
  expect(JSON.stringify(body) + loud.lines.join('')).not.toContain('very-secret-token')
  loud.close()
})

test('filters, order and pages', async () => {
  await visit('/')
  await visit('/gone', { accept: 'text/plain' })
  app.advance(1000)
  await visit('/app.js', { 'user-agent': 'Googlebot/2.1' })
  await app.call('GET', '/public/acme/docs/aaaaaaa/app.js')
  const paths = async (query: string) =>
    (await rows(`?projectId=${projectId}&${query}`)).map(({ path }) => path)
  expect(await paths('')).toEqual(['/public/acme/docs/aaaaaaa/app.js', '/app.js', '/gone', '/'])
  expect(await paths('order=asc&limit=1&page=2')).toEqual(['/gone'])
  expect(await paths('status=404')).toEqual(['/gone'])
  expect(await paths('status=4xx')).toEqual(['/gone'])
  expect(await paths('path=/ap')).toEqual(['/app.js'])
  expect(await paths(`host=${host.toUpperCase()}&bots=true`)).toEqual(['/app.js'])
  expect(await paths('bots=false&to=2026-11-20T12:00:00.500Z')).toEqual(['/gone', '/'])
  expect(await paths('from=2026-11-20T12:00:01.000Z&method=get')).toHaveLength(2)
  expect(await paths('method=POST')).toEqual([])
  const { pagination } = await list(`?projectId=${projectId}&limit=3`)
  expect(pagination).toEqual({ page: 1, limit: 3, total: 4, pages: 2 })
  for (const query of ['?status=4', '?status=9xx', '?bots=maybe', '?from=now', '?sort=path'])
    expect((await ask(app, 'GET', `/api/logs${query}`, { as: 'root@example.com' })).status).toBe(400)
})

test('is for global admins', async () => {
  for (const path of ['/api/logs', '/api/logs/tail', '/api/storage', '/api/backups', '/api/analytics']) {
    expect((await ask(app, 'GET', path)).status).toBe(401)
    expect((await ask(app, 'GET', path, { as: 'ann@example.com' })).status).toBe(403)
  }
})

test('the tail shows new requests that match, and missed ones', async () => {
  await visit('/')
  const [known] = await rows(`?projectId=${projectId}`)
  await visit('/gone', { accept: 'text/plain' })
  const answer = await app.call('GET', `/api/logs/tail?projectId=${projectId}&after=${known?.['id']}`, {
    as: 'root@example.com',
  })
  expect(answer.headers.get('content-type')).toStartWith('text/event-stream')
  await visit('/app.js')
  await app.call('GET', '/api/health')
  app.ctx.requestLog.flush()
  endTails(app.ctx)
  const text = await answer.text()
  const shown = [...text.matchAll(/^id: (\d+)\nevent: request\ndata: (.*)\n\n/gm)]
  expect(shown.map(([, , data]) => JSON.parse(data ?? '').path)).toEqual(['/gone', '/app.js'])
  expect(shown.map(([, id, data]) => [id, JSON.parse(data ?? '').id])).toEqual(
    shown.map(([, id]) => [id, id ?? '']),
  )
})

test.each<[what: string, end: (email: string, id: string) => Promise<Response>]>([
  [
    'is no administrator anymore',
    (_email, id) =>
      app.call('PATCH', `/api/users/${id}`, { as: 'root@example.com', json: { role: 'member' } }),
  ],
  ['signed out', (email) => app.call('POST', '/api/auth/signout', { as: email })],
  ['was deleted', (_email, id) => app.call('DELETE', `/api/users/${id}`, { as: 'root@example.com' })],
])('the tail ends before the next request when its reader %s', async (_what, end) => {
  const email = 'second@example.com'
  const id = await app.addUser(email, 'admin')
  const answer = await app.call('GET', '/api/logs/tail', { as: email })
  await visit('/before')
  app.ctx.requestLog.flush()
  expect((await end(email, id)).ok).toBe(true)
  await visit('/after')
  app.ctx.requestLog.flush()
  const text = await answer.text()
  expect(text).toContain('/before')
  expect(text).not.toContain('/after')
})

test.each([
  ['0', true],
  ['', false],
  ['-1', false],
  ['many', false],
])('after %p everything is missed: %p', async (after, isMissed) => {
  await visit('/seen-before')
  const answer = await app.call('GET', `/api/logs/tail?after=${after}`, { as: 'root@example.com' })
  endTails(app.ctx)
  expect((await answer.text()).includes('/seen-before')).toBe(isMissed)
})

test('a reader who disconnects is removed, and too many are refused', async () => {
  const watch = () => app.call('GET', '/api/logs/tail', { as: 'root@example.com' })
  const first = await watch()
  for (let i = 1; i < 20; i++) expect((await watch()).status).toBe(200)
  expect((await watch()).status).toBe(429)
  await first.body?.cancel()
  expect((await watch()).status).toBe(200)
  endTails(app.ctx)
})

test('old requests are removed, sums stay, and both are deleted with their project', async () => {
  const count = (table: string) =>
    app.ctx.requestLog.db.sqlite
      .query<{ n: number }, [string]>(`SELECT count(*) AS n FROM ${table} WHERE project_id = ?`)
      .get(projectId)?.n
  await visit('/')
  await removeOldLogs(app.ctx)
  expect([count('requests'), count('hours')]).toEqual([1, 1])
  app.advance(8 * DAY_MS)
  await removeOldLogs(app.ctx)
  expect([count('requests'), count('hours'), count('visitors')]).toEqual([0, 1, 0])
  await visit('/')
  expect((await ask(app, 'DELETE', `/api/projects/${projectId}`, { as: 'root@example.com' })).status).toBe(
    204,
  )
  await removeOldLogs(app.ctx)
  expect([count('requests'), count('hours'), count('days')]).toEqual([0, 0, 0])
})

test('a project with many counts is deleted from the log in steps, and the next run continues', async () => {
  const gone = app.ctx.newId()
  const { sqlite } = app.ctx.requestLog.db
  const numbers =
    'WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 4500)'
  sqlite
    .query(`INSERT INTO hours ${numbers} SELECT ?, ? - i * 3600000, 1, 0, 0, 0, 0, 0, 0 FROM numbers`)
    .run(gone, app.ctx.now())
  sqlite.query(`INSERT INTO days ${numbers} SELECT ?, ?, 'page', i, 1 FROM numbers`).run(gone, app.ctx.now())
  await visit('/')
  const left = (table: string, id = gone) =>
    sqlite.query<{ n: number }, [string]>(`SELECT count(*) AS n FROM ${table} WHERE project_id = ?`).get(id)
      ?.n
  await removeOldLogs(app.ctx, stopAfter(4))
  expect(left('days')).toBeGreaterThan(0)
  expect(left('days')).toBeLessThan(4500)
  expect(left('hours')).toBe(4500)
  await removeOldLogs(app.ctx)
  expect([left('days'), left('hours')]).toEqual([0, 0])
  expect(left('hours', projectId)).toBe(1)
})

test('requests after the clock was set back stay, and old ones are removed', async () => {
  const paths = () =>
    app.ctx.requestLog.db.sqlite
      .query<{ path: string }, [string]>('SELECT path FROM requests WHERE project_id = ? ORDER BY id')
      .all(projectId)
      .map(({ path }) => path)
  await visit('/?today')
  app.advance(-300 * DAY_MS)
  await visit('/app.js')
  app.advance(300 * DAY_MS)
  await visit('/index.html')
  await removeOldLogs(app.ctx)
  expect(paths()).toEqual(['/', '/index.html'])
})

test('without retention no single request is kept', async () => {
  const silent = await testApp({ LOG_RETENTION_DAYS: '0' })
  await silent.addUser('root@example.com', 'admin')
  await silent.call('GET', '/api/health')
  expect((await ask(silent, 'GET', '/api/logs', { as: 'root@example.com' })).body['data']).toEqual([])
  const sums = (await ask(silent, 'GET', '/api/analytics', { as: 'root@example.com' })).body['totals']
  expect(sums).toMatchObject({ requests: expect.any(Number) })
  silent.close()
})
