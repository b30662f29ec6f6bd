import { afterAll, beforeAll, expect, test } from 'bun:test'
import { totpCodeAt } from '../../platform/totp.ts'
import { ask } from '../../testing/ask.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

/** TOTP replay: each code works once. */

let app: TestApp
const email = 'mfa@example.com'
const signIn = (code: string) =>
  ask(app, 'POST', '/api/auth/signin', { json: { email, password: PASSWORD, code } })
let secret = ''
let recoveryCodes: string[] = []

beforeAll(async () => {
  app = await testApp()
  await app.addUser(email)
  secret = String((await ask(app, 'POST', '/api/account/mfa/totp', { as: email })).body['secret'])
  const code = await totpCodeAt(secret, app.ctx.now())
  const confirmed = await ask(app, 'POST', '/api/account/mfa/totp/confirm', { as: email, json: { code } })
  recoveryCodes = confirmed.body['recoveryCodes'] as string[]
  app.advance(60_000)
})
afterAll(() => app.close())

test('TOTP replay: one code sent twice at once opens one session', async () => {
  const code = await totpCodeAt(secret, app.ctx.now())
  const answers = await Promise.all([signIn(code), signIn(code), signIn(code)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401])
})

test('TOTP replay: a code of an earlier step is invalid after a later one', async () => {
  const earlier = await totpCodeAt(secret, app.ctx.now() - 30_000)
  expect((await signIn(earlier)).body).toMatchObject({ error: 'MFA_CODE_INVALID' })
})

test('recovery code replay: one sent twice at once opens one session', async () => {
  const [code = ''] = recoveryCodes
  const answers = await Promise.all([signIn(code), signIn(code)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
})
