import { afterEach, expect, test } from 'bun:test'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { acmeApp } from '../../testing/acme-app.ts'
import { LIFETIME_MS } from '../../testing/acme-authority.ts'
import { ask } from '../../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { NOON, type TestApp, testApp } from '../../testing/test-app.ts'
import { until } from '../../testing/until.ts'
import { withWildcard } from '../../testing/wildcard.ts'

const ADMIN = 'root@example.com'
const ALL = '/api/certificates'
const RETRY = '/api/certificates/wildcard/retry'

let close: () => unknown = () => {}
afterEach(() => close())

async function server(env: Record<string, string> = {}): Promise<TestApp> {
  const app = await testApp(env)
  close = () => app.close()
  await app.addUser(ADMIN, 'admin')
  return app
}
const retries = (app: TestApp) =>
  app.ctx.db.sqlite
    .query("SELECT target_kind, target_id, target_name FROM audit_log WHERE action = 'certificate.retry'")
    .all()

test('behind a proxy there are none', async () => {
  const { status, body } = await ask(await server(), 'GET', ALL, { as: ADMIN })
  expect([status, body]).toEqual([200, { tls: 'off', directory: null, wildcard: null, certificates: [] }])
})

test('with TLS=auto each host is listed with its state', async () => {
  const world = await acmeApp()
  close = () => world.stop()
  const { app } = world
  await app.addUser(ADMIN, 'admin')
  const files = { 'index.html': 'home' }
  const { projectId } = await seedDeployment(app, {
    ...{ owner: 'acme', repo: 'docs', sha: '1'.repeat(40), alias: 'production', files },
  })
  app.ctx.db.sqlite.run('UPDATE projects SET is_public = 0')
  world.ca.faults.refusals.set('docs.sites.test', { type: 'caa', detail: 'CAA forbids it' })
  const json = { projectId, hostname: 'docs.sites.test', alias: 'production' }
  await ask(app, 'POST', '/api/domains', { as: SEED_OWNER, json })
  const all = () => ask(app, 'GET', ALL, { as: ADMIN })
  const stateOf = (host: string) => world.certificates().stateOf(host).status
  await until(
    'both',
    () => stateOf('admin.sites.test') === 'active' && stateOf('docs.sites.test') === 'failed',
  )
  const { body } = await all()
  expect(body).toEqual({
    tls: 'auto',
    directory: world.ca.directory,
    wildcard: null,
    certificates: [
      {
        host: 'admin.sites.test',
        status: 'active',
        expiresAt: isoTime(NOON + LIFETIME_MS),
        error: null,
        method: 'http-01',
      },
      {
        host: 'docs.sites.test',
        status: 'failed',
        expiresAt: null,
        error: 'CAA forbids it',
        method: 'http-01',
      },
    ],
  })
})

test('without a wildcard there is nothing to try again', async () => {
  const app = await server()
  const { status, body } = await ask(app, 'POST', RETRY, { as: ADMIN })
  expect([status, body['error']]).toEqual([409, 'WILDCARD_NOT_SET_UP'])
  expect(body['message']).toContain('ACME_DNS')
  expect(retries(app)).toEqual([])
})

test('a wildcard is shown with what a person has to set, and is tried again', async () => {
  const app = await server()
  app.ctx.certificates = withWildcard()
  const { body } = await ask(app, 'GET', ALL, { as: ADMIN })
  const before = {
    hosts: ['sites.test', '*.sites.test'],
    provider: 'acme-dns',
    status: 'failed',
    expiresAt: null,
    renewAt: null,
    triedAt: '2026-11-20T12:00:00.000Z',
    error: 'The record is not there',
    record: { name: '_acme-challenge.sites.test', type: 'CNAME', value: 'a1.auth.test' },
  }
  expect(body['wildcard']).toEqual(before)
  const again = await ask(app, 'POST', RETRY, { as: ADMIN })
  expect([again.status, again.body]).toEqual([
    200,
    {
      ...before,
      status: 'valid',
      expiresAt: '2027-02-18T12:00:00.000Z',
      renewAt: '2027-02-18T11:59:59.999Z',
      error: null,
    },
  ])
  expect(retries(app)).toEqual([
    { target_kind: 'certificate', target_id: '*.sites.test', target_name: '*.sites.test' },
  ])
})

test('a wildcard that has to wait says how long, and leaves no entry', async () => {
  const app = await server()
  app.ctx.certificates = withWildcard(async () => {
    throw new AppError('rate_limited', 'It was tried just now', { headers: { 'retry-after': '20' } })
  })
  const answer = await app.call('POST', RETRY, { as: ADMIN })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '20'])
  expect(retries(app)).toEqual([])
})
