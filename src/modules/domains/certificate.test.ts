import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AcmeApp, acmeApp } from '../../testing/acme-app.ts'
import { ask } from '../../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { NOON, testApp } from '../../testing/test-app.ts'
import { until } from '../../testing/until.ts'

const HOST = 'docs.sites.test'
const deployment = {
  owner: 'acme',
  repo: 'docs',
  sha: '1'.repeat(40),
  alias: 'production',
  files: { 'index.html': 'home' },
}

let world: AcmeApp
let path: string
let projectId: string
beforeAll(async () => {
  world = await acmeApp()
  projectId = (await seedDeployment(world.app, deployment)).projectId
  const detail = 'Invalid response from http://docs.sites.test: "<html>no</html>"'
  world.ca.faults.refusals.set(HOST, { type: 'unauthorized', detail })
  path = `/api/domains/${(await add(HOST)).body['id']}`
  // The clock stands still until both have ended: two orders are in flight at once.
  await until('both ends', () => statusOf(HOST) === 'failed' && statusOf('admin.sites.test') === 'active')
})
afterAll(() => world.stop())

const add = (hostname: string) =>
  ask(world.app, 'POST', '/api/domains', {
    as: SEED_OWNER,
    json: { projectId, hostname, alias: 'production' },
  })
const statusOf = (host: string) => world.certificates().stateOf(host).status
const certificate = async () => (await ask(world.app, 'GET', path, { as: SEED_OWNER })).body['certificate']
const askNow = () => ask(world.app, 'POST', `${path}/certificate`, { as: SEED_OWNER })

test("the record shows the result, in the authority's words", async () => {
  expect(await certificate()).toEqual({
    status: 'failed',
    expiresAt: null,
    error: 'Invalid response from http://docs.sites.test: "<html>no</html>"',
  })
})

test('too soon is 429 with Retry-After; later it is ordered, and the audit log names who asked', async () => {
  const early = await world.app.call('POST', `${path}/certificate`, { as: SEED_OWNER })
  expect([early.status, early.headers.get('retry-after')]).toEqual([429, '20'])
  world.ca.faults.refusals.clear()
  world.app.advance(20_000)
  const asked = await askNow()
  const expiresAt = new Date(NOON + 20_000 + 90 * 86_400_000).toISOString()
  expect([asked.status, asked.body['certificate']]).toEqual([
    200,
    { status: 'active', expiresAt, error: null },
  ])
  await world.app.addUser('root@example.com', 'admin')
  const audit = '/api/audit?action=domain.certificate'
  const { body } = await ask(world.app, 'GET', audit, { as: 'root@example.com' })
  expect(body['data'] ?? []).toHaveLength(1)
  expect((await askNow()).status).toBe(200)
})

test('another domain is pending until its certificate arrives; a deleted one has none', async () => {
  const { body } = await add('new.sites.test')
  expect(body['certificate']).toMatchObject({ status: 'pending', error: null })
  await until('the certificate', () => statusOf('new.sites.test') === 'active')
  await ask(world.app, 'DELETE', `/api/domains/${body['id']}`, { as: SEED_OWNER })
  expect(
    world
      .certificates()
      .all()
      .flatMap(({ hosts }) => hosts),
  ).not.toContain('new.sites.test')
})

test('metrics show when each expires', async () => {
  const text = await (await world.app.call('GET', '/metrics')).text()
  expect(text).toContain(`svc_certificate_expires_seconds{host="${HOST}"} `)
  expect(text).toContain('svc_certificate_expires_seconds{host="admin.sites.test"} ')
})

test('without TLS there is no certificate to order, and no metric', async () => {
  const app = await testApp({ BASE_DOMAIN: 'sites.test', ADMIN_HOST: 'localhost' })
  const seeded = await seedDeployment(app, deployment)
  const json = { projectId: seeded.projectId, hostname: HOST, alias: 'production' }
  const { body } = await ask(app, 'POST', '/api/domains', { as: SEED_OWNER, json })
  expect(body['certificate']).toEqual({ status: 'off', expiresAt: null, error: null })
  const asked = await ask(app, 'POST', `/api/domains/${body['id']}/certificate`, { as: SEED_OWNER })
  expect([asked.status, asked.body['message']]).toEqual([
    409,
    'This server does not order certificates: the proxy in front of it holds them',
  ])
  expect(await (await app.call('GET', '/metrics')).text()).not.toContain('svc_certificate')
  app.close()
})
