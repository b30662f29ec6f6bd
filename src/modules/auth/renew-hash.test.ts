import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { CHEAP } from '../../testing/cheap-passwords.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

const ANN = 'ann@example.com'
const NFC = 'r\u00e9sum\u00e9s of ann'
const NFD = NFC.normalize('NFD')
/** As an input method may send it: neither. */
const MIXED = 'r\u00e9sume\u0301s of ann'

let app: TestApp
beforeEach(async () => {
  app = await testApp()
  await app.addUser(ANN)
})
afterEach(() => app.close())

const hashOf = (form: string) => Bun.password.hashSync(form, CHEAP.costs)
const stored = () => app.ctx.db.sqlite.query('SELECT password_hash FROM users').values().flat().join()

/** As a version before stored it: the hash of what was sent. */
function storeHashOf(form: string): void {
  app.ctx.db.sqlite.run('UPDATE users SET password_hash = ?', [hashOf(form)])
  app.ctx.db.writes += 1
}

const signIn = (password: string) => ask(app, 'POST', '/api/auth/signin', { json: { email: ANN, password } })

describe('a hash of before', () => {
  test.each([
    ['NFC', NFC, NFC],
    ['NFC', NFC, NFD],
    ['NFD', NFD, NFD],
    ['NFD', NFD, NFC],
    ['NFD', NFD, MIXED],
    ['neither', MIXED, MIXED],
  ])('of %s (%j) takes %j, and then all of them', async (_form, before, typed) => {
    storeHashOf(before)
    expect((await signIn(typed)).status).toBe(200)
    expect(Bun.password.verifySync(NFC, stored())).toBe(true)
    const renewed = stored()
    for (const one of [NFC, NFD, MIXED]) expect((await signIn(one)).status).toBe(200)
    expect(stored()).toBe(renewed)
  })

  test('of a mixed form is not guessed from another', async () => {
    storeHashOf(MIXED)
    const before = stored()
    expect((await signIn(NFC)).status).toBe(401)
    expect(stored()).toBe(before)
  })

  test('is not renewed by a wrong password, nor while the pair is locked', async () => {
    storeHashOf(NFD)
    const before = stored()
    for (let i = 0; i < 10; i++) expect((await signIn(`${NFD} ${i}`)).status).toBe(401)
    expect((await signIn(NFD)).status).toBe(429)
    expect(stored()).toBe(before)
  })

  test('is renewed and then replaced where the password is asked for again', async () => {
    const cookie = await app.cookieOf(ANN)
    storeHashOf(NFD)
    const json = { currentPassword: NFC, newPassword: PASSWORD }
    expect((await app.call('POST', '/api/account/password', { headers: { cookie }, json })).status).toBe(200)
    expect((await signIn(PASSWORD)).status).toBe(200)
  })

  test('ends no session', async () => {
    const cookie = await app.cookieOf(ANN)
    storeHashOf(NFD)
    await signIn(NFC)
    const { body } = await ask(app, 'GET', '/api/auth/session', { headers: { cookie } })
    expect(body).toMatchObject({ user: { email: ANN } })
  })
})

test('two sign-ins while a hash is renewed both succeed, and it is renewed once', async () => {
  storeHashOf(NFD)
  const all = await Promise.all(Array.from({ length: 8 }, (_, i) => signIn(i % 2 === 0 ? NFC : NFD)))
  expect(all.map(({ status }) => status)).toEqual(Array(8).fill(200))
  expect(Bun.password.verifySync(NFC, stored())).toBe(true)
  const sessions = app.ctx.db.sqlite.query('SELECT count(*) FROM sessions').values().flat()
  expect(sessions).toEqual([8])
})

test.each([
  ['a reset to another password', hashOf('another one of hers'), 401],
  ['a reset to the same password', hashOf(NFC), 200],
])('%s while a hash is renewed takes precedence', async (_what, replaced, status) => {
  storeHashOf(NFD)
  const { hash } = app.ctx.passwords
  app.ctx.passwords.hash = async (password) => {
    const renewed = await hash(password)
    app.ctx.db.sqlite.run('UPDATE users SET password_hash = ?', [replaced])
    app.ctx.db.writes += 1
    return renewed
  }
  expect((await signIn(NFD)).status).toBe(status)
  expect(stored()).toBe(replaced)
})

test('an unknown email, an account without password and a wrong password cost the same tries', async () => {
  await app.addUser('bob@example.com')
  app.ctx.db.sqlite.run("UPDATE users SET password_hash = NULL WHERE email = 'bob@example.com'")
  const { verify } = app.ctx.passwords
  const tried: string[] = []
  app.ctx.passwords.verify = (password, hash) => {
    tried.push(password)
    return verify(password, hash)
  }
  for (const email of [ANN, 'bob@example.com', 'nobody@example.com']) {
    for (const password of [NFC, NFD, MIXED, 'ascii only'])
      await app.call('POST', '/api/auth/signin', { json: { email, password } })
  }
  expect(tried).toEqual([...Array(3)].flatMap(() => [NFC, NFD, MIXED, 'ascii only']))
})
