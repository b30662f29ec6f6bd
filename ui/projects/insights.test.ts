import { afterAll, beforeAll, expect, test } from 'bun:test'
import { HOUR_MS } from '../../src/domain/durations.ts'
import { type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
let site: Seeded
let viewer: string

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  site = await seedDeployment(app, {
    ...{ owner: 'acme', repo: 'shop', sha: 'a'.repeat(40), alias: 'production' },
    files: { 'index.html': 'shop' },
  })
  viewer = await seedMember(app, site.projectId, 'viewer')
  app.ctx.requestLog.take({
    ...{ at: app.ctx.now(), projectId: site.projectId, method: 'GET', host: 'shop.localhost' },
    ...{ path: '/api/<b>', status: 502, durationMs: 12, sizeBytes: 1, referrer: 'news.example' },
    ...{ linkedFrom: null, userAgent: 'Firefox/145', address: '192.0.2.1', isPage: false, weight: 1 },
  })
})
afterAll(() => app.close())

const read = async (path: string, as = ADMIN) => (await browser.open(path, { as })).text()

test('Errors: what failed, with its newest requests', async () => {
  const html = await read(`/projects/${site.projectId}/errors`)
  expect(html).toContain('<h1>Errors</h1>')
  expect(html).toContain('Failing paths')
  expect(html).toContain('<code>GET /api/&lt;b></code>')
  expect(html).toContain('news.example')
  expect(await read(`/projects/${site.projectId}/errors?status=4xx&days=30`)).toContain('No errors')
})

test('Requests: those of the project, filtered by its fields', async () => {
  const html = await read(`/projects/${site.projectId}/requests?status=502`)
  expect(html).toContain('<h1>Requests</h1>')
  expect(html).toContain('GET /api/&lt;b>')
  expect(html).toContain(`data-href="/api/projects/${site.projectId}/logs/tail?status=502"`)
  const wrong = await browser.open(`/projects/${site.projectId}/requests?status=many`, { as: ADMIN })
  expect(wrong.status).toBe(400)
})

test('the page of all requests starts with those of sites', async () => {
  expect(await read('/admin/logs')).not.toContain('/admin/logs</code>')
  expect(await read('/admin/logs?place=admin')).toContain('<code>GET /admin/logs</code>')
})

test('Needs attention: on home and on the overview, for who may open what it leads to', async () => {
  const href = `href="/projects/${site.projectId}/errors"`
  for (const path of ['/', `/projects/${site.projectId}`]) {
    const html = await read(path)
    expect(html).toContain('>Needs attention</h2>')
    expect(html).toContain(href)
    expect(await read(path, viewer)).not.toContain('Needs attention')
  }
  expect(await read('/')).toContain('1 thing needs attention')
  app.advance(26 * HOUR_MS)
  app.signInAgain()
  expect(await read('/')).not.toContain('Needs attention')
})
