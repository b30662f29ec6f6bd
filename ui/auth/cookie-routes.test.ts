import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'

/** Whoever is locked out by the cookies of sibling sites gets rid of them. contract 12.6. */
let app: TestApp
beforeAll(async () => {
  app = await testApp({ BASE_DOMAIN: 'sites.test', ADMIN_HOST: 'admin.sites.test', TRUST_PROXY: '127.0.0.1' })
  await app.addUser('ann@example.com', 'admin')
})
afterAll(() => app.close())

const clear = (host: string, cookie: string) =>
  app.call('POST', '/_svc/clear-cookies', { host, headers: { cookie, 'x-forwarded-proto': 'https' } })

test.each(['admin.sites.test', 'nothing--here--acme.sites.test', 'unknown.example'])(
  'on %s a page has the button',
  async (host) => {
    const answer = await app.call('GET', '/_svc/clear-cookies', { host })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('<form method="post" action="/_svc/clear-cookies">')
  },
)

test('each cookie is expired, without and with the domain of the workspace', async () => {
  const answer = await clear(
    'admin.sites.test',
    'theme=dark; b=2;theme=light; =nameless; sAccessToken=x; bare',
  )
  expect([answer.status, answer.headers.get('location'), answer.headers.get('clear-site-data')]).toEqual([
    303,
    '/',
    '"cookies"',
  ])
  const end = 'Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure'
  expect(answer.headers.getSetCookie()).toEqual(
    ['theme', 'b', 'sAccessToken'].flatMap((name) => [
      `${name}=; ${end}`,
      `${name}=; Domain=.sites.test; ${end}`,
    ]),
  )
})

test('the first 200 names are enough', async () => {
  const cookie = Array.from({ length: 300 }, (_, i) => `c${i}=1`).join('; ')
  expect((await clear('admin.sites.test', cookie)).headers.getSetCookie()).toHaveLength(400)
})

test.each([
  [12 * 1024, false],
  [12 * 1024 + 1, true],
])('pages of the admin host link to it: %p bytes of cookies, %p', async (length, isLinked) => {
  const cookie = `a=${'x'.repeat(length - 2)}`
  for (const path of ['/signin', '/nowhere']) {
    const answer = await app.call('GET', path, {
      host: 'admin.sites.test',
      headers: { cookie, accept: 'text/html' },
    })
    expect([path, (await answer.text()).includes('href="/_svc/clear-cookies"')]).toEqual([path, isLinked])
  }
})
