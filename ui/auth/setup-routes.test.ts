import { afterEach, describe, expect, test } from 'bun:test'
import { cookieHeader, PASSWORD, type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, browserOf, credentials, redirectOf } from '../testing/browser.ts'

let app: TestApp
afterEach(() => app.close())

/** A server without an admin. A `from` on another machine needs the token. */
async function freshServer() {
  app = await testApp()
  return browserOf(app)
}
const stranger = { from: '203.0.113.9' }
const token = 'test-setup-token'

describe('until there is an admin', () => {
  test.each(['/', '/signin', '/signup', '/keys', '/projects/1', '/account', '/no-such-page', '/welcome'])(
    '%s leads to the set-up',
    async (path) => {
      const { open } = await freshServer()
      expect(redirectOf(await open(path))).toEqual([302, '/setup'])
    },
  )

  test('a form posted to another page changes nothing', async () => {
    const { submit } = await freshServer()
    expect(redirectOf(await submit('/signin', credentials()))).toEqual([302, '/setup'])
  })

  test('the set-up asks for the token only if it is needed', async () => {
    const { open } = await freshServer()
    expect(await (await open('/setup')).text()).not.toContain('name="setupToken"')
    expect(await (await open('/setup', stranger)).text()).toContain('id="setupToken"')
    expect(await (await open(`/setup?token=${token}`, stranger)).text()).toContain(
      `<input type="hidden" name="setupToken" value="${token}"/>`,
    )
  })

  test('robots.txt and assets are served', async () => {
    const { open } = await freshServer()
    expect(await (await open('/robots.txt')).text()).toBe('User-agent: *\nDisallow: /\n')
    const [asset = ''] =
      (await (await open('/setup')).text()).match(/\/_svc\/assets\/app\.[0-9a-f]+\.css/) ?? []
    expect((await open(asset)).status).toBe(200)
  })
})

test('the set-up link creates the first admin, signs them in, and stops working', async () => {
  const { open, submit } = await freshServer()
  const done = await submit('/setup', { ...credentials(), setupToken: token }, stranger)
  expect(redirectOf(done)).toEqual([303, '/welcome'])
  const headers = { cookie: cookieHeader(done) }
  expect(await (await open('/welcome', { headers })).text()).toContain('Your server is ready')
  expect(await (await open('/', { headers })).text()).toContain(ADMIN)
  expect(redirectOf(await open(`/setup?token=${token}`))).toEqual([302, '/'])
  expect(
    redirectOf(await submit('/setup', { ...credentials('eve@example.com'), setupToken: token })),
  ).toEqual([303, '/'])
})

test('on the machine itself the link of an earlier start also works', async () => {
  const { submit } = await freshServer()
  const done = await submit('/setup', { ...credentials(), setupToken: 'of an earlier start' })
  expect(redirectOf(done)).toEqual([303, '/welcome'])
})

const refusals: [why: string, fields: Record<string, string>, status: number, shown: string][] = [
  ['a wrong token', { ...credentials(), setupToken: 'guess' }, 401, 'id="setupToken"'],
  ['no token', credentials(), 401, 'id="setupToken"'],
  ['a short password', { email: ADMIN, password: 'short', setupToken: token }, 400, 'id="password-error"'],
  ['no email', { email: 'ada', password: PASSWORD, setupToken: token }, 400, 'id="email-error"'],
]

test.each(refusals)('%s is refused on the page', async (_why, fields, status, shown) => {
  const { submit, open } = await freshServer()
  const answer = await submit('/setup', fields, stranger)
  const html = await answer.text()
  expect(answer.status).toBe(status)
  expect(html).toContain(shown)
  expect(html).not.toContain(PASSWORD)
  expect(redirectOf(await open('/'))).toEqual([302, '/setup'])
})

test('no page of another site can claim a fresh server through the browser of its operator', async () => {
  const { submit, open } = await freshServer()
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  expect((await submit('/setup', credentials(), { headers })).status).toBe(403)
  expect(redirectOf(await open('/'))).toEqual([302, '/setup'])
})
