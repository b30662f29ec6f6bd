import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { totpCodeAt } from '../../platform/totp.ts'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { cookieHeader, PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'
import { wrongCode } from '../../testing/wrong-code.ts'

const OPEN = 'production--open--acme.localhost'
const CLOSED = 'production--closed--acme.localhost'

let app: TestApp
const projects: Record<string, string> = {}

beforeAll(async () => {
  app = await testApp({ FEATURE_REQUIRE_PROJECT_MEMBERSHIP: 'true' })
  for (const [repo, allows] of [
    ['open', 1],
    ['closed', 0],
  ] as const) {
    const seeded = await seedDeployment(app, {
      owner: 'acme',
      repo,
      sha: 'a'.repeat(40),
      alias: 'production',
      isPublic: false,
      files: { 'index.html': repo },
    })
    projects[repo] = seeded.projectId
    app.ctx.db.sqlite.run('UPDATE projects SET allow_public_signup = ? WHERE id = ?', [
      allows,
      seeded.projectId,
    ])
  }
  await app.addUser('root@example.com', 'admin')
  await app.addUser('member@example.com')
  await app.addUser('stranger@example.com')
  await join('member@example.com', 'open', 'contributor')
  await join('member@example.com', 'closed', 'contributor')
})
afterAll(() => app.close())

function userId(email: string): string {
  const row = app.ctx.db.sqlite.query<{ id: string }, [string]>('SELECT id FROM users WHERE email = ?')
  return row.get(email)?.id ?? ''
}

async function join(email: string, repo: string, role: string): Promise<void> {
  const granted = await app.call('POST', `/api/projects/${projects[repo]}/permissions/users`, {
    as: 'root@example.com',
    json: { email, role },
  })
  if (granted.status !== 201) throw new Error(await granted.text())
}

const memberOf = (email: string, repo: string): boolean =>
  app.ctx.db.sqlite
    .query('SELECT 1 FROM memberships WHERE user_id = ? AND project_id = ?')
    .get(userId(email), projects[repo] ?? '') !== null

describe('GET /session', () => {
  test('has membership: the user', async () => {
    const cookie = await app.cookieOf('member@example.com')
    const { body } = await ask(app, 'GET', '/api/auth/session', { host: OPEN, headers: { cookie } })
    expect(body).toMatchObject({ user: { email: 'member@example.com', role: 'user' } })
  })

  const others = ['root@example.com', 'outsider@example.com']
  test.each(others)('no membership (%s): null, and the cookie stays as it is', async (email) => {
    if (email === 'outsider@example.com') await app.addUser(email)
    const cookie = await app.cookieOf(email)
    const answer = await app.call('GET', '/api/auth/session', { host: OPEN, headers: { cookie } })
    expect(await answer.json()).toEqual({ user: null })
    expect(answer.headers.getSetCookie()).toEqual([])
    const onAdmin = await ask(app, 'GET', '/api/auth/session', { headers: { cookie } })
    expect(onAdmin.body).toMatchObject({ user: { email } })
  })

  test('no membership and an expired access token: null, and no token is exchanged', async () => {
    const signedIn = await app.call('POST', '/api/auth/signin', {
      json: { email: 'root@example.com', password: PASSWORD },
    })
    const cookie = cookieHeader(signedIn)
    app.advance(2 * 60 * 60 * 1000)
    for (const path of ['/api/auth/session', '/']) {
      const answer = await app.call('GET', path, { host: OPEN, headers: { cookie, accept: 'text/html' } })
      expect(answer.headers.getSetCookie()).toEqual([])
    }
    const refresh = await app.call('POST', '/api/auth/session/refresh', { host: OPEN, headers: { cookie } })
    expect([refresh.status, refresh.headers.getSetCookie()]).toEqual([401, []])
    const onAdmin = await app.call('GET', '/api/auth/session', { headers: { cookie } })
    expect(onAdmin.headers.getSetCookie()).toHaveLength(2)
  })
})

test('signing out works behind a gate that refuses the person', async () => {
  const signedIn = await app.call('POST', '/api/auth/signin', {
    json: { email: 'root@example.com', password: PASSWORD },
  })
  const headers = { cookie: cookieHeader(signedIn) }
  expect((await app.call('POST', '/api/auth/signout', { host: OPEN, headers })).status).toBe(200)
  expect((await ask(app, 'GET', '/api/auth/session', { headers })).body).toEqual({ user: null })
})

describe('enumeration by text and by time', () => {
  /** Counts the work, which determines the time: one Argon2id verification takes 10,000 times as long as the rest. */
  async function verifications(work: () => Promise<Response>): Promise<[number, unknown, number]> {
    const { passwords } = app.ctx
    let count = 0
    app.ctx.passwords = {
      hash: (password) => passwords.hash(password),
      verify: (password, hash) => {
        count += 1
        return passwords.verify(password, hash)
      },
    }
    const answer = await work()
    app.ctx.passwords = passwords
    return [answer.status, await answer.json(), count]
  }

  test('signin: unknown, wrong and not a member give the same response for the same amount of work', async () => {
    const signIn = (email: string, password: string) =>
      verifications(() => app.call('POST', '/api/auth/signin', { host: CLOSED, json: { email, password } }))
    const unknown = await signIn('nobody@example.com', PASSWORD)
    expect(unknown[2]).toBe(1)
    expect(await signIn('member@example.com', 'not the password')).toEqual(unknown)
    expect(await signIn('root@example.com', PASSWORD)).toEqual(unknown)
  })

  test('signup while it is off: known or not, member or not, the same response for the same amount of work', async () => {
    const signUp = (email: string, password: string) =>
      verifications(() => app.call('POST', '/api/auth/signup', { host: CLOSED, json: { email, password } }))
    const unknown = await signUp('nobody@example.com', PASSWORD)
    expect(unknown[2]).toBe(1)
    expect(await signUp('member@example.com', 'not the password')).toEqual(unknown)
    expect(await signUp('root@example.com', PASSWORD)).toEqual(unknown)
  })
})

test('signing up with the password of an account with a second step asks for its code first', async () => {
  await app.addUser('mia@example.com')
  const headers = { cookie: await app.cookieOf('mia@example.com') }
  const { body } = await ask(app, 'POST', '/api/account/mfa/totp', { headers })
  const code = () => totpCodeAt(String(body['secret']), app.ctx.now())
  await ask(app, 'POST', '/api/account/mfa/totp/confirm', { headers, json: { code: await code() } })
  app.advance(30_000)
  const signUp = (json: Record<string, string>) =>
    ask(app, 'POST', '/api/auth/signup', {
      host: OPEN,
      json: { email: 'mia@example.com', password: PASSWORD, ...json },
    })
  expect((await signUp({})).body['error']).toBe('MFA_REQUIRED')
  const wrong = await wrongCode(String(body['secret']), app.ctx.now())
  expect((await signUp({ code: wrong })).body['error']).toBe('MFA_CODE_INVALID')
  expect(memberOf('mia@example.com', 'open')).toBe(false)
  expect((await signUp({ code: await code() })).status).toBe(201)
  expect(memberOf('mia@example.com', 'open')).toBe(true)
  // Whoever may not sign in here learns nothing of the second step.
  const stranger = { email: 'mia@example.com', password: PASSWORD }
  const refused = await ask(app, 'POST', '/api/auth/signin', { host: CLOSED, json: stranger })
  expect(refused.body['error']).toBe('WRONG_CREDENTIALS_ERROR')
})

test('without the gate, the workspace setting controls sign-up on every host, and no membership is created', async () => {
  const ungated = await testApp()
  await seedDeployment(ungated, {
    owner: 'acme',
    repo: 'open',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  ungated.ctx.db.sqlite.run('UPDATE projects SET allow_public_signup = 1')
  const signUp = () =>
    ask(ungated, 'POST', '/_svc/auth/signup', {
      host: OPEN,
      json: { email: 'x@example.com', password: PASSWORD },
    })
  expect((await signUp()).body).toMatchObject({ statusCode: 403, error: 'PUBLIC_SIGNUP_DISABLED' })
  await ungated.addUser('root@example.com', 'admin')
  await ungated.call('PATCH', '/api/settings', { as: 'root@example.com', json: { allowPublicSignups: true } })
  expect((await signUp()).status).toBe(201)
  const made = ungated.ctx.db.sqlite.query(
    "SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id WHERE u.email = 'x@example.com'",
  )
  expect(made.get()).toBeNull()
  ungated.close()
})

test('parallel sign-ups of one email create one account', async () => {
  const signUp = () =>
    app.call('POST', '/api/auth/signup', {
      host: OPEN,
      json: { email: 'twice@example.com', password: PASSWORD },
    })
  const answers = await Promise.all([signUp(), signUp(), signUp()])
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
})
