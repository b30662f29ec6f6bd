import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { totpCodeAt } from '../../src/platform/totp.ts'
import { ask } from '../../src/testing/ask.ts'
import { type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { cookieHeader, PASSWORD, type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, credentials, redirectOf } from '../testing/browser.ts'

const ANN = 'ann@example.com'

let app: TestApp
let browser: Browser
let projectId: string

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  await app.addUser(ANN)
  const made = await ask(app, 'POST', '/api/projects', {
    as: ADMIN,
    json: { owner: 'acme', name: 'docs', displayName: 'Docs' },
  })
  projectId = String(made.body['id'])
  await ask(app, 'POST', `/api/projects/${projectId}/permissions/users`, {
    as: ADMIN,
    json: { email: ANN, role: 'viewer' },
  })
})
afterAll(() => app.close())

const submit = (fields: Record<string, string>, as = ANN) => browser.submit('/account', fields, { as })

describe('/account', () => {
  test('leads strangers to the sign-in page and back', async () => {
    expect(redirectOf(await browser.open('/account'))).toEqual([303, '/signin?redirect=%2Faccount'])
  })

  test('shows who is signed in, the sites and the sessions', async () => {
    const text = await (await browser.open('/account', { as: ANN })).text()
    expect(text).toContain('ann@example.com')
    expect(text).toContain('acme/docs')
    expect(text).toContain('This one')
  })

  test('the sign-in methods are named where there is only the password', async () => {
    const text = await (await browser.open('/account', { as: ANN })).text()
    expect(text).toContain('Connected sign-in methods')
    expect(text).toContain('This server offers no others')
  })

  test('an owner cannot press Leave', async () => {
    const text = await (await browser.open('/account', { as: ADMIN })).text()
    expect(text).toMatch(/<button[^>]*disabled[^>]*>Leave/)
    expect(text).not.toContain('Leave the site')
    const refused = await submit({ intent: 'leave', projectId }, ADMIN)
    expect(refused.status).toBe(400)
  })

  test('a wrong current password is reported beside the form', async () => {
    const answer = await submit({
      intent: 'password',
      currentPassword: 'no',
      newPassword: 'a better password',
    })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('The current password is wrong')
  })

  test('two-step sign-in is turned on with a code, and a wrong one keeps the QR code', async () => {
    const begun = await (await submit({ intent: 'mfa-start' })).text()
    const secret = /<code[^>]*>([A-Z2-7 ]{32,})</.exec(begun)?.[1]?.replaceAll(' ', '') ?? ''
    expect(begun).toContain('data:image/svg+xml')
    const wrong = await submit({ intent: 'mfa-confirm', code: '000000' })
    expect(wrong.status).toBe(400)
    expect(await wrong.text()).toContain('data:image/svg+xml')
    const code = await totpCodeAt(secret, app.ctx.now())
    const done = await (await submit({ intent: 'mfa-confirm', code })).text()
    expect(done.match(/(?<![\w-])[a-z2-7]{4}(-[a-z2-7]{4}){3}(?![\w-])/g)).toHaveLength(10)

    app.advance(30_000)
    const first = await (
      await browser.submit('/signin', { ...credentials(ANN), redirect: '/account' })
    ).text()
    expect(first).not.toContain(PASSWORD)
    const mfaTicket = /name="mfaTicket" value="([\w-]+)"/.exec(first)?.[1] ?? ''
    const next = { mfaTicket, redirect: '/account', code: await totpCodeAt(secret, app.ctx.now()) }
    expect(redirectOf(await browser.submit('/signin', next))).toEqual([303, '/account'])

    const off = await submit({ intent: 'mfa-disable', password: PASSWORD })
    expect(redirectOf(off)).toEqual([303, '/account?done=mfa-disable'])
  })

  test('leaving removes the site from the list', async () => {
    expect(redirectOf(await submit({ intent: 'leave', projectId }))).toEqual([303, '/account?done=leave'])
    expect(await (await browser.open('/account', { as: ANN })).text()).not.toContain('acme/docs')
  })

  test('a form from a sibling site or without an intent changes nothing', async () => {
    const forged = await browser.submit(
      '/account',
      { intent: 'mfa-start' },
      {
        as: ANN,
        headers: { origin: 'http://evil.localhost', 'sec-fetch-site': 'same-site' },
      },
    )
    expect(forged.status).toBe(403)
    expect((await submit({ intent: 'toString' })).status).toBe(400)
  })
})

