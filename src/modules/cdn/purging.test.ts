import { afterEach, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { type CdnReceiver, cdnReceiver } from '../../testing/cdn-receiver.ts'
import { type Seeded, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { until } from '../../testing/until.ts'
import { sendDuePurges } from './dispatch.ts'
import { openTargets } from './targets.ts'

const ROOT = 'root@example.com'
let app: TestApp
let site: Seeded
let receivers: CdnReceiver[] = []
afterEach(async () => {
  app.close()
  await Promise.all(receivers.map((one) => one.close()))
  receivers = []
})

/** A server with one project whose purges have all been sent, twice. */
async function setUp(kind = 'varnish', { count = 1, env = {} } = {}): Promise<CdnReceiver[]> {
  receivers = await Promise.all(Array.from({ length: count }, cdnReceiver))
  const urls = receivers.map(({ url }) => url).join(',')
  app = await testApp({ CDN_KIND: kind, CDN_URL: urls, ...env })
  openTargets(app.ctx)
  await app.addUser(ROOT, 'admin')
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'home', 'other.html': 'other' },
  })
  await settleAll()
  return receivers
}

async function settleAll(): Promise<void> {
  await sendDuePurges(app.ctx)
  app.advance(6_000)
  await sendDuePurges(app.ctx)
  for (const { received } of receivers) received.length = 0
}

const call = async (method: string, path: string, json?: unknown) => {
  const answer = await app.call(method, path, { as: ROOT, ...(json === undefined ? {} : { json }) })
  if (answer.status >= 400) throw new Error(await answer.text())
  return answer
}
const purge = () => call('POST', `/api/projects/${site.projectId}/purge`)
const state = async () => (await call('GET', '/api/cdn')).json()
const waiting = () =>
  app.ctx.db.sqlite
    .query<{ key: string }, []>('SELECT key FROM cdn_purges ORDER BY key')
    .all()
    .map(({ key }) => key)

const TOKEN = { CDN_TOKEN: 'tok-en', CDN_ID: 'zone1' }

test.each([
  ['varnish', {}, 'PURGE', '/', { 'xkey-purge': 'p-{id}' }, ''],
  [
    'fastly',
    TOKEN,
    'POST',
    '/service/zone1/purge',
    { 'fastly-key': 'tok-en' },
    '{"surrogate_keys":["p-{id}"]}',
  ],
  [
    'cloudflare',
    TOKEN,
    'POST',
    '/zones/zone1/purge_cache',
    { authorization: 'Bearer tok-en' },
    '{"tags":["p-{id}"]}',
  ],
  ['webhook', TOKEN, 'POST', '/', {}, '{"keys":["p-{id}"],"at":"2026-11-20T12:00:06.000Z"}'],
] as const)(
  '%s is told in its own way, and again 6 s later',
  async (kind, env, method, path, headers, body) => {
    const [cdn] = await setUp(kind, { env })
    const answer = await purge()
    expect([answer.status, await answer.json()]).toEqual([202, { keys: [`p-${site.projectId}`] }])
    await sendDuePurges(app.ctx)
    const filled = (text: string) => text.replace('{id}', site.projectId)
    const [one] = cdn?.received ?? []
    expect([one?.method, one?.path, one?.body]).toEqual([method, path, filled(body)])
    for (const [name, value] of Object.entries(headers)) expect(one?.headers[name]).toBe(filled(value))
    if (kind === 'webhook') {
      const mac = createHmac('sha256', 'tok-en')
        .update(one?.body ?? '')
        .digest('hex')
      expect(one?.headers['x-svc-signature-256']).toBe(`sha256=${mac}`)
    }
    app.advance(5_999)
    await sendDuePurges(app.ctx)
    expect(cdn?.received).toHaveLength(1)
    expect(await state()).toMatchObject({ kind, pending: 1, failing: 0 })
    app.advance(1)
    await sendDuePurges(app.ctx)
    expect(cdn?.received.map(({ keys }) => keys)).toEqual([[`p-${site.projectId}`], [`p-${site.projectId}`]])
    expect(await state()).toEqual({
      kind,
      pending: 0,
      failing: 0,
      lastPurge: { at: '2026-11-20T12:00:12.000Z', keys: [`p-${site.projectId}`], status: 200 },
    })
    expect(app.lines.join()).not.toContain('tok-en')
  },
)

