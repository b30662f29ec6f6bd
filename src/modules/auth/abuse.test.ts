import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

/** Attacks on accounts that no other test covers, each named for what it is. */

const ROOT = 'root@example.com'
const OTHER_SITE = 'production--other--acme.localhost'

let app: TestApp
let projectId = ''
let thiefId = ''

beforeAll(async () => {
  app = await testApp({ FEATURE_REQUIRE_PROJECT_MEMBERSHIP: 'true' })
  await app.addUser(ROOT, 'admin')
  thiefId = await app.addUser('thief@example.com')
  const site = { owner: 'acme', sha: 'a'.repeat(40), alias: 'production', files: { 'index.html': 'x' } }
  projectId = (await seedDeployment(app, { ...site, repo: 'docs' })).projectId
  await seedDeployment(app, { ...site, repo: 'other' })
})
afterAll(() => app.close())

type Extra = { host?: string; headers?: Record<string, string> }

const inviteUrl = async (email: string, extra: Extra = {}): Promise<string> => {
  const json = { email, role: 'admin' }
  const { status, body } = await ask(app, 'POST', `/api/projects/${projectId}/invitations`, {
    as: ROOT,
    json,
    ...extra,
  })
  expect(status).toBe(201)
  return String(body['url'])
}

const tokenOf = (url: string): string => new URL(url).searchParams.get('token') ?? ''

const signUp = (json: Record<string, string>, host?: string) =>
  ask(app, 'POST', '/api/auth/signup', { json, ...(host === undefined ? {} : { host }) })

const countOf = (email: string): unknown =>
  app.ctx.db.sqlite
    .query<{ n: number }, [string]>('SELECT count(*) AS n FROM users WHERE email = ?')
    .get(email)?.n

describe('host-header poisoning', () => {
  const poisons: [what: string, extra: Extra][] = [
    ['X-Forwarded-Host', { headers: { 'x-forwarded-host': 'evil.example' } }],
    ['Forwarded', { headers: { forwarded: 'host=evil.example;proto=https' } }],
    [
      'X-Original-Host and X-Host',
      { headers: { 'x-original-host': 'evil.example', 'x-host': 'evil.example' } },
    ],
    ['another name of the admin host', { host: '127.0.0.1' }],
    ['another port', { host: 'localhost:666' }],
  ]

  test.each(poisons)('%s: links lead to the configured address', async (what, extra) => {
    const reset = await ask(app, 'POST', `/api/users/${thiefId}/reset-link`, { as: ROOT, ...extra })
    const email = `${what.replaceAll(/\W/g, '')}@example.com`
    const made = await ask(app, 'POST', '/api/users', { as: ROOT, json: { email }, ...extra })
    const links = [reset.body['url'], made.body['inviteUrl'], await inviteUrl(`x${email}`, extra)]
    for (const link of links) expect(link).toStartWith('http://localhost:3000/')
  })
})

describe('invitation theft', () => {
  test('the link is useless for another email, signed in or not, and on another site', async () => {
    const token = tokenOf(await inviteUrl('invited@example.com'))
    const stolen = { password: PASSWORD, invitationToken: token }
    const accepted = await ask(app, 'POST', `/api/invitations/${token}/accept`, { as: 'thief@example.com' })
    expect(accepted.status).toBe(403)
    for (const email of ['thief@example.com', 'fresh-thief@example.com'])
      expect((await signUp({ ...stolen, email })).body).toMatchObject({ error: 'INVITATION_INVALID' })
    const elsewhere = await signUp({ ...stolen, email: 'invited@example.com' }, OTHER_SITE)
    expect(elsewhere.body).toMatchObject({ error: 'INVITATION_INVALID' })
    expect((await signUp({ ...stolen, email: 'invited@example.com' })).status).toBe(201)
  })

  test('the token is kept as a hash, and shown to nobody afterwards', async () => {
    const token = tokenOf(await inviteUrl('hashed@example.com'))
    const kept = app.ctx.db.sqlite.query('SELECT * FROM invitations').all()
    const audited = app.ctx.db.sqlite.query('SELECT * FROM audit_log').all()
    const listed = await ask(app, 'GET', `/api/projects/${projectId}/invitations`, { as: ROOT })
    expect(JSON.stringify([kept, audited, listed, app.lines])).not.toContain(token)
  })
})

describe('parallel sign-ups of one email', () => {
  test('with one invitation create one account with its role', async () => {
    const invitationToken = tokenOf(await inviteUrl('twin@example.com'))
    const twin = { email: 'twin@example.com', password: PASSWORD, invitationToken }
    const answers = await Promise.all([twin, twin, twin].map((json) => signUp(json)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(countOf('twin@example.com')).toBe(1)
    expect((await ask(app, 'GET', `/api/invitations/${invitationToken}`)).status).toBe(404)
  })

  test('on the admin host, in different letter cases, create one account', async () => {
    await ask(app, 'PATCH', '/api/settings', { as: ROOT, json: { allowPublicSignups: true } })
    const emails = ['case@example.com', 'CASE@example.com', ' Case@Example.com ']
    const answers = await Promise.all(emails.map((email) => signUp({ email, password: PASSWORD })))
    await ask(app, 'PATCH', '/api/settings', { as: ROOT, json: { allowPublicSignups: false } })
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    expect(countOf('case@example.com')).toBe(1)
  })
})

describe('login CSRF: a form of another site', () => {
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ] as const

  test.each(types)('cannot send credentials as %s, which need no preflight', async (type) => {
    const send = (headers: Record<string, string>) =>
      app.call('POST', '/api/auth/signin', {
        headers: { 'content-type': type, ...headers },
        body: JSON.stringify({ email: 'thief@example.com', password: PASSWORD }),
      })
    const foreign = await send({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })
    const silent = await send({})
    expect([foreign.status, silent.status]).toEqual([403, 400])
    expect([...foreign.headers.getSetCookie(), ...silent.headers.getSetCookie()]).toEqual([])
  })
})
