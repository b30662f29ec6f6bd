import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fillEmailKeys } from '../../../migrations/0016_email_keys.ts'
import { ask } from '../../testing/ask.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'
import { findTwins } from './service.ts'

/** Accounts of a version that took each spelling for another email, the older first. contract 12.7. */
const ROOT = 'root@example.com'
const OLDER = 'rene\u0301@b\u00fccher.example'
const YOUNGER = 'ren\u00e9@xn--bcher-kva.example'
const ALONE = 'zoe\u0308@example.com'
const ODD = 'ann@a..b'

let app: TestApp
const ids = new Map<string, string>()
beforeAll(async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  for (const [i, email] of [OLDER, YOUNGER, ALONE, ODD].entries()) {
    app.advance(1000)
    const id = await app.addUser(`user-${i}@example.com`, 'member')
    app.ctx.db.sqlite.run('UPDATE users SET email = ? WHERE id = ?', [email, id])
    ids.set(email, id)
  }
  fillEmailKeys(app.ctx.db.sqlite)
  app.ctx.db.writes += 1
})
afterAll(() => app.close())

const signIn = (email: string, password = PASSWORD) =>
  ask(app, 'POST', '/api/auth/signin', { json: { email, password } })

test.each<[typed: string, account: string]>([
  [OLDER, OLDER],
  [` ${OLDER.toUpperCase()} `, OLDER],
  [YOUNGER, YOUNGER],
  ['Ren\u00e9@XN--BCHER-KVA.example', YOUNGER],
  ['ren\u00e9@b\u00fccher.example', OLDER],
  ['rene\u0301@xn--bcher-kva.example', OLDER],
  [ALONE, ALONE],
  ['zo\u00eb@example.com', ALONE],
  [ODD, ODD],
])('%j signs in to %j', async (typed, account) => {
  expect(await signIn(typed)).toMatchObject({
    status: 200,
    body: { user: { id: ids.get(account), email: account } },
  })
})

test('an email that no account has and that has no form is 400', async () => {
  expect(await signIn('bob@a..b')).toMatchObject({ status: 400, body: { details: [{ path: 'email' }] } })
})

test('the look-up reads indexes only', () => {
  const plan = app.ctx.db.sqlite
    .query<{ detail: string }, []>(
      `EXPLAIN QUERY PLAN SELECT * FROM users WHERE email IN ('a', 'b')
         OR id IN (SELECT user_id FROM email_keys WHERE email = 'b') ORDER BY email = 'a' DESC, created_at, id LIMIT 1`,
    )
    .all()
  expect(plan.map(({ detail }) => detail).filter((detail) => detail.startsWith('SCAN'))).toEqual([])
})

test('they are listed, the older first, with nobody who has an email for himself', () => {
  expect(findTwins(app.ctx)).toEqual([
    [OLDER, YOUNGER].map((email) => ({ id: ids.get(email) ?? '', email, createdAt: expect.any(String) })),
  ])
})

test('the users page names them with links', async () => {
  const html = await (await app.call('GET', '/admin/users', { as: ROOT })).text()
  expect(html).toContain('one email, 2 accounts: ')
  for (const email of [OLDER, YOUNGER])
    expect(html).toContain(`<a href="/admin/users/${ids.get(email)}">${email}</a>`)
})

describe('a locked twin', () => {
  test('does not lock the other, whose sign-in does not unlock it', async () => {
    for (let i = 0; i < 10; i++) expect((await signIn(OLDER, `not this ${i}`)).status).toBe(401)
    expect((await signIn('ren\u00e9@b\u00fccher.example')).status).toBe(429)
    expect((await signIn(YOUNGER)).status).toBe(200)
    expect((await signIn(OLDER)).status).toBe(429)
    app.advance(15 * 60_000)
  })
})

describe('changing an account', () => {
  const change = (email: string, json: object) =>
    ask(app, 'PATCH', `/api/users/${ids.get(email)}`, { as: ROOT, json })

  test('keeps a stored spelling that is sent back', async () => {
    expect(await change(OLDER, { email: OLDER, role: 'user' })).toMatchObject({
      status: 200,
      body: { email: OLDER, role: 'user' },
    })
  })

  test('refuses the email of the twin', async () => {
    expect((await change(OLDER, { email: 'ren\u00e9@b\u00fccher.example' })).status).toBe(409)
    expect((await change(ALONE, { email: 'ren\u00e9@b\u00fccher.example' })).status).toBe(409)
  })

  test('stores the normal form of its own email', async () => {
    expect(await change(ALONE, { email: 'ZO\u00cb@example.com' })).toMatchObject({
      status: 200,
      body: { email: 'zo\u00eb@example.com' },
    })
    expect((await signIn(ALONE)).status).toBe(200)
  })

  test('without the older, its spellings mean the younger', async () => {
    expect((await app.call('DELETE', `/api/users/${ids.get(OLDER)}`, { as: ROOT })).status).toBe(204)
    expect(await signIn(OLDER)).toMatchObject({ status: 200, body: { user: { email: YOUNGER } } })
    expect(findTwins(app.ctx)).toEqual([])
  })
})
