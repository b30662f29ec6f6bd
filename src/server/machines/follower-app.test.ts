import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type MachinePair, machinePair } from '../../testing/machine-pair.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { until } from '../../testing/until.ts'

/** contract 18 §6: what a stand-by or node answers, and what it passes on. */

const ROOT = 'root@example.com'
const HOURS = 2 * 3_600_000
const DAY = 12 * HOURS
const OPEN = 'live--docs--acme.localhost'
const CLOSED = 'live--plans--acme.localhost'

let pair: MachinePair
async function begin(env: Record<string, string> = {}): Promise<void> {
  pair = await machinePair({ CDN_KIND: 'varnish', CDN_URL: 'http://cache.test', ...env })
  await pair.primary.addUser(ROOT, 'admin')
  await pair.primary.cookieOf(ROOT)
  const files = { 'index.html': 'home', 'guide/index.html': 'guide', '404.html': 'none', _redirects: LINES }
  for (const [repo, isPublic] of [
    ['docs', true],
    ['plans', false],
  ] as const)
    await seedDeployment(pair.primary, {
      owner: 'acme',
      repo,
      sha: 'a'.repeat(40),
      alias: 'live',
      files,
      isPublic,
    })
}
const LINES = '/old /guide/ 301\n/away https://backend.test/ 200\n'
/** Status and body, and whether the primary was asked. */
async function seen(method: string, path: string, options: Parameters<MachinePair['call']>[2] = {}) {
  const before = pair.forwarded.length
  const answer = await pair.call(method, path, options)
  const text = await answer.text()
  const error = text.startsWith('{') ? (JSON.parse(text) as { error?: string }).error : undefined
  return { answer, status: answer.status, text, error, isForwarded: pair.forwarded.length > before }
}
const HTML = { accept: 'text/html' }
/** Cookies of the same names, none with the value it had. */
const changed = (cookie: string): string => cookie.replace(/=./g, (start) => (start === '=x' ? '=y' : '=x'))

describe('what only reads', () => {
  beforeAll(() => begin())
  afterAll(() => pair.close())

  test.each([
    ['GET', '/', OPEN, 200],
    ['HEAD', '/', OPEN, 200],
    ['GET', '/guide', OPEN, 308],
    ['GET', '/nothing', OPEN, 404],
    ['GET', '/old', OPEN, 301],
    ['GET', '/_svc/auth.js', OPEN, 200],
    ['GET', '/', CLOSED, 404],
    ['GET', '/', 'nobody--here.localhost', 404],
    ['GET', '/public/acme/docs/live/', 'localhost', 200],
    ['GET', '/public/acme/plans/live/', 'localhost', 404],
    ['GET', '/repo/acme/docs/alias/live/guide/', 'localhost', 200],
    ['GET', '/api/health', 'localhost', 200],
    ['GET', '/api/health/primary', 'localhost', 503],
    ['GET', '/metrics', 'localhost', 200],
  ])('%s %s at %s is answered here: %d', async (method, path, host, status) => {
    const first = await seen(method, path, { host })
    expect([first.status, first.isForwarded]).toEqual([status, false])
    const again = await seen(method, path, { host })
    expect([again.status, again.isForwarded]).toEqual([status, false])
  })

  test.each([
    ['GET', '/api/projects', 'localhost', 401],
    ['GET', '/api/nothing', OPEN, 404],
    ['GET', '/', 'localhost', 303],
    ['GET', '/signin', 'localhost', 200],
    ['GET', '/away', OPEN, 502],
    ['GET', '/_svc/nothing', OPEN, 404],
    ['PUT', '/_svc/uploads?token=x', OPEN, 403],
    ['PUT', '/_svc/uploads?token=x', CLOSED, 403],
    ['GET', '/_svc/files/a.png?token=x', OPEN, 403],
    ['GET', '/_svc/files/a.png?token=x', CLOSED, 403],
    ['GET', '/_svc/files/a.png?token=x', 'localhost', 403],
    ['POST', '/', OPEN, 405],
    ['OPTIONS', '/', OPEN, 405],
    ['DELETE', '/repo/acme/docs/alias/live/', 'localhost', 405],
  ])('%s %s at %s is the primary’s: %d', async (method, path, host, status) => {
    const { isForwarded, ...found } = await seen(method, path, { host, headers: HTML })
    expect(isForwarded).toBe(true)
    expect(found.status).toBe(status)
  })
})

