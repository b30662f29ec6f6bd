import { afterEach, beforeEach, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

/** What happens between the right password and the session. */

const ANN = 'ann@example.com'

let app: TestApp
beforeEach(async () => {
  app = await testApp()
  await app.addUser(ANN)
})
afterEach(() => app.close())

const signIn = (password = PASSWORD) =>
  ask(app, 'POST', '/api/auth/signin', { json: { email: ANN, password } })
const rowsOf = (query: string) => app.ctx.db.sqlite.query<Record<string, unknown>, []>(query).all()

/** Changes the account while its password is compared. */
function changeMeanwhile(change: string): void {
  const { verify } = app.ctx.passwords
  app.ctx.passwords.verify = async (password, hash) => {
    const isRight = await verify(password, hash)
    app.ctx.db.sqlite.run(`UPDATE users SET ${change}`)
    app.ctx.db.writes += 1
    return isRight
  }
}

test.each([
  ['the password', "password_hash = 'of a reset'"],
  ['the second step', "totp_secret = 'of another tab'"],
])('nobody gets in by what was right before it changed meanwhile: %s', async (_, change) => {
  changeMeanwhile(change)
  const answer = await signIn()
  expect(answer).toMatchObject({ status: 401, body: { error: 'WRONG_CREDENTIALS_ERROR' } })
  expect(rowsOf('SELECT * FROM sessions')).toEqual([])
})

test('the response has the role that changed meanwhile', async () => {
  changeMeanwhile("role = 'user'")
  expect(await signIn()).toMatchObject({ status: 200, body: { user: { email: ANN, role: 'user' } } })
})

test('the audit log names the person and the session that was opened', async () => {
  await signIn()
  await signIn('not this one')
  const [session] = rowsOf('SELECT id, user_id FROM sessions')
  const entries = rowsOf("SELECT * FROM audit_log WHERE action = 'session.open'")
  expect(entries).toHaveLength(1)
  expect(entries[0]).toMatchObject({
    actor_kind: 'user',
    actor_id: session?.['user_id'],
    actor_name: ANN,
    credential: `session ${session?.['id']}`,
    target_kind: 'session',
    target_id: session?.['id'],
  })
})

test('a successful sign-in clears earlier failures', async () => {
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 9; i++) expect((await signIn(`not this ${i}`)).status).toBe(401)
    expect((await signIn()).status).toBe(200)
  }
})
