import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DAY_MS, MINUTE_MS } from '../../src/domain/durations.ts'
import { type AcmeApp, acmeApp } from '../../src/testing/acme-app.ts'
import { ask } from '../../src/testing/ask.ts'
import { type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { until } from '../../src/testing/until.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

const HOST = 'docs.sites.test'
const TRY_AGAIN = 'Try again now'

let world: AcmeApp
let browser: Browser
let site: Seeded
let path: string
let projectAdmin: string
let viewer: string

beforeAll(async () => {
  world = await acmeApp()
  const { app } = world
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'website',
    sha: '1'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'home' },
  })
  projectAdmin = await seedMember(app, site.projectId, 'admin')
  viewer = await seedMember(app, site.projectId, 'viewer')
  refuse('Invalid response from http://docs.sites.test: "<html><script>alert(1)</script>"')
  path = await add(HOST)
  // The clock stands still until both have ended: two orders run at the same time.
  const statusOf = (host: string) => world.certificates().stateOf(host).status
  await until('both ends', () => statusOf(HOST) === 'failed' && statusOf('admin.sites.test') === 'active')
})
afterAll(() => world.stop())

const refuse = (detail: string) => world.ca.faults.refusals.set(HOST, { type: 'unauthorized', detail })

/** Adds a domain and returns the address of its page. */
async function add(hostname: string): Promise<string> {
  const json = { projectId: site.projectId, hostname, alias: 'production' }
  const { body } = await ask(world.app, 'POST', '/api/domains', { as: ADMIN, json })
  return `/projects/${site.projectId}/domains/${body['id']}`
}

/** The certificate section of the page. */
async function read(as = projectAdmin, at = path): Promise<string> {
  const answer = await browser.open(at, { as })
  expect(answer.status).toBe(200)
  const [, section = ''] = (await answer.text()).split('id="certificate"')
  return section.split('</section>')[0] ?? ''
}
const tryAgain = (as = projectAdmin, at = path) => browser.submit(at, { intent: 'certificate' }, { as })

test("a failed one shows the authority's message as text, advice, and a button for people who may retry", async () => {
  const html = await read()
  expect(html).toContain('There is no certificate yet')
  expect(html).toContain('&lt;html>&lt;script>alert(1)&lt;/script>')
  expect(html).not.toContain('<script>')
  expect(html).toContain('<strong>port 80</strong>')
  expect(html).not.toContain('<strong>CAA</strong>')
  expect(html).toContain(TRY_AGAIN)
  expect(await read(viewer)).not.toContain(TRY_AGAIN)
  expect((await tryAgain(viewer)).status).toBe(403)
  const list = await browser.open(`/projects/${site.projectId}/domains`, { as: projectAdmin })
  expect(await list.text()).toContain('No certificate')
})

test('a form of another site is refused', async () => {
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  const answer = await browser.submit(path, { intent: 'certificate' }, { as: projectAdmin, headers })
  expect(answer.status).toBe(403)
})

test('a retry that comes too soon says how long to wait; later it asks the authority and shows the page again', async () => {
  const early = await tryAgain()
  expect([early.status, (await early.text()).includes('Try again in 20 seconds.')]).toEqual([429, true])
  refuse('DNS problem: SERVFAIL looking up CAA for docs.sites.test')
  world.app.advance(20_000)
  expect(redirectOf(await tryAgain())).toEqual([303, `${path}#certificate`])
  expect(await read()).toContain('<strong>CAA</strong>')
})

test('once the cause is fixed the button gets one, and the page says until when it is valid', async () => {
  world.ca.faults.refusals.clear()
  world.app.advance(4 * 60_000)
  expect(redirectOf(await tryAgain())).toEqual([303, `${path}?done=certified`])
  const answer = await browser.open(`${path}?done=certified`, { as: projectAdmin })
  expect(await answer.text()).toContain('The certificate was issued.')
  const html = await read()
  const until90Days = new Date(world.app.ctx.now() + 90 * DAY_MS).toISOString()
  expect(html).toContain(`datetime="${until90Days}"`)
  expect(html).toContain('renews it automatically')
  expect(html).not.toContain(TRY_AGAIN)
})

test('opening the page of a private alias requests its certificate', async () => {
  const host = 'next--website--acme.sites.test'
  const json = { projectId: site.projectId, name: 'next', commitSha: '1'.repeat(40), isPublic: false }
  const { body } = await ask(world.app, 'POST', '/api/aliases', { as: ADMIN, json })
  world.app.ctx.db.sqlite.run("UPDATE aliases SET is_public = 0 WHERE name = 'next'")
  const at = `/projects/${site.projectId}/aliases/${body['id']}`
  world.advance(0)
  expect(world.ca.ordered).not.toContain(host)
  expect(await (await browser.open(at, { as: viewer })).text()).toContain('Requested')
  await until('the certificate', () => world.certificates().stateOf(host).status === 'active')
  const html = await (await browser.open(at, { as: viewer })).text()
  expect(html).toMatch(/<dt>Certificate<\/dt>.*Valid.*until/s)
})

test('the health page shows the certificate of the admin host', async () => {
  const answer = await browser.open('/admin/health', { as: ADMIN })
  const html = await answer.text()
  expect(html).toMatch(/<dt>Certificate<\/dt>.*Valid.*until/s)
  expect(html).toContain(`datetime="2027-02-18T12:00:00.000Z"`)
})

test('an unverified domain must be verified first', async () => {
  const at = await add('www.example.com')
  expect(await read(projectAdmin, at)).toContain('once the domain is verified')
  const refused = await tryAgain(projectAdmin, at)
  expect([refused.status, (await refused.text()).includes('once it is verified')]).toEqual([409, true])
})

test('one that cannot be renewed and one that has expired say so', async () => {
  // Sessions expire before the certificate does.
  const readLate = async () => {
    const email = `late-${world.app.ctx.now()}@example.com`
    await world.app.addUser(email, 'admin')
    return read(email)
  }
  world.ca.faults.failing = 1000
  world.advance(70 * DAY_MS)
  // Two are requested at the same time, and a failure delays all others by some minutes.
  await until('the failed renewal', () => {
    world.advance(MINUTE_MS)
    return world.certificates().stateOf(HOST).error !== null
  })
  expect(await readLate()).toContain('The last renewal failed')
  world.app.advance(30 * DAY_MS)
  expect(await readLate()).toContain('The certificate has expired')
})
