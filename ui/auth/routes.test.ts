import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { seedDeployment } from '../../src/testing/seed.ts'
import { cookieHeader, type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, credentials, redirectOf } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
})
afterAll(() => app.close())

const sessionOf = async (cookie: string): Promise<string | undefined> => {
  const answer = await app.call('GET', '/api/auth/session', { headers: { cookie } })
  return (await answer.json()).user?.email
}

describe('signing in', () => {
  test('leads home with a session', async () => {
    const answer = await browser.submit('/signin', credentials())
    expect(redirectOf(answer)).toEqual([303, '/'])
    expect(await sessionOf(cookieHeader(answer))).toBe(ADMIN)
  })

  test('leads back to where it started', async () => {
    const away = await browser.open('/keys?done=revoked')
    expect(redirectOf(away)).toEqual([303, '/signin?redirect=%2Fkeys%3Fdone%3Drevoked'])
    const form = await (await browser.open('/signin?redirect=%2Fkeys')).text()
    expect(form).toContain('<input type="hidden" name="redirect" value="/keys"/>')
    expect(redirectOf(await browser.submit('/signin', { ...credentials(), redirect: '/keys' }))).toEqual([
      303,
      '/keys',
    ])
  })

  test.each([
    'http://production--docs--acme.localhost:3000/guide',
    '/repo/acme/docs/alias/production/guide', // redirected to the host of the site
  ])('leads to %s by a page: browsers block the redirect of a form to another host', async (redirect) => {
    const answer = await browser.submit('/signin', { ...credentials(), redirect })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain(`content="0;url=${redirect}"`)
    expect(await sessionOf(cookieHeader(answer))).toBe(ADMIN)
  })

  test.each(['//evil.example', 'https://evil.example/', 'javascript:alert(1)', '/\\evil.example'])(
    'does not lead to %s',
    async (redirect) => {
      const form = await browser.open(`/signin?${new URLSearchParams({ redirect })}`)
      expect(await form.text()).not.toContain('name="redirect"')
      expect(redirectOf(await browser.submit('/signin', { ...credentials(), redirect }))).toEqual([303, '/'])
      const signedIn = await browser.open(`/signin?${new URLSearchParams({ redirect })}`, { as: ADMIN })
      expect(redirectOf(signedIn)).toEqual([302, '/'])
    },
  )

  test('refuses a wrong password on the page, without a session', async () => {
    const answer = await browser.submit('/signin', { email: ADMIN, password: 'wrong-password' })
    const html = await answer.text()
    expect(answer.status).toBe(401)
    expect(html).toContain('role="alert"')
    expect(html).toContain(`value="${ADMIN}"`)
    expect(html).not.toContain('wrong-password')
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  test('names the field that is wrong', async () => {
    const answer = await browser.submit('/signin', { email: 'ada', password: 'x' })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('id="email-error"')
  })

  test('forwards people who are already signed in', async () => {
    expect(redirectOf(await browser.open('/signin', { as: ADMIN }))).toEqual([302, '/'])
    expect(redirectOf(await browser.open('/signin?redirect=%2Fkeys', { as: ADMIN }))).toEqual([302, '/keys'])
  })

  test('shows a page for a spent code, and the error body to programs', async () => {
    const { aliasHost } = await seedDeployment(app, {
      owner: 'acme',
      repo: 'blog',
      sha: 'b'.repeat(40),
      alias: 'production',
      files: { 'index.html': '' },
    })
    const host = aliasHost ?? ''
    const page = await browser.open('/_svc/auth/callback?code=spent', { host })
    expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('Sign in again')
    const body = await app.call('GET', '/_svc/auth/callback?code=spent', { host })
    expect((await body.json()).error).toBe('SIGN_IN_CODE_INVALID')
  })

  test('hands the session on to hosts its cookie does not reach, such as those of localhost', async () => {
    const { aliasHost } = await seedDeployment(app, {
      owner: 'acme',
      repo: 'handbook',
      sha: 'a'.repeat(40),
      alias: 'production',
      isPublic: false,
      files: { 'guide.html': 'secret', '404.html': '' },
    })
    const redirect = `http://${aliasHost}:3000/guide`
    const html = await (await browser.submit('/signin', { ...credentials(), redirect })).text()
    const away = html.match(/content="0;url=http:\/\/[^/]+([^"]+)"/)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const back = await browser.open(away, { host: aliasHost ?? '' })
    expect(redirectOf(back)).toEqual([303, '/guide'])
    const headers = { cookie: cookieHeader(back) }
    const site = await browser.open('/guide', { host: aliasHost ?? '', headers })
    expect(await site.text()).toBe('secret')
    const again = await browser.open(`/signin?${new URLSearchParams({ redirect })}`, { as: ADMIN })
    expect(String(redirectOf(again)[1])).toStartWith(`http://${aliasHost}:3000/_svc/auth/callback?code=`)
  })

  test('answers 429 after ten failures', async () => {
    const guess = () => browser.submit('/signin', { email: 'bob@example.com', password: 'guessing' })
    for (let failures = 0; failures < 10; failures++) expect((await guess()).status).toBe(401)
    const answer = await guess()
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).not.toBeNull()
  })
})

