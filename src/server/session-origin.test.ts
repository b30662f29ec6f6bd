import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SEED_OWNER, type Seeded, seedDeployment } from '../testing/seed.ts'
import { PASSWORD, type TestApp, testApp } from '../testing/test-app.ts'

/** Whose page is asking: whatever makes or ends a session, with and without a cookie. contract 12.6: Origin. */

let app: TestApp
let site: Seeded
beforeAll(async () => {
  app = await testApp({ BASE_DOMAIN: 'sites.test', ADMIN_HOST: 'admin.sites.test' })
  await app.addUser('ann@example.com', 'admin')
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: '1'.repeat(40),
    alias: 'production',
    files: { 'index.html': '<h1>home</h1>' },
  })
})
afterAll(() => app.close())

const AUTH = [
  'signin',
  'signup',
  'signout',
  'logout',
  'refresh',
  'session/refresh',
  'forgot-password',
  'reset-password',
]
const ON_ADMIN = [
  ...AUTH.map((name) => `/api/auth/${name}`),
  '/api/setup/complete',
  '/api/invitations/some-token/accept',
  '/signin',
  '/signup',
  '/signout',
  '/setup',
  '/_svc/clear-cookies',
]
const ON_SITE = [
  ...AUTH.flatMap((name) => [`/api/auth/${name}`, `/_svc/auth/${name}`]),
  '/_svc/clear-cookies',
]

type Row = [host: 'admin' | 'site', path: string]
const rows: Row[] = [
  ...ON_ADMIN.map((path): Row => ['admin', path]),
  ...ON_ADMIN.filter((path) => path.startsWith('/api/')).map((path): Row => ['admin', `${path}/`]),
  ...ON_SITE.map((path): Row => ['site', path]),
]
const hostOf = (host: Row[0]) => (host === 'admin' ? 'admin.sites.test' : String(site.aliasHost))
const post = (host: Row[0], path: string, headers: Record<string, string>) =>
  app.call('POST', path, {
    host: hostOf(host),
    headers,
    json: { email: 'ann@example.com', password: PASSWORD },
  })

const FOREIGN: Record<string, string>[] = [
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { referer: 'https://evil.example/page' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site', origin: 'https://other.sites.test' },
]

describe.each(rows)('on the %s host %s', (host, path) => {
  test('refuses a page of another site, cookie or none', async () => {
    for (const headers of FOREIGN) {
      const answer = await post(host, path, { accept: 'application/json', ...headers })
      expect([headers, answer.status, await answer.text()]).toEqual([
        headers,
        403,
        expect.stringContaining('of another site'),
      ])
      expect(answer.headers.getSetCookie()).toEqual([])
    }
  })

  test('answers its own pages, and programs that send none of the three', async () => {
    for (const headers of [
      {},
      { origin: `http://${hostOf(host)}` },
      { referer: `https://${hostOf(host)}/a` },
      { 'sec-fetch-site': 'same-origin' },
    ])
      expect([headers, await (await post(host, path, headers)).text()]).toEqual([
        headers,
        expect.not.stringContaining('of another site'),
      ])
  })
})

test('the refusal comes before the body is looked at, with its code', async () => {
  const answer = await app.call('POST', '/api/auth/signin', {
    host: 'admin.sites.test',
    headers: { origin: 'https://evil.example', 'content-type': 'application/json' },
    body: '{ no json',
  })
  expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
    403,
    'CROSS_ORIGIN_REQUEST',
  ])
})

test('attack: a stranger’s page cannot claim a fresh server that its visitor reaches by loopback', async () => {
  const fresh = await testApp()
  const json = { email: 'evil@example.com', password: PASSWORD }
  const stolen = await fresh.call('POST', '/api/setup/complete', {
    json,
    headers: { origin: 'https://evil.example' },
  })
  const own = await fresh.call('POST', '/api/setup/complete', {
    json,
    headers: { origin: 'http://localhost' },
  })
  expect([stolen.status, own.status]).toEqual([403, 201])
  fresh.close()
})

test('a rule of the site that takes a path below /api/setup/ still answers pages of others', async () => {
  const rule = {
    pathPattern: '/api/setup/*',
    proxyType: 'pipeline',
    pipelineConfig: { steps: [{ id: 'a', handlerType: 'response_handler', config: { body: '"mine"' } }] },
  }
  await app.call('POST', `/api/proxy-rules/project/${site.projectId}`, {
    host: 'admin.sites.test',
    as: SEED_OWNER,
    json: rule,
  })
  const answer = await post('site', '/api/setup/complete', { origin: 'https://evil.example' })
  expect([answer.status, await answer.text()]).toEqual([200, '"mine"'])
})