test('what changes says which keys go; what is rolled back or changes nothing leaves none', async () => {
  await setUp()
  const key = { p: `p-${site.projectId}`, a: `a-${site.aliasId}`, d: `d-${site.deploymentId}` }
  const keysAfter = async (change: () => Promise<unknown>) => {
    await change()
    const keys = waiting()
    await settleAll()
    return keys
  }
  const project = `/api/projects/${site.projectId}`
  const domain = { projectId: site.projectId, hostname: 'docs.localhost', alias: 'production' }
  const rule = { proxyType: 'redirect', pathPattern: '/old', targetUrl: '/new', status: 301 }
  expect(await keysAfter(() => call('PATCH', `/api/aliases/${site.aliasId}`, { isSpa: true }))).toEqual([
    key.a,
  ])
  expect(await keysAfter(() => call('PATCH', project, { isPublic: false }))).toEqual([key.p])
  expect(await keysAfter(() => call('POST', '/api/domains', domain))).toEqual([key.p])
  expect(await keysAfter(() => call('POST', `/api/proxy-rules/project/${site.projectId}`, rule))).toEqual([
    key.p,
  ])
  const { id } = app.ctx.db.sqlite
    .query<{ id: string }, []>("SELECT id FROM assets WHERE path = 'other.html'")
    .get() ?? { id: '' }
  expect(await keysAfter(() => call('DELETE', `/api/assets/${id}`))).toEqual([key.d])
  expect(await keysAfter(() => call('GET', project))).toEqual([])
  const refused = await app.call('PATCH', project, { as: ROOT, json: { isPublic: 'x' } })
  expect([refused.status, waiting()]).toEqual([400, []])
  expect(() =>
    app.ctx.db.sqlite.transaction(() => {
      app.ctx.db.sqlite.run('UPDATE aliases SET is_spa = 0')
      throw new Error('rolled back')
    })(),
  ).toThrow('rolled back')
  expect(waiting()).toEqual([])
  expect(await keysAfter(() => call('DELETE', project))).toContain(key.p)
})

test('a second version of a commit forgets the one before it, which the addresses of the commit showed', async () => {
  await setUp()
  app.ctx.db.sqlite.run(
    `INSERT INTO deployments (id, project_id, commit_sha, version, file_count, total_size, created_by, created_at, updated_at)
     SELECT 'next', project_id, commit_sha, 2, 0, 0, created_by, 1, 1 FROM deployments`,
  )
  expect(waiting()).toEqual([`d-${site.deploymentId}`])
})

