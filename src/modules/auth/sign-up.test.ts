import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { DOCS, SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

/** Whether somebody may sign up is decided when the account is stored, not when hashing of the password began. */

const ROOT = 'root@example.com'
const SITE = 'aaaaaaaaaaaa--docs--acme.localhost'

let app: TestApp
let projectId = ''

beforeEach(async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  const seeded = await seedDeployment(app, DOCS)
  projectId = seeded.projectId
  await settings({ requireProjectMembership: true, allowPublicSignups: true })
  await app.call('PATCH', `/api/projects/${projectId}`, { as: SEED_OWNER, json: { allowPublicSignup: true } })
})
afterEach(() => app.close())

const settings = (json: Record<string, boolean>) => app.call('PATCH', '/api/settings', { as: ROOT, json })
const closeSite = () =>
  app.call('PATCH', `/api/projects/${projectId}`, { as: SEED_OWNER, json: { allowPublicSignup: false } })
const deleteSite = () => app.call('DELETE', `/api/projects/${projectId}`, { as: SEED_OWNER })

/** Signs up, and runs `meanwhile` while the password is hashed or compared. */
async function signUpDuring(email: string, host: string, meanwhile: () => Promise<Response>) {
  await Promise.all([ROOT, SEED_OWNER].map((person) => app.cookieOf(person)))
  const begun = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const { hash, verify } = app.ctx.passwords
  const wait = () => {
    begun.resolve()
    return done.promise
  }
  app.ctx.passwords.hash = (password) => wait().then(() => hash(password))
  app.ctx.passwords.verify = (password, stored) => wait().then(() => verify(password, stored))
  const answer = app.call('POST', '/api/auth/signup', { host, json: { email, password: PASSWORD } })
  await begun.promise
  expect((await meanwhile()).status).toBeLessThan(300)
  done.resolve()
  const { status, headers } = await answer
  return { status, error: (await (await answer).json()).error, cookies: headers.getSetCookie() }
}

const refused = { status: 403, error: 'PUBLIC_SIGNUP_DISABLED', cookies: [] }
const count = (table: string) => app.ctx.db.sqlite.query(`SELECT count(*) AS n FROM ${table}`).get()

describe('signing up while it is turned off', () => {
  test.each([
    ['the site', SITE, closeSite],
    ['the site, which is deleted', SITE, deleteSite],
    ['the workspace', 'localhost', () => settings({ allowPublicSignups: false })],
    ['the site, whose gate is taken away', SITE, () => settings({ requireProjectMembership: false })],
  ])('makes no account: %s', async (_, host, meanwhile) => {
    const users = count('users')
    expect(await signUpDuring('new@example.com', host, meanwhile)).toEqual(refused)
    expect(count('users')).toEqual(users)
  })

  test.each([
    ['is closed', closeSite],
    ['is deleted', deleteSite],
  ])('makes nobody a member who has an account: the site %s', async (_, meanwhile) => {
    const id = await app.addUser('known@example.com')
    expect(await signUpDuring('known@example.com', SITE, meanwhile)).toEqual(refused)
    expect(app.ctx.db.sqlite.query('SELECT * FROM memberships WHERE user_id = ?').all(id)).toEqual([])
    expect(app.ctx.db.sqlite.query('SELECT * FROM sessions WHERE user_id = ?').all(id)).toEqual([])
  })

  test('other changes in the meantime do not matter', async () => {
    const rename = () =>
      app.call('PATCH', `/api/projects/${projectId}`, { as: SEED_OWNER, json: { displayName: 'Docs' } })
    expect((await signUpDuring('new@example.com', SITE, rename)).status).toBe(201)
  })
})
