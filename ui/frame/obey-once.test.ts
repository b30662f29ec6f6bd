import { afterEach, describe, expect, test } from 'bun:test'
import { totpCodeAt } from '../../src/platform/totp.ts'
import { ask } from '../../src/testing/ask.ts'
import { cookieHeader, PASSWORD, type TestApp, testApp } from '../../src/testing/test-app.ts'
import { PAGE_ID } from '../components/html.ts'
import { ADMIN, type Browser, browserOf, credentials, redirectOf } from '../testing/browser.ts'

const ANN = 'ann@example.com'
const GRACE = 'grace@example.com'

/** All clicks are on the same rendered page. */
const PAGE_ONE = { [PAGE_ID]: 'one' }

let app: TestApp
afterEach(() => app.close())

async function startServer(): Promise<Browser> {
  app = await testApp()
  await app.addUser(ADMIN, 'admin')
  return browserOf(app)
}

const openSignup = () => ask(app, 'PATCH', '/api/settings', { as: ADMIN, json: { allowPublicSignups: true } })

/** Two clicks before the first response and a third after it: their responses and sessions. */
async function clickThrice(send: () => Promise<Response>): Promise<Response[]> {
  const [first, second] = await Promise.all([send(), send()])
  return [first, second, await send()]
}

function countOf(table: 'users' | 'sessions'): unknown {
  return app.ctx.db.sqlite.query(`SELECT count(*) AS count FROM ${table}`).get()
}

async function expectOneSession(browser: Browser, answers: readonly Response[], to: string): Promise<void> {
  for (const answer of answers) {
    expect(redirectOf(answer)).toEqual([303, to])
    const account = await browser.open('/account', { headers: { cookie: cookieHeader(answer) } })
    expect(account.status).toBe(200)
  }
}

const linkOf = (url: unknown): string => {
  const { pathname, search } = new URL(String(url))
  return `${pathname}${search}`
}

describe('a form that is sent twice leads to the result of the first', () => {
  test('the set-up', async () => {
    app = await testApp()
    const browser = browserOf(app)
    const answers = await clickThrice(() => browser.submit('/setup', { ...credentials(), ...PAGE_ONE }))
    await expectOneSession(browser, answers, '/welcome')
    expect(countOf('users')).toEqual({ count: 1 })
    expect(countOf('sessions')).toEqual({ count: 1 })
  })

  test('signing up', async () => {
    const browser = await startServer()
    await openSignup()
    const answers = await clickThrice(() => browser.submit('/signup', { ...credentials(ANN), ...PAGE_ONE }))
    await expectOneSession(browser, answers, '/')
    expect(countOf('users')).toEqual({ count: 2 })
  })

  test('a new password', async () => {
    const browser = await startServer()
    const made = await ask(app, 'POST', '/api/users', { as: ADMIN, json: { email: ANN } })
    const token = new URL(String(made.body['inviteUrl'])).searchParams.get('token') ?? ''
    const answers = await clickThrice(() =>
      browser.submit('/reset-password', { token, password: PASSWORD, ...PAGE_ONE }),
    )
    expect(answers.map(redirectOf)).toEqual(answers.map(() => [303, '/signin?done=password']))
  })

  test('a changed password', async () => {
    const browser = await startServer()
    await app.addUser(ANN)
    await browser.open('/account', { as: ANN })
    const form = { intent: 'password', currentPassword: PASSWORD, newPassword: 'another password' }
    const answers = await clickThrice(() => browser.submit('/account', { ...form, ...PAGE_ONE }, { as: ANN }))
    expect(answers.map(redirectOf)).toEqual(answers.map(() => [303, '/account?done=password']))
  })

  test('an invitation', async () => {
    const browser = await startServer()
    const path = await invitation()
    const form = { intent: 'signup', password: PASSWORD, ...PAGE_ONE }
    await expectOneSession(
      browser,
      await clickThrice(() => browser.submit(path, { ...form, ...PAGE_ONE })),
      '/account',
    )
  })

  test('the code of a second step, and its recovery codes', async () => {
    const browser = await startServer()
    await app.addUser(ANN)
    const secret = await startSecondStep(browser, ANN)
    const code = await totpCodeAt(secret, app.ctx.now())
    const confirm = () =>
      browser.submit('/account', { intent: 'mfa-confirm', code, ...PAGE_ONE }, { as: ANN })
    const [first = [], ...others] = await Promise.all((await clickThrice(confirm)).map(codesOf))
    expect(first).toHaveLength(10)
    expect(others).toEqual([first, first])

    app.advance(30_000)
    const step = await (await browser.submit('/signin', credentials(ANN))).text()
    const mfaTicket = /name="mfaTicket" value="([\w-]+)"/.exec(step)?.[1] ?? ''
    const next = { mfaTicket, code: await totpCodeAt(secret, app.ctx.now()) }
    await expectOneSession(
      browser,
      await clickThrice(() => browser.submit('/signin', { ...next, ...PAGE_ONE })),
      '/',
    )
  })
})

