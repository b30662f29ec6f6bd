import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Observed } from '../../db/request-log/row.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { seedMember } from '../../testing/seed-people.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { findFailures } from './failures.ts'

const ROOT = 'root@example.com'
let app: TestApp
let projectId: string
let viewer: string

beforeAll(async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  const files = { 'index.html': 'home', 'wall/index.html': 'wall', 'about.html': 'about' }
  const seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'shop',
    sha: 'a'.repeat(40),
    alias: 'production',
    files,
  })
  projectId = seeded.projectId
  viewer = await seedMember(app, projectId, 'viewer')
  app.advance(30 * 24 * HOUR_MS)
  log({ path: '/api/pay', method: 'POST', status: 502 })
  for (let i = 0; i < 7; i++) {
    app.advance(1000)
    log({ path: i % 2 === 0 ? '/caf%C3%A9' : '/café', status: 500, userAgent: `agent ${i}` })
  }
  log({ path: '/gone', status: 404 })
  log({ path: '/old', status: 503, at: app.ctx.now() - 25 * HOUR_MS })
  log({ path: '/elsewhere', status: 500, projectId: null })
})
afterAll(() => app.close())

function log(row: Partial<Observed>): void {
  app.ctx.requestLog.take({
    ...{ at: app.ctx.now(), projectId, method: 'GET', host: 'production--shop--acme.localhost', path: '/' },
    ...{ status: 500, durationMs: 3, sizeBytes: 10, referrer: null, linkedFrom: null, userAgent: 'Firefox' },
    ...{ address: '192.0.2.1', isPage: false, weight: 1 },
    ...row,
  })
}

const errors = (query = '', as = ROOT) => ask(app, 'GET', `/api/projects/${projectId}/errors${query}`, { as })
const named = (body: Record<string, unknown>) =>
  (body['errors'] as { status: number; method: string; path: string; requests: number }[]).map(
    ({ status, method, path, requests }) => [status, method, path, requests],
  )

describe('GET /api/projects/:id/errors', () => {
  test('lists failures of a day by their plain path, most requests first, with the newest five', async () => {
    const { status, body } = await errors()
    expect(status).toBe(200)
    expect(named(body)).toEqual([
      [500, 'GET', '/café', 7],
      [502, 'POST', '/api/pay', 1],
    ])
    expect(body['total']).toBe(2)
    const [most] = body['errors'] as { lastAt: string; samples: Record<string, unknown>[] }[]
    expect(most?.samples.map(({ userAgent }) => userAgent)).toEqual([6, 5, 4, 3, 2].map((n) => `agent ${n}`))
    expect(most?.samples[0]).toEqual({
      id: expect.any(String),
      at: most?.lastAt,
      host: 'production--shop--acme.localhost',
      durationMs: 3,
      referrer: null,
      userAgent: 'agent 6',
    })
  })

  test.each([
    ['?status=4xx', [[404, 'GET', '/gone', 1]]],
    ['?status=502', [[502, 'POST', '/api/pay', 1]]],
    ['?status=all&limit=1', [[500, 'GET', '/café', 7]]],
    ['?status=499', []],
  ])('%s', async (query, expected) => {
    expect(named((await errors(query)).body)).toEqual(expected)
  })

  test('an earlier time is asked for by `from`', async () => {
    const from = new Date(app.ctx.now() - 26 * HOUR_MS).toISOString()
    expect(named((await errors(`?from=${from}`)).body)).toContainEqual([503, 'GET', '/old', 1])
  })

  test.each(['?status=200', '?status=x', '?limit=0', '?from=tomorrow', '?status=5xx;--'])(
    'refuses %s',
    async (query) => {
      expect((await errors(query)).status).toBe(400)
    },
  )

  test('abuse: a flood is looked at no further than asked', () => {
    const span = { projectId, from: 0, to: app.ctx.now() + 1, statuses: { from: 500, to: 599 } }
    const requests = (newest: number) =>
      findFailures(app.ctx, { ...span, newest }).reduce((sum, one) => sum + one.requests, 0)
    expect([requests(3), requests(100)]).toEqual([3, 9])
  })

  test('abuse: a viewer learns nothing', async () => {
    expect((await errors('', viewer)).status).toBe(403)
  })
})

describe('requests of a project', () => {
  test('are those of its own sites', async () => {
    const { body } = await ask(app, 'GET', `/api/projects/${projectId}/logs?status=500&projectId=none`, {
      as: ROOT,
    })
    const rows = body['data'] as { path: string; projectId: string }[]
    expect(rows).toHaveLength(7)
    expect(new Set(rows.map((row) => row.projectId))).toEqual(new Set([projectId]))
  })

  test.each([
    ['sites', true],
    ['admin', false],
  ])('place=%s', async (place, isOfProject) => {
    const { body } = await ask(app, 'GET', `/api/logs?status=500&limit=100&place=${place}`, { as: ROOT })
    const rows = body['data'] as { projectId: string | null }[]
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) expect(row.projectId !== null).toBe(isOfProject)
  })

  test('another place is refused', async () => {
    expect((await ask(app, 'GET', '/api/logs?place=both', { as: ROOT })).status).toBe(400)
  })
})

describe('canonical paths', () => {
  test('a page is one page at each of its addresses and in path forms', async () => {
    const host = 'production--shop--acme.localhost'
    const form = '/repo/acme/shop/alias/production'
    const sent: [string, string][] = [
      [host, '/wall/'],
      [host, '/wall/index.html'],
      [host, '/wall'],
      ['localhost', `${form}/wall/`],
      [host, '/about'],
      [host, '/about.html'],
    ]
    for (const [at, path] of sent)
      await app.call('GET', path, {
        host: at,
        as: ROOT,
        headers: { 'user-agent': 'Mozilla/5.0 Firefox/145.0' },
      })
    const { body } = await ask(app, 'GET', `/api/projects/${projectId}/analytics`, { as: ROOT })
    expect(body['pages']).toEqual([
      { path: '/wall/', views: 3 },
      { path: '/about', views: 2 },
    ])
  })
})

describe('CSV', () => {
  const csv = (table: string) =>
    app.call('GET', `/api/projects/${projectId}/analytics?format=csv&table=${table}`, { as: ROOT })

  test.each([
    ['pages', 'path,views'],
    ['referrers', 'host,views'],
    ['statuses', 'status,requests'],
    ['missing', 'path,requests'],
    ['series', 'at,views,visitors,requests,bots,bytes,notFound,errors'],
  ])('%s has a line of names', async (table, head) => {
    const answer = await csv(table)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toStartWith('text/csv')
    expect((await answer.text()).split('\r\n')[0]).toBe(head)
  })

  test('abuse: a path that a spreadsheet would run is text', async () => {
    log({ path: '=cmd()', status: 404, userAgent: 'Firefox' })
    expect(await (await csv('missing')).text()).toContain("\r\n'=cmd(),1\r\n")
  })

  test.each(['bots', '__proto__', ''])('refuses the table %p', async (table) => {
    expect((await csv(table)).status).toBe(400)
  })
})
