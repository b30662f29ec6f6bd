import { afterEach, beforeEach, expect, test } from 'bun:test'
import { inTransaction } from '../../db/open.ts'
import { totpCodeAt } from '../../platform/totp.ts'
import { ask } from '../../testing/ask.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

/** Comparing a password or a code takes a while: what ended or was replaced meanwhile must not take effect. */

const ANN = 'ann@example.com'

let app: TestApp
beforeEach(async () => {
  app = await testApp()
  await app.addUser(ANN)
  await app.cookieOf(ANN)
})
afterEach(() => app.close())

type Stored = { passwordHash: string; totpSecret: string | null }
const stored = () =>
  app.ctx.db.sqlite
    .query<Stored, []>('SELECT password_hash AS passwordHash, totp_secret AS totpSecret FROM users')
    .get()

/** The status of a request whose session ends while it runs. */
async function statusAfterEnd(method: string, path: string, json: unknown): Promise<number> {
  const { verify } = app.ctx.passwords
  app.ctx.passwords.verify = async (password, hash) => {
    const ended = await app.call('POST', '/api/auth/signout', { as: ANN })
    expect(ended.status).toBe(200)
    return verify(password, hash)
  }
  return (await app.call(method, path, { as: ANN, json })).status
}

test('it sets no password', async () => {
  const before = stored()
  const json = { currentPassword: PASSWORD, newPassword: 'another good password' }
  expect(await statusAfterEnd('POST', '/api/account/password', json)).toBe(401)
  expect(stored()).toEqual(before)
})

test('it does not turn the second step off', async () => {
  app.ctx.db.sqlite.run("UPDATE users SET totp_secret = 'sealed'")
  const before = stored()
  expect(await statusAfterEnd('DELETE', '/api/account/mfa/totp', { password: PASSWORD })).toBe(401)
  expect(stored()).toEqual(before)
})

test('it does not turn the second step on', async () => {
  const { body } = await ask(app, 'POST', '/api/account/mfa/totp', { as: ANN })
  const code = await totpCodeAt(String(body['secret']), app.ctx.now())
  const { open } = app.ctx.secrets
  app.ctx.secrets.open = (...sealed) => {
    inTransaction(app.ctx.db, () => app.ctx.db.sqlite.run('DELETE FROM sessions'))
    return open(...sealed)
  }
  const answer = await app.call('POST', '/api/account/mfa/totp/confirm', { as: ANN, json: { code } })
  expect(answer.status).toBe(401)
  expect(stored()?.totpSecret).toBeNull()
})

test.each([
  ['POST', '/api/account/password', { currentPassword: PASSWORD, newPassword: 'another good password' }],
  ['DELETE', '/api/account/mfa/totp', { password: PASSWORD }],
])('a password that a reset has replaced proves nothing: %s %s', async (method, path, json) => {
  app.ctx.db.sqlite.run("UPDATE users SET totp_secret = 'sealed'")
  const { verify } = app.ctx.passwords
  app.ctx.passwords.verify = async (password, hash) => {
    const isRight = await verify(password, hash)
    app.ctx.db.sqlite.run("UPDATE users SET password_hash = 'of a reset'")
    return isRight
  }
  const answer = await ask(app, method, path, { as: ANN, json })
  expect(answer).toMatchObject({ status: 400, body: { error: 'WRONG_CREDENTIALS_ERROR' } })
  expect(stored()).toEqual({ passwordHash: 'of a reset', totpSecret: 'sealed' })
})

test('the code of a secret that another tab replaced does not turn the second step on', async () => {
  const { body } = await ask(app, 'POST', '/api/account/mfa/totp', { as: ANN })
  const code = await totpCodeAt(String(body['secret']), app.ctx.now())
  const { open } = app.ctx.secrets
  app.ctx.secrets.open = (...sealed) => {
    app.ctx.db.sqlite.run("UPDATE totp_enrollments SET secret = 'of another tab'")
    return open(...sealed)
  }
  const answer = await ask(app, 'POST', '/api/account/mfa/totp/confirm', { as: ANN, json: { code } })
  expect(answer).toMatchObject({ status: 400, body: { error: 'MFA_CODE_INVALID' } })
  expect(stored()?.totpSecret).toBeNull()
})