describe('each for itself', () => {
  beforeEach(() => begin())
  afterEach(() => pair.close())

  test('a private site: a valid session is let in here, one to be renewed and a key are passed on', async () => {
    const cookie = await pair.primary.cookieOf(ROOT)
    const asked = { host: CLOSED, headers: { cookie } }
    for (let n = 0; n < 3; n++)
      expect(await seen('GET', '/', asked)).toMatchObject({ text: 'home', isForwarded: false })
    const other = { host: CLOSED, headers: { cookie: changed(cookie) } }
    expect(await seen('GET', '/', other)).toMatchObject({ status: 404, isForwarded: true })
    const key = { host: CLOSED, headers: { 'x-api-key': 'wsk_nobody' } }
    expect(await seen('GET', '/', key)).toMatchObject({ status: 404, isForwarded: true })
    pair.primary.advance(HOURS)
    const renewed = await seen('GET', '/', asked)
    expect(renewed).toMatchObject({ status: 200, text: 'home', isForwarded: true })
    expect(renewed.answer.headers.getSetCookie().map((one) => one.split('=')[0])).toEqual([
      'sAccessToken',
      'sIdRefreshToken',
      'svc-at',
    ])
  })

  test.each([
    [DAY, true],
    // It is tolerated that a session was begun a day from now.
    [-DAY, false],
    [-2 * DAY, true],
  ])(
    'a machine whose clock is %d ms ahead passes on what it cannot tell, and the primary answers it',
    async (ahead, isForwarded) => {
      const cookie = await pair.primary.cookieOf(ROOT)
      const asked = { host: CLOSED, headers: { cookie } }
      pair.follower.ctx.now = () => pair.primary.ctx.now() + ahead
      expect(await seen('GET', '/', asked)).toMatchObject({ text: 'home', isForwarded })
      expect(await seen('GET', '/', { host: OPEN })).toMatchObject({ text: 'home', isForwarded: false })
      const written = await seen('POST', '/api/users', { as: ROOT, json: { email: 'ann@example.com' } })
      expect([written.status, written.isForwarded]).toEqual([201, true])
      const at = { host: OPEN, headers: { cookie: 'svc-at=3.7' } }
      expect(await seen('GET', '/', at)).toMatchObject({ text: 'home', isForwarded: false })
      pair.follower.ctx.now = pair.primary.ctx.now
      expect(await seen('GET', '/', asked)).toMatchObject({ text: 'home', isForwarded: false })
    },
  )

  test('who may not see a private site is told so here, and what does not exist looks the same', async () => {
    await pair.primary.addUser('ann@example.com')
    const as = 'ann@example.com'
    const ann = { headers: { cookie: await pair.primary.cookieOf(as), ...HTML } }
    expect(await seen('GET', '/', { host: CLOSED, ...ann })).toMatchObject({
      status: 403,
      isForwarded: false,
    })
    for (const headers of [HTML, { accept: 'application/json' }]) {
      const [hidden, missing] = await Promise.all(
        [CLOSED, 'live--never--acme.localhost'].map((host) => pair.call('GET', '/a', { host, headers })),
      )
      expect(hidden?.status).toBe(404)
      const texts = await Promise.all([hidden?.text(), missing?.text()])
      expect(texts[0]?.replaceAll('plans', 'never')).toBe(texts[1] ?? '')
    }
  })

  test('after five seconds without the store nobody’s access is decided here, and no shared cache keeps anything', async () => {
    const cookie = await pair.primary.cookieOf(ROOT)
    const member = { host: CLOSED, headers: { cookie } }
    for (const silentMs of [0, 4_000]) {
      pair.following.silentMs = silentMs
      for (let n = 0; n < 2; n++) {
        expect(await seen('GET', '/', member)).toMatchObject({ text: 'home', isForwarded: false })
        const open = await seen('GET', '/', { host: OPEN })
        expect(open).toMatchObject({ text: 'home', isForwarded: false })
        expect(open.answer.headers.get('cdn-cache-control')).toStartWith('public')
      }
    }
    pair.following.silentMs = 6_000
    expect(await seen('GET', '/', member)).toMatchObject({ text: 'home', isForwarded: true })
    expect(await seen('GET', '/', { host: CLOSED })).toMatchObject({ status: 404, isForwarded: true })
    const open = await seen('GET', '/', { host: OPEN })
    expect(open).toMatchObject({ status: 200, text: 'home', isForwarded: false })
    expect([open.answer.headers.get('cdn-cache-control'), open.answer.headers.get('xkey')]).toEqual([
      'no-store',
      null,
    ])
    pair.primaryUrl = null
    const hidden = [
      ['/', CLOSED],
      ['/', 'live--never--acme.localhost'],
      ['/repo/acme/plans/alias/live/', 'localhost'],
      ['/repo/acme/never/alias/live/', 'localhost'],
    ] as const
    for (const [path, host] of hidden) {
      const { answer, ...found } = await seen('GET', path, { host, headers: { cookie } })
      expect([found.status, found.error, answer.headers.get('retry-after')]).toEqual([
        503,
        'PRIMARY_UNREACHABLE',
        '2',
      ])
    }
    expect((await seen('GET', '/', { host: OPEN })).status).toBe(200)
    expect((await seen('GET', '/repo/acme/docs/alias/live/guide/', { host: 'localhost' })).status).toBe(200)
  })

  test('NODE_STALE_SECONDS: then public content is not served either', async () => {
    await pair.close()
    await begin({ NODE_STALE_SECONDS: '60' })
    pair.following.silentMs = 59_000
    expect((await seen('GET', '/', { host: OPEN })).status).toBe(200)
    pair.following.silentMs = 61_000
    expect(await seen('GET', '/', { host: OPEN })).toMatchObject({ status: 503, error: 'STORE_UNREACHABLE' })
    expect((await seen('GET', '/api/health')).status).toBe(200)
    pair.following.silentMs = 0
    expect((await seen('GET', '/', { host: OPEN })).status).toBe(200)
  })

  test.each(['isNewer', 'isOlder'] as const)(
    'a schema that is not the one of this executable (%s): all is passed on',
    async (what) => {
      expect(await seen('GET', '/', { host: OPEN })).toMatchObject({ isForwarded: false })
      pair.following[what] = true
      for (const host of [OPEN, CLOSED])
        expect(await seen('GET', '/', { host })).toMatchObject({ isForwarded: true })
      expect(await seen('GET', '/api/health')).toMatchObject({ status: 200, isForwarded: false })
    },
  )

  test('who wrote is shown nothing older: waits up to a second for the number, then is passed on', async () => {
    const written = await seen('POST', '/api/users', { as: ROOT, json: { email: 'ann@example.com' } })
    const cookie = written.answer.headers.getSetCookie().find((one) => one.startsWith('svc-at='))
    expect(cookie).toBe('svc-at=3.7; Path=/; Max-Age=60; HttpOnly; SameSite=Lax')
    const at = (value: string) => ({ host: OPEN, headers: { cookie: `svc-at=${value}` } })
    for (let n = 0; n < 2; n++)
      expect(await seen('GET', '/', at('3.7'))).toMatchObject({ isForwarded: false })
    const waits = seen('GET', '/', at('3.9'))
    await until('it waits', () => pair.following.waits.length === 1)
    pair.following.apply(9)
    expect(await waits).toMatchObject({ text: 'home', isForwarded: false })
    const inVain = seen('GET', '/', at('4.10'))
    await until('it waits', () => pair.following.waits.length === 2)
    pair.following.apply(9)
    expect(await inVain).toMatchObject({ text: 'home', isForwarded: true })
    expect(pair.following.waits).toEqual([
      { number: 9, ms: 1_000 },
      { number: 10, ms: 1_000 },
    ])
    for (const ahead of ['9.10', '4.999999999'])
      expect(await seen('GET', '/', at(ahead))).toMatchObject({ text: 'home', isForwarded: true })
    for (const odd of ['', 'x', '3', '3.9.9', '-1.99', '3.1e9', 'NaN.NaN', '"3.99"', '3.99 9'])
      expect(await seen('GET', '/', at(odd))).toMatchObject({ text: 'home', isForwarded: false })
    expect(pair.following.waits).toHaveLength(2)
  })

  test('what is passed on anyway waits for nothing', async () => {
    const { isForwarded } = await seen('GET', '/api/projects', {
      as: ROOT,
      headers: { cookie: 'svc-at=3.9' },
    })
    expect([isForwarded, pair.following.waits]).toEqual([true, []])
  })

  test('limits are counted on the primary by the visitor’s address', async () => {
    await pair.close()
    await begin({ RATE_LIMIT_API: '3' })
    const from = (address: string) => seen('GET', '/api/setup/status', { from: address })
    const statuses = async (address: string) => {
      const found: number[] = []
      for (let n = 0; n < 5; n++) found.push((await from(address)).status)
      return found
    }
    expect(await statuses('203.0.113.7')).toEqual([200, 200, 200, 429, 429])
    expect(await statuses('203.0.113.8')).toEqual([200, 200, 200, 429, 429])
  })
})
