import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

/** Every path where a new password is taken, in each form of one. contract 12.7. Commands and settings have a file of theirs. */

const ROOT = 'root@example.com'
const NEXT = 'r\u00e9sum\u00e9s of ann'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  await app.call('PATCH', '/api/settings', { as: ROOT, json: { allowPublicSignups: true } })
})
afterAll(() => app.close())

const form = (path: string, fields: Record<string, string>, as?: string) =>
  app.call('POST', path, {
    as,
    body: new URLSearchParams(fields),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })

/** Sets the password and says with which status it was done. Leaves the account with it. */
const passwordPaths: [
  path: string,
  good: number,
  set: (password: string, email: string) => Promise<Response>,
][] = [
  [
    'POST /api/auth/signup',
    201,
    (password, email) => app.call('POST', '/api/auth/signup', { json: { email, password } }),
  ],
  [
    'POST /api/users',
    201,
    (password, email) => app.call('POST', '/api/users', { as: ROOT, json: { email, password } }),
  ],
  [
    'POST /api/auth/reset-password',
    200,
    async (password, email) =>
      app.call('POST', '/api/auth/reset-password', { json: { token: await inviteToken(email), password } }),
  ],
  ['POST /signup', 303, (password, email) => form('/signup', { email, password })],
  [
    'POST /reset-password',
    303,
    async (password, email) => form('/reset-password', { token: await inviteToken(email), password }),
  ],
  [
    'POST /api/account/password',
    200,
    async (newPassword, email) => {
      await app.addUser(email)
      const json = { currentPassword: PASSWORD, newPassword }
      return app.call('POST', '/api/account/password', { as: email, json })
    },
  ],
  [
    'POST /account',
    303,
    async (newPassword, email) => {
      await app.addUser(email)
      return form('/account', { intent: 'password', currentPassword: PASSWORD, newPassword }, email)
    },
  ],
]

async function inviteToken(email: string): Promise<string> {
  const { body } = await ask(app, 'POST', '/api/users', { as: ROOT, json: { email } })
  return new URL(String(body['inviteUrl'])).searchParams.get('token') ?? ''
}

let made = 0
const newEmail = () => `new-${made++}@example.com`

describe.each(passwordPaths)('a new password by %s', (_path, good, set) => {
  test.each([
    ['NFC', NEXT],
    ['NFD', NEXT.normalize('NFD')],
  ])('is good in both forms when it was set in %s', async (_form, password) => {
    const email = newEmail()
    expect((await set(password, email)).status).toBe(good)
    for (const typed of [NEXT, NEXT.normalize('NFD')]) {
      const json = { email, password: typed }
      expect((await app.call('POST', '/api/auth/signin', { json })).status).toBe(200)
    }
    expect((await form('/signin', { email, password: NEXT.normalize('NFD') })).status).toBe(303)
  })

  test.each([
    ['7 that are 14 in NFD', '\u00e9'.repeat(7).normalize('NFD'), 'at least 8 characters'],
    ['7 of two units', '\u{1d11e}'.repeat(7), 'at least 8 characters'],
    ['257', 'a'.repeat(257), 'at most 256 characters'],
  ])('is refused with its reason: %s', async (_what, password, reason) => {
    const answer = await set(password, newEmail())
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(reason)])
  })

  test.each([
    ['256 that are 512 in NFD', '\u00e9'.repeat(256).normalize('NFD')],
    ['256 of two units', '\u{1d11e}'.repeat(256)],
  ])('is taken: %s', async (_what, password) => {
    const email = newEmail()
    expect((await set(password, email)).status).toBe(good)
    expect((await app.call('POST', '/api/auth/signin', { json: { email, password } })).status).toBe(200)
  })
})

test('the first admin: POST /api/setup/complete and /setup', async () => {
  for (const path of ['/api/setup/complete', '/setup']) {
    const fresh = await testApp()
    const send = (password: string) => {
      const email = 'Rene\u0301@B\u00fccher.example'
      return path === '/setup'
        ? fresh.call('POST', path, {
            body: new URLSearchParams({ email, password }),
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
          })
        : fresh.call('POST', path, { json: { email, password } })
    }
    const short = await send('\u00e9'.repeat(7).normalize('NFD'))
    expect([short.status, await short.text()]).toEqual([
      400,
      expect.stringContaining('at least 8 characters'),
    ])
    expect((await send(NEXT.normalize('NFD'))).status).toBe(path === '/setup' ? 303 : 201)
    const json = { email: 'ren\u00e9@xn--bcher-kva.example', password: NEXT }
    expect(await ask(fresh, 'POST', '/api/auth/signin', { json })).toMatchObject({
      status: 200,
      body: { user: { email: json.email } },
    })
    fresh.close()
  }
})
