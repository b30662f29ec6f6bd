import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { noCertificates } from '../../src/platform/certificates.ts'
import { type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf } from '../testing/browser.ts'

/** The project's health cell in the list of projects. */

let app: TestApp
let browser: Browser
let site: Seeded
let viewer: string

const SITE = { owner: 'acme', repo: 'shop', files: { 'index.html': 'shop' } }

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  site = await seedDeployment(app, { ...SITE, sha: 'a'.repeat(40), alias: 'production' })
  viewer = await seedMember(app, site.projectId, 'viewer')
})
afterAll(() => app.close())

async function healthShown(as = ADMIN): Promise<string> {
  const html = await (await browser.open('/?view=list', { as })).text()
  const [, row = ''] = html.split('<tbody')
  return row.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

const addDomain = (hostname: string) =>
  app.call('POST', '/api/domains', {
    as: ADMIN,
    json: { projectId: site.projectId, hostname, alias: 'production' },
  })

describe('the health of a project', () => {
  test('is good when its newest deployment is live', async () => {
    expect(await healthShown()).toContain('Good')
  })

  test('a project without a deployment has none', async () => {
    await app.call('POST', '/api/projects', { as: ADMIN, json: { owner: 'acme', name: 'bare' } })
    const html = await (await browser.open('/?q=bare', { as: ADMIN })).text()
    expect(html).not.toContain('>Good<')
  })

  test('names what needs attention, each cause once, and leads there', async () => {
    expect((await addDomain('shop.example.com')).status).toBe(201)
    expect((await addDomain('www.example.com')).status).toBe(201)
    expect(await healthShown()).toContain('Good')
    app.advance(2 * 60 * 60 * 1000)
    const shown = await healthShown()
    expect(shown.match(/Domain not verified/g)).toHaveLength(1)
    expect(shown).not.toContain('Good')
    expect(shown).not.toContain('Certificate missing')
    await addDomain('shop.localhost')
    app.ctx.certificates = {
      ...noCertificates,
      stateOf: () => ({ status: 'failed', expiresAt: null, error: 'refused' }),
    }
    expect(await healthShown()).toContain('Certificate missing')
    const html = await (await browser.open('/?view=list', { as: ADMIN })).text()
    expect(html).toMatch(
      new RegExp(`<td[^>]*><div><a href="/projects/${site.projectId}/domains/[^"]+"><span`),
    )
  })

  test('abuse: people who may only view the site learn nothing about it', async () => {
    const guest = await seedMember(app, site.projectId, 'guest')
    expect((await browser.open('/', { as: guest })).status).toBe(303)
    const shown = await (await browser.open('/account', { as: guest })).text()
    for (const said of ['Domain not verified', 'Certificate missing', 'Good'])
      expect(shown).not.toContain(said)
  })

  test('tells of failures of the last day, for people who may see analytics', async () => {
    const { projectId } = site
    app.ctx.requestLog.take({
      at: app.ctx.now(),
      projectId,
      method: 'GET',
      host: 'production--shop--acme.localhost',
      path: '/api/x',
      status: 502,
      durationMs: 1,
      sizeBytes: 10,
      referrer: null,
      linkedFrom: null,
      userAgent: 'curl',
      address: '192.0.2.1',
      isPage: false,
      weight: 1,
    })
    expect(await healthShown()).toContain('Failed requests')
    expect(await healthShown(viewer)).not.toContain('Failed requests')
    expect(await healthShown(viewer)).toContain('Domain not verified')
    // They are not counted after a day, or if the clock was a day ahead.
    for (const hours of [26, -26 - 26]) {
      app.advance(hours * 60 * 60 * 1000)
      expect(await healthShown()).not.toContain('Failed requests')
    }
  })
})
