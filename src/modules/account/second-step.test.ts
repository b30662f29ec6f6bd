import { afterEach, beforeEach, expect, test } from 'bun:test'
import { totpCodeAt } from '../../platform/totp.ts'
import { ask } from '../../testing/ask.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

/** A stolen session cannot be used to guess codes: wrong ones while setting up count for the lockout. */

const ANN = 'ann@example.com'

let app: TestApp
let right = ''
beforeEach(async () => {
  app = await testApp()
  await app.addUser(ANN)
  const { body } = await ask(app, 'POST', '/api/account/mfa/totp', { as: ANN })
  right = await totpCodeAt(String(body['secret']), app.ctx.now())
})
afterEach(() => app.close())

const confirm = async (code: string) =>
  (await ask(app, 'POST', '/api/account/mfa/totp/confirm', { as: ANN, json: { code } })).status
const signIn = async () =>
  (await ask(app, 'POST', '/api/auth/signin', { json: { email: ANN, password: PASSWORD } })).status

test('ten wrong codes lock the pair: the right one is refused, here and at sign-in', async () => {
  for (let i = 0; i < 10; i++) expect(await confirm('no code')).toBe(400)
  expect([await confirm(right), await signIn()]).toEqual([429, 429])
  app.advance(15 * 60 * 1000)
  expect(await signIn()).toBe(200)
})

test('of many concurrent requests, ten get a response', async () => {
  const wrong = right === '000000' ? '000001' : '000000'
  const statuses = await Promise.all(Array.from({ length: 20 }, () => confirm(wrong)))
  expect(statuses.filter((status) => status === 400)).toHaveLength(10)
  expect(statuses.filter((status) => status === 429)).toHaveLength(10)
})