describe('forms from other sites', () => {
  const attacks: [name: string, headers: Record<string, string>][] = [
    ['another origin', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['another origin, no Fetch Metadata', { origin: 'https://evil.example', 'sec-fetch-site': '' }],
    ['a site of this workspace', { origin: 'http://a--b--c.localhost', 'sec-fetch-site': 'same-site' }],
    ['a sandboxed page', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['another port', { origin: 'http://localhost:9000', 'sec-fetch-site': 'same-site' }],
  ]

  test.each(attacks)('%s cannot sign a visitor in (login CSRF)', async (_name, headers) => {
    const answer = await browser.submit('/signin', credentials(), { headers })
    expect(answer.status).toBe(403)
    expect(answer.headers.get('content-type')).toStartWith('text/html')
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  test.each(attacks)('%s cannot sign a visitor out', async (_name, headers) => {
    const cookie = cookieHeader(await browser.submit('/signin', credentials()))
    for (const path of ['/signout', '/_svc/signout']) {
      const answer = await browser.submit(path, {}, { headers: { ...headers, cookie } })
      expect(answer.status).toBe(403)
    }
    expect(await sessionOf(cookie)).toBe(ADMIN)
  })
})

describe('signing out', () => {
  test.each(['/signout', '/_svc/signout'])('%s ends the session and clears the cookies', async (path) => {
    const cookie = cookieHeader(await browser.submit('/signin', credentials()))
    const answer = await browser.submit(path, {}, { headers: { cookie } })
    expect(answer.status).toBeLessThan(400)
    expect(answer.headers.getSetCookie().every((one) => one.includes('Max-Age=0'))).toBe(true)
    expect(await sessionOf(cookie)).toBeUndefined()
  })

  test('without a session leads to the same page', async () => {
    expect(redirectOf(await browser.submit('/signout', {}))).toEqual([303, '/signed-out'])
    expect(await (await browser.open('/signed-out')).text()).toContain('You are signed out')
  })

  test('does not accept GET, which any image could send', async () => {
    const answer = await browser.open('/signout', { as: ADMIN })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('POST')
  })
})

describe('signing up', () => {
  test('says if it is closed, and refuses', async () => {
    expect(await (await browser.open('/signup')).text()).not.toContain('<form')
    expect((await browser.submit('/signup', credentials('new@example.com'))).status).toBe(403)
  })

  test('creates an account if it is open', async () => {
    const json = { allowPublicSignups: true }
    await app.call('PATCH', '/api/settings', { as: ADMIN, json })
    const answer = await browser.submit('/signup', { ...credentials('new@example.com'), redirect: '/keys' })
    expect(redirectOf(answer)).toEqual([303, '/keys'])
    expect(await sessionOf(cookieHeader(answer))).toBe('new@example.com')
    const again = await browser.submit('/signup', credentials('new@example.com'))
    expect(again.status).toBe(409)
    expect(await again.text()).toContain('Go to sign in')
    await app.call('PATCH', '/api/settings', { as: ADMIN, json: { allowPublicSignups: false } })
  })
})

test('forms are rate limited by address, like API calls', async () => {
  const limited = await testApp({ RATE_LIMIT_API: '2' })
  await limited.addUser(ADMIN, 'admin')
  const { submit } = browserOf(limited)
  const statuses: number[] = []
  for (let sent = 0; sent < 3; sent++) statuses.push((await submit('/signin', credentials())).status)
  expect(statuses).toEqual([303, 303, 429])
  expect((await submit('/signin', credentials(), { from: '203.0.113.9' })).status).toBe(303)
  limited.advance(61_000)
  expect((await submit('/signin', credentials())).status).toBe(303)
  limited.close()
})

test.each([
  ['a body of another type', { 'content-type': 'application/json' }, '{}', 415],
  ['a body of more than 64 KiB', {}, `email=${'a'.repeat(65 * 1024)}`, 413],
] as const)('%s is refused', async (_name, type, body, status) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', ...type }
  expect((await app.call('POST', '/signin', { body, headers })).status).toBe(status)
})