describe('/forgot-password and /reset-password', () => {
  test('without mail it says that an admin can create the link, and offers no form', async () => {
    const shown = await browser.open('/forgot-password')
    const sent = await browser.submit('/forgot-password', { email: 'nobody@example.com' })
    for (const answer of [shown, sent]) {
      expect(answer.status).toBe(200)
      const text = await answer.text()
      expect(text).toContain('This server cannot send mail. Ask an admin')
      expect(text).not.toMatch(/<form|notice-good/)
    }
  })

  test('a link sets the password once', async () => {
    const made = await ask(app, 'POST', '/api/users', { as: ADMIN, json: { email: 'new@example.com' } })
    const link = new URL(String(made.body['inviteUrl']))
    const path = `${link.pathname}${link.search}`
    const shown = await browser.open(path)
    expect(shown.headers.get('referrer-policy')).toBe('no-referrer')
    expect(await shown.text()).toContain('new@example.com')
    const token = link.searchParams.get('token') ?? ''
    const short = await browser.submit('/reset-password', { token, password: 'short' })
    expect(short.status).toBe(400)
    const done = await browser.submit('/reset-password', { token, password: 'a better password' })
    expect(redirectOf(done)).toEqual([303, '/signin?done=password'])
    expect(await (await browser.open('/signin?done=password')).text()).toContain('Your password was set')
    const again = await browser.open(path)
    expect(again.status).toBe(400)
    expect(await again.text()).toContain('has been used')
  })
})

describe('/invite', () => {
  test('an invalid link says so, and what to do', async () => {
    const answer = await browser.open('/invite?token=nope')
    const html = await answer.text()
    expect(answer.status).toBe(404)
    expect(html).toContain('Invitation not found')
    expect(html).toContain('ask for a new one')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  })

  const inviteUrl = async (email: string, to = projectId) => {
    const made = await ask(app, 'POST', `/api/projects/${to}/invitations`, {
      as: ADMIN,
      json: { email, role: 'viewer' },
    })
    const url = new URL(String(made.body['url']))
    return `${url.pathname}${url.search}`
  }

  test('a person with a new email chooses a password and is signed in', async () => {
    const path = await inviteUrl('guest@example.com')
    const text = await (await browser.open(path)).text()
    expect(text).toContain('Docs')
    const done = await browser.submit(path, { intent: 'signup', password: 'a better password' })
    expect(redirectOf(done)).toEqual([303, '/account'])
    const account = await browser.open('/account', { headers: { cookie: cookieHeader(done) } })
    expect(await account.text()).toContain('acme/docs')
    expect((await browser.open(path)).status).toBe(404)
  })

  describe('where something is published', () => {
    let site: Seeded
    beforeAll(async () => {
      const files = { 'index.html': '<h1>Menu</h1>' }
      const seed = { owner: 'acme', repo: 'menu', sha: 'b'.repeat(40), alias: 'production', files }
      site = await seedDeployment(app, { ...seed, isPublic: false })
    })

    /** Where the page leads, and then the sign-in that hands the session over; the site at last. */
    async function siteAfter(answer: Response, cookie: string): Promise<string> {
      const next = /content="0;url=([^"]*)"/.exec((await answer.text()).replaceAll('&amp;', '&'))?.[1] ?? ''
      const url = `http://${site.aliasHost}:3000`
      expect([answer.status, next]).toEqual([200, `/signin?${new URLSearchParams({ redirect: url })}`])
      const handed = await browser.open(next, { headers: { cookie } })
      const { host, pathname, search } = new URL(String(handed.headers.get('location')))
      expect(host).toBe(`${site.aliasHost}:3000`)
      const there = await browser.open(`${pathname}${search}`, { host: site.aliasHost ?? '' })
      const own = { host: site.aliasHost ?? '', headers: { cookie: cookieHeader(there) } }
      return (await browser.open('/', own)).text()
    }

    test('a new account ends at the site, whatever the link adds', async () => {
      const path = await inviteUrl('first@example.com', site.projectId)
      const fields = { intent: 'signup', password: 'a better password', redirect: 'https://evil.example/' }
      const done = await browser.submit(`${path}&redirect=https://evil.example/`, fields)
      expect(await siteAfter(done, cookieHeader(done))).toContain('Menu')
    })

    test('so does an account that was there before', async () => {
      const email = 'second@example.com'
      const path = await inviteUrl(email, site.projectId)
      await app.addUser(email)
      const cookie = cookieHeader(await browser.submit('/signin', credentials(email)))
      const done = await browser.submit(path, { intent: 'accept' }, { headers: { cookie } })
      expect(await siteAfter(done, cookie)).toContain('Menu')
    })
  })

  test('invitation theft: somebody else who is signed in cannot take it', async () => {
    const path = await inviteUrl('later@example.com')
    const text = await (await browser.open(path, { as: ANN })).text()
    expect(text).toContain('You are signed in as')
    expect((await browser.submit(path, { intent: 'accept' }, { as: ANN })).status).toBe(403)
    const switched = await browser.submit(path, { intent: 'switch' }, { as: ANN })
    expect(redirectOf(switched)).toEqual([303, path])
    expect((await browser.open(path)).status).toBe(200)
  })
})