test('10,000 aliases that move at once: no key is lost, each goes once a round, 30 a request', async () => {
  const [cdn] = await setUp()
  const { sqlite } = app.ctx.db
  sqlite.run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO aliases (id, project_id, name, deployment_id, created_at, updated_at)
    SELECT 'x' || i, project_id, 'x' || i, deployment_id, 1, 1 FROM n, (SELECT * FROM aliases LIMIT 1)`)
  sqlite.run("UPDATE aliases SET updated_at = 2 WHERE id LIKE 'x%'")
  await sendDuePurges(app.ctx)
  const sent = cdn?.received.flatMap(({ keys }) => keys) ?? []
  expect([sent.length, new Set(sent).size]).toEqual([10_000, 10_000])
  expect(Math.max(...(cdn?.received.map(({ keys }) => keys.length) ?? []))).toBe(30)
  expect(cdn?.received.length).toBe(334)
})

test('a change while the purge is on its way is sent anew', async () => {
  const [cdn] = await setUp()
  let isFirst = true
  cdn?.answerWith((response) => {
    if (isFirst) app.ctx.db.sqlite.run('UPDATE aliases SET is_spa = 1')
    isFirst = false
    response.writeHead(200).end()
  })
  app.ctx.db.sqlite.run('UPDATE aliases SET is_spa = 0')
  await sendDuePurges(app.ctx)
  expect(cdn?.received).toHaveLength(2)
})

test('failures come back after 1, 5, 30, 120, 600 s, then each 15 min, and are given up after a day', async () => {
  const [cdn] = await setUp()
  cdn?.answerWith((response) => void response.writeHead(500).end())
  await purge()
  await sendDuePurges(app.ctx)
  for (const seconds of [1, 5, 30, 120, 600, 900, 900]) {
    const before = cdn?.received.length
    app.advance(seconds * 1000 - 1)
    await sendDuePurges(app.ctx)
    expect([seconds, cdn?.received.length]).toEqual([seconds, before])
    app.advance(1)
    await sendDuePurges(app.ctx)
    expect([seconds, cdn?.received.length]).toEqual([seconds, (before ?? 0) + 1])
  }
  expect(await state()).toMatchObject({ pending: 1, failing: 1, lastPurge: { status: 500 } })
  app.advance(DAY_MS)
  await sendDuePurges(app.ctx)
  expect(await state()).toMatchObject({ pending: 0, failing: 0 })
})

test('one that was away for an hour gets what waits together, as soon as one arrives', async () => {
  const [cdn] = await setUp()
  cdn?.answerWith((response) => void response.destroy())
  await purge()
  await sendDuePurges(app.ctx)
  app.advance(HOUR_MS)
  await sendDuePurges(app.ctx)
  cdn?.answerWith((response) => void response.writeHead(200).end())
  await call('PATCH', `/api/aliases/${site.aliasId}`, { isSpa: true })
  await sendDuePurges(app.ctx)
  const keys = new Set(cdn?.received.slice(2).flatMap((one) => one.keys))
  expect([...keys].sort()).toEqual([`a-${site.aliasId}`, `p-${site.projectId}`])
})

test.each([
  ['varnish', 301, { location: 'http://127.0.0.1:1/' }, ''],
  ['varnish', 205, {}, ''],
  ['fastly', 204, {}, ''],
  ['cloudflare', 200, {}, '{"success":false}'],
  ['cloudflare', 200, {}, '<html>'],
  ['webhook', 302, { location: '/elsewhere' }, ''],
])('%s answers %p %p %p: that is a failure', async (kind, status, headers, body) => {
  const [cdn] = await setUp(kind, { env: kind === 'varnish' ? {} : TOKEN })
  cdn?.answerWith((response) => void response.writeHead(status, headers).end(body))
  await purge()
  await sendDuePurges(app.ctx)
  expect(await state()).toMatchObject({ pending: 1, failing: 1, lastPurge: { status } })
  expect(cdn?.received).toHaveLength(1)
})

test.each([
  ['429', '120', 120_000],
  ['503', '120', 120_000],
  ['503', '86400', HOUR_MS],
])('%s keeps to Retry-After: %s, also for what changes meanwhile', async (status, retryAfter, waitMs) => {
  const [cdn] = await setUp()
  cdn?.answerWith((response) => void response.writeHead(Number(status), { 'retry-after': retryAfter }).end())
  await purge()
  await sendDuePurges(app.ctx)
  await call('PATCH', `/api/aliases/${site.aliasId}`, { isSpa: true })
  app.advance(waitMs - 1)
  await sendDuePurges(app.ctx)
  expect(cdn?.received).toHaveLength(1)
  app.advance(1)
  await sendDuePurges(app.ctx)
  expect(cdn?.received).toHaveLength(2)
})

test('an address that hangs does not hold up another', async () => {
  const [hanging, good] = await setUp('varnish', { count: 2 })
  const held: (() => void)[] = []
  hanging?.answerWith((response) => void held.push(() => response.writeHead(200).end()))
  await purge()
  const sending = sendDuePurges(app.ctx)
  await until('the good one is told', () => good?.received.length === 1)
  expect(await state()).toMatchObject({ pending: 2 })
  await until('the other was asked', () => held.length === 1)
  for (const go of held) go()
  await sending
})

test('without a CDN nothing is written, and turning it on later begins clean', async () => {
  await setUp()
  await purge()
  const off = { ...app.ctx, config: { ...app.ctx.config, cdnKind: null, cdnUrl: [] } }
  openTargets(off)
  expect(waiting()).toEqual([])
  await call('PATCH', `/api/aliases/${site.aliasId}`, { isSpa: true })
  expect(waiting()).toEqual([])
  openTargets(app.ctx)
  expect(waiting()).toEqual([])
  await purge()
  expect(waiting()).toEqual([`p-${site.projectId}`])
})

test('where none is set up, purging is refused and the rest says so', async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  site = await seedDeployment(app, { owner: 'acme', repo: 'docs', sha: 'a'.repeat(40), files: { x: 'x' } })
  const answer = await app.call('POST', `/api/projects/${site.projectId}/purge`, { as: ROOT })
  expect([answer.status, await answer.json()]).toMatchObject([409, { error: 'CDN_NOT_CONFIGURED' }])
  expect(await state()).toEqual({ kind: null, pending: 0, failing: 0, lastPurge: null })
})
