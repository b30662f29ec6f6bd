import { afterEach, beforeEach, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { inTransaction } from '../../db/open.ts'
import { Arrival } from '../../http/arrival.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { type StoreApp, storeApp } from '../../testing/store-app.ts'
import { until } from '../../testing/until.ts'
import { behindGate } from './gate.ts'

/** contract 18 §4: no answer to a request during which something was written leaves before the store has it. */

const ROOT = 'root@example.com'
/** The access token has ended, the refresh token has not. */
const HOURS = 2 * 3_600_000
const SITE = 'live--docs--acme.localhost'

let app: StoreApp
beforeEach(async () => {
  app = await storeApp()
  await app.addUser(ROOT, 'admin')
  await app.cookieOf(ROOT)
  const files = { 'index.html': 'home' }
  await seedDeployment(app, { owner: 'acme', repo: 'docs', sha: 'a'.repeat(40), alias: 'live', files })
})
afterEach(() => app.close())

const addUser = (email: string) => app.call('POST', '/api/users', { as: ROOT, json: { email } })

/** Whether the answer is there before the store has taken anything. */
async function leaves(answer: Promise<Response>): Promise<boolean> {
  let isThere = false
  void answer.then(() => {
    isThere = true
  })
  await until('it waits or is there', () => isThere || app.log.waiting > 0)
  return isThere
}

test('a change is answered once the store has it, and not before', async () => {
  app.log.state = 'held'
  const answer = addUser('ann@example.com')
  expect(await leaves(answer)).toBe(false)
  app.log.settle()
  expect((await answer).status).toBe(201)
})

test('a reading call that wrote waits too: a sign-in by a form, a session renewed on a GET', async () => {
  const cookie = await app.cookieOf(ROOT)
  app.advance(HOURS)
  app.log.state = 'held'
  const answer = app.call('GET', '/api/projects', { headers: { cookie } })
  expect(await leaves(answer)).toBe(false)
  app.log.settle()
  const { status, headers } = await answer
  expect([status, headers.getSetCookie().length > 0]).toEqual([200, true])
})

test('what only reads, and what records that something is in use, waits for nothing', async () => {
  app.log.state = 'held'
  app.advance(6 * 60_000)
  for (const path of ['/api/projects', '/', '/api/health'])
    expect((await app.call('GET', path, { as: ROOT })).status).toBeLessThan(400)
  expect((await app.call('GET', '/', { host: SITE })).status).toBe(200)
  expect(app.log.waiting).toBe(0)
})

test('a reading call is not held up, and does not fail, by what another call writes meanwhile', async () => {
  const read = Promise.withResolvers<Response>()
  const { ctx } = app
  const gate = behindGate(ctx, async ({ path }) => {
    if (path === '/read') return read.promise
    const answer = await read.promise
    inTransaction(ctx.db, (tx) => tx.run(sql`UPDATE users SET created_at = 0`))
    return answer.clone()
  })
  const get = (path: string) =>
    gate(new Arrival(ctx.config, new Request(`http://localhost${path}`), { address: '127.0.0.1' }))
  const reading = get('/read')
  const writing = get('/write')
  app.log.state = 'held'
  read.resolve(new Response('read'))
  await until('the one that wrote to wait', () => app.log.waiting > 0)
  app.log.state = 'away'
  app.log.settle()
  expect([(await reading).status, (await writing).status]).toEqual([200, 503])
})

test('a change that waited in vain is 503, says that it may have happened, and sets no cookie', async () => {
  app.log.state = 'held'
  const json = { email: ROOT, password: 'correct horse battery' }
  const answer = app.call('POST', '/api/auth/signin', { json })
  expect(await leaves(answer)).toBe(false)
  app.log.state = 'away'
  app.log.settle()
  const refused = await answer
  expect(refused.status).toBe(503)
  expect([refused.headers.get('retry-after'), refused.headers.getSetCookie()]).toEqual(['5', []])
  expect(await refused.json()).toMatchObject({
    error: 'STORE_UNREACHABLE',
    message: expect.stringContaining('may still have happened'),
  })
})

test('a page for people is told so as a page', async () => {
  app.log.state = 'away'
  const headers = { accept: 'text/html', origin: 'http://localhost' }
  const answer = await app.call('POST', '/signin', { headers, body: new URLSearchParams({ email: ROOT }) })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
  expect(answer.headers.get('content-type')).toContain('text/html')
  expect(await answer.text()).toContain('The object store does not answer')
})

test('while the store is away changes are refused before their body', async () => {
  app.log.state = 'away'
  let isRead = false
  const body = new ReadableStream(
    {
      pull(controller) {
        isRead = true
        controller.enqueue(new Uint8Array(1024))
      },
    },
    { highWaterMark: 0 },
  )
  const headers = { 'content-type': 'application/zip' }
  const answer = await app.call('POST', '/api/deployments/zip?repository=acme/docs', {
    as: ROOT,
    body,
    headers,
  })
  expect([answer.status, (await answer.json()).error, isRead]).toEqual([503, 'STORE_UNREACHABLE', false])
})

test('while the store is away sites and reads go on, and a session is served without being renewed', async () => {
  const cookie = await app.cookieOf(ROOT)
  app.advance(HOURS)
  app.log.state = 'away'
  const read = await app.call('GET', '/api/projects', { headers: { cookie } })
  expect([read.status, read.headers.getSetCookie()]).toEqual([200, []])
  expect((await app.call('GET', '/', { host: SITE })).status).toBe(200)
  const health = await app.call('GET', '/api/health')
  expect([health.status, await health.json()]).toMatchObject([
    200,
    { status: 'ok', role: 'primary', checks: { store: { status: 'error' } } },
  ])
  expect((await app.call('GET', '/api/health/primary')).status).toBe(503)
  app.log.state = 'up'
  const renewed = await app.call('GET', '/api/projects', { headers: { cookie } })
  expect([renewed.status, renewed.headers.getSetCookie().length > 0]).toEqual([200, true])
  expect(await (await app.call('GET', '/api/health/primary')).json()).toEqual({ role: 'primary', epoch: 3 })
})

test('a refresh token that was replaced long ago lets nobody in while the store is away', async () => {
  const cookie = await app.cookieOf(ROOT)
  app.advance(HOURS)
  expect((await app.call('GET', '/api/projects', { headers: { cookie } })).status).toBe(200)
  app.advance(HOURS)
  app.log.state = 'away'
  expect((await app.call('GET', '/api/projects', { headers: { cookie } })).status).toBe(401)
})

test('a deposed machine acknowledges nothing, decides about nobody and shows what everybody may see', async () => {
  app.log.state = 'held'
  const answer = addUser('ann@example.com')
  expect(await leaves(answer)).toBe(false)
  app.log.state = 'deposed'
  app.log.settle()
  const refused = await answer
  expect([refused.status, refused.headers.get('retry-after'), (await refused.json()).error]).toEqual([
    503,
    '1',
    'NOT_PRIMARY',
  ])
  for (const [method, path] of [
    ['POST', '/api/users'],
    ['GET', '/api/projects'],
    ['GET', '/signin'],
    ['GET', '/api/health/primary'],
  ] as const)
    expect((await app.call(method, path, { as: ROOT })).status).toBe(503)
  const shown = await app.call('GET', '/', { host: SITE })
  expect([shown.status, shown.headers.get('cdn-cache-control')]).toEqual([200, 'no-store'])
  expect(await (await app.call('GET', '/api/health')).json()).toMatchObject({ role: 'standby' })
})

const SECRET = { NODE_SECRET: 'a secret of all machines of this test', MACHINE_URL: 'http://127.0.0.1:1' }
const begunWith = async (env: Record<string, string>) => {
  app.close()
  app = await storeApp(env)
  await app.addUser(ROOT, 'admin')
  const files = { 'index.html': 'home' }
  for (const isPublic of [true, false])
    await seedDeployment(app, {
      owner: 'acme',
      repo: isPublic ? 'docs' : 'plans',
      sha: 'a'.repeat(40),
      alias: 'live',
      files,
      isPublic,
    })
}
const atOf = ({ headers }: Response) =>
  headers.getSetCookie().filter((cookie) => cookie.startsWith('svc-at='))

test('with other machines an answer that waited for the log says where that stands, and others do not', async () => {
  await begunWith(SECRET)
  const made = await addUser('ann@example.com')
  expect([made.status, atOf(made)]).toEqual([201, ['svc-at=3.7; Path=/; Max-Age=60; HttpOnly; SameSite=Lax']])
  for (const [path, host] of [
    ['/api/projects', 'localhost'],
    ['/', SITE],
  ] as const)
    expect(atOf(await app.call('GET', path, { as: ROOT, host }))).toEqual([])
  app.log.state = 'away'
  expect(atOf(await addUser('bob@example.com'))).toEqual([])
  await begunWith({})
  expect(atOf(await addUser('ann@example.com'))).toEqual([])
})

test('a primary that hears nothing of the store decides no access where another may have taken over', async () => {
  const plans = 'live--plans--acme.localhost'
  const open = ['/', SITE, 200] as const
  const closed = [
    ['/', plans],
    ['/repo/acme/plans/alias/live/', 'localhost'],
    ['/api/projects', 'localhost'],
    ['/', 'localhost'],
  ] as const
  for (const env of [SECRET, {}]) {
    await begunWith(env)
    const cookie = [await app.cookieOf(ROOT), await app.cookieOf(ROOT, plans)].join('; ')
    const status = async (path: string, host: string, headers = {}) =>
      (await app.call('GET', path, { host, headers: { cookie, ...headers } })).status
    for (const [path, host] of closed) expect(await status(path, host)).toBe(200)
    app.log.state = 'away'
    for (const [path, host] of closed) {
      const isAlone = env !== SECRET
      expect([path, await status(path, host)]).toEqual([path, isAlone ? 200 : 503])
    }
    expect(await status(...(open.slice(0, 2) as ['/', string]))).toBe(200)
    const key = await app.call('GET', '/api/projects', { headers: { 'x-api-key': 'wsk_nobody' } })
    expect(key.status).toBe(env === SECRET ? 503 : 401)
  }
})