test('a site that cannot share the session gets its own after the form', async () => {
  const { aliasHost } = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  const redirect = `http://${aliasHost}:3000/guide/`
  const answer = await browser.submit('/signin', { ...credentials(ADMIN), redirect })
  const text = (await answer.text()).replaceAll('&amp;', '&')
  const next = /http:\/\/[^"]*\/_svc\/auth\/callback\?[^"]*/.exec(text)?.[0] ?? ''
  const url = new URL(next)
  const there = await browser.open(`${url.pathname}${url.search}`, { host: aliasHost ?? '' })
  expect(redirectOf(there)).toEqual([303, '/guide/'])
  const signedIn = await ask(app, 'GET', '/_svc/auth/session', {
    host: aliasHost ?? '',
    headers: { cookie: cookieHeader(there) },
  })
  expect(signedIn.body['user']).toMatchObject({ email: ADMIN })
})

describe('mail notices', () => {
  const CARL = 'carl@example.com'
  beforeAll(() => app.addUser(CARL))

  const isTicked = async (id: string, as: string) => {
    const text = await (await browser.open('/account', { as })).text()
    const input = new RegExp(`<input[^>]*name="${id}"[^>]*>`).exec(text)?.[0]
    return input === undefined ? undefined : /\schecked/.test(input)
  }

  test('are switched by the boxes that are ticked, and say that this server sends no mail', async () => {
    const text = await (await browser.open('/account', { as: CARL })).text()
    expect(text).toContain('This server sends no mail')
    expect(await isTicked('newDevice', CARL)).toBe(true)
    expect(await isTicked('backupFailed', CARL)).toBeUndefined()
    const off = await submit({ intent: 'notices' }, CARL)
    expect(redirectOf(off)).toEqual([303, '/account?done=notices'])
    expect(await isTicked('newDevice', CARL)).toBe(false)
    await submit({ intent: 'notices', newDevice: 'true', backupFailed: 'true' }, CARL)
    expect(await isTicked('newDevice', CARL)).toBe(true)
  })

  test('of the workspace are for its admins', async () => {
    await submit({ intent: 'notices', newDevice: 'true', diskLow: 'true' }, ADMIN)
    expect(await isTicked('diskLow', ADMIN)).toBe(true)
    expect(await isTicked('backupFailed', ADMIN)).toBe(false)
  })
})