describe('nobody else gets that response', () => {
  test('not a form with another password', async () => {
    const browser = await startServer()
    await openSignup()
    await browser.submit('/signup', { ...credentials(ANN), ...PAGE_ONE })
    const other = await browser.submit('/signup', { email: ANN, password: 'another password', ...PAGE_ONE })
    expect(other.status).toBe(409)
    expect(other.headers.getSetCookie()).toEqual([])
  })

  test('not a form from another address or browser', async () => {
    const browser = await startServer()
    const path = await invitation()
    const send = (options = {}) =>
      browser.submit(path, { intent: 'signup', password: PASSWORD, ...PAGE_ONE }, options)
    await send()
    expect((await send({ from: '203.0.113.9' })).status).toBe(404)
    expect((await send({ headers: { 'user-agent': 'another' } })).status).toBe(404)
  })

  test('recovery code theft: not another person behind the same address with the same code', async () => {
    const browser = await startServer()
    await app.addUser(ANN)
    await app.addUser(GRACE)
    const code = await totpCodeAt(await startSecondStep(browser, ANN), app.ctx.now())
    const confirm = (as: string) =>
      browser.submit('/account', { intent: 'mfa-confirm', code, ...PAGE_ONE }, { as })
    expect(await codesOf(await confirm(ANN))).toHaveLength(10)
    const refused = await confirm(GRACE)
    expect(refused.status).toBe(400)
    expect(await codesOf(refused)).toEqual([])
  })
})

test('a rejected form may be sent again', async () => {
  const browser = await startServer()
  const send = () => browser.submit('/signup', { ...credentials(ANN), ...PAGE_ONE })
  expect((await send()).status).toBe(403)
  await openSignup()
  expect(redirectOf(await send())).toEqual([303, '/'])
})

async function invitation(): Promise<string> {
  const project = await ask(app, 'POST', '/api/projects', {
    as: ADMIN,
    json: { owner: 'acme', name: 'docs' },
  })
  const made = await ask(app, 'POST', `/api/projects/${project.body['id']}/invitations`, {
    as: ADMIN,
    json: { email: ANN, role: 'viewer' },
  })
  return linkOf(made.body['url'])
}

async function startSecondStep(browser: Browser, as: string): Promise<string> {
  const begun = await (await browser.submit('/account', { intent: 'mfa-start' }, { as })).text()
  return /<code[^>]*>([A-Z2-7 ]{32,})</.exec(begun)?.[1]?.replaceAll(' ', '') ?? ''
}

const codesOf = async (answer: Response): Promise<string[]> => [
  ...((await answer.text()).match(/(?<![\w-])[a-z2-7]{4}(-[a-z2-7]{4}){3}(?![\w-])/g) ?? []),
]
