import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

/**
 * Every path where an email is taken, with each spelling of one. contract 12.7. Passwords, commands and settings have files
 * of their own.
 */

const ROOT = 'root@example.com'
const STORED = 'ren\u00e9@xn--bcher-kva.example'
const SPELLINGS: [what: string, email: string][] = [
  ['as stored', STORED],
  ['NFC and a domain in Unicode', 'ren\u00e9@b\u00fccher.example'],
  ['NFD', 'rene\u0301@bu\u0308cher.example'],
  ['capitals, spaces, a full-width stop', ' REN\u00c9@B\u00dcCHER\uff0eExample '],
]
const SITE = 'production--open--acme.localhost'

let app: TestApp
let projectId: string
let reneId: string

beforeAll(async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  reneId = await app.addUser(STORED)
  const seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'open',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  projectId = seeded.projectId
  await app.call('PATCH', '/api/settings', { as: ROOT, json: { allowPublicSignups: true } })
})
afterAll(() => app.close())

const form = (path: string, fields: Record<string, string>, as?: string) =>
  app.call('POST', path, {
    as,
    body: new URLSearchParams(fields),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
const project = (path: string) => `/api/projects/${projectId}${path}`

type Taken = { status: number; body?: object }
const emailPaths: [path: string, take: (email: string) => Promise<unknown>, found: Taken][] = [
  [
    'POST /api/auth/signin',
    (email) => ask(app, 'POST', '/api/auth/signin', { json: { email, password: PASSWORD } }),
    { status: 200, body: { user: { email: STORED } } },
  ],
  [
    'POST /_svc/auth/signin',
    (email) => ask(app, 'POST', '/_svc/auth/signin', { host: SITE, json: { email, password: PASSWORD } }),
    { status: 200, body: { user: { email: STORED } } },
  ],
  [
    'POST /api/auth/signup',
    (email) => ask(app, 'POST', '/api/auth/signup', { json: { email, password: PASSWORD } }),
    { status: 409, body: { error: 'EMAIL_ALREADY_EXISTS_ERROR' } },
  ],
  [
    'POST /api/auth/forgot-password',
    (email) => ask(app, 'POST', '/api/auth/forgot-password', { json: { email } }),
    { status: 200 },
  ],
  [
    'POST /api/users',
    (email) => ask(app, 'POST', '/api/users', { as: ROOT, json: { email } }),
    { status: 409 },
  ],
  [
    'PATCH /api/users/:id',
    (email) => ask(app, 'PATCH', `/api/users/${reneId}`, { as: ROOT, json: { email } }),
    { status: 200, body: { id: '', email: STORED } },
  ],
  [
    'GET /api/users?email=',
    (email) => ask(app, 'GET', `/api/users?${new URLSearchParams({ email })}`, { as: ROOT }),
    { status: 200, body: { data: [{ email: STORED }] } },
  ],
  [
    'GET /api/users?search=',
    (search) => ask(app, 'GET', `/api/users?${new URLSearchParams({ search })}`, { as: ROOT }),
    { status: 200, body: { data: [{ email: STORED }] } },
  ],
  [
    'POST /api/projects/:id/permissions/users',
    (email) =>
      ask(app, 'POST', project('/permissions/users'), { as: SEED_OWNER, json: { email, role: 'viewer' } }),
    { status: 201, body: { userId: '', email: STORED } },
  ],
  [
    'POST /api/projects/:id/invitations',
    (email) => ask(app, 'POST', project('/invitations'), { as: SEED_OWNER, json: { email, role: 'viewer' } }),
    { status: 201, body: { email: STORED, status: 'accepted' } },
  ],
  [
    'POST /api/projects/:id/transfer-ownership',
    async (email) => {
      const answer = await ask(app, 'POST', project('/transfer-ownership'), { as: ROOT, json: { email } })
      await ask(app, 'POST', project('/transfer-ownership'), { as: ROOT, json: { email: SEED_OWNER } })
      return answer
    },
    { status: 200, body: { id: '' } },
  ],
  ['POST /signin', (email) => form('/signin', { email, password: PASSWORD }), { status: 303 }],
  ['POST /signup', (email) => form('/signup', { email, password: PASSWORD }), { status: 409 }],
  ['POST /forgot-password', (email) => form('/forgot-password', { email }), { status: 200 }],
  [
    'POST /admin/users',
    (email) => form('/admin/users', { intent: 'create', email, role: 'member' }, ROOT),
    { status: 409 },
  ],
  [
    'POST /projects/:id/people',
    (email) => form(`/projects/${projectId}/people`, { intent: 'invite', email, role: 'viewer' }, SEED_OWNER),
    { status: 200 },
  ],
  [
    'POST /projects/:id/settings',
    async (email) => {
      const fields = { intent: 'transfer', email, confirm: 'acme/open' }
      const answer = await form(`/projects/${projectId}/settings`, fields, ROOT)
      await ask(app, 'POST', project('/transfer-ownership'), { as: ROOT, json: { email: SEED_OWNER } })
      return answer
    },
    { status: 303 },
  ],
]

describe.each(emailPaths)('%s', (_path, take, { status, body }) => {
  /** An empty id stands for any. */
  const expected = body && {
    body: Object.fromEntries(
      Object.entries(body).map(([key, value]) => [
        key,
        value === '' ? expect.any(String) : Array.isArray(value) ? value.map(matching) : matching(value),
      ]),
    ),
  }

  test.each(SPELLINGS)('means one account: %s', async (_what, email) => {
    expect(await take(email)).toMatchObject({ status, ...expected })
  })

  test.each(['ann@a..b', 'ann@xn--zzzz', 'ann@exam ple.com'])(
    'a domain without A-labels: %s',
    async (email) => {
      const refused = _path.startsWith('GET ') ? { status: 200, body: { data: [] } } : { status: 400 }
      expect(await take(email)).toMatchObject(refused)
    },
  )
})

const matching = (value: unknown) =>
  typeof value === 'object' && value !== null ? expect.objectContaining(value) : value

test('all of them found one account and made no other', async () => {
  const emails = app.ctx.db.sqlite.query('SELECT email FROM users ORDER BY email').values().flat()
  expect(emails).toEqual([ROOT, STORED, SEED_OWNER].sort())
})

test.each(SPELLINGS)('the throttle counts them together: %s', async (_what, email) => {
  app.advance(15 * 60_000)
  const tries = SPELLINGS.map(([, spelled]) => spelled)
  const status = async (typed: string, password: string) =>
    (await app.call('POST', '/api/auth/signin', { from: '203.0.113.5', json: { email: typed, password } }))
      .status
  for (let i = 0; i < 10; i++) expect(await status(tries[i % tries.length] ?? '', 'not this one')).toBe(401)
  expect(await status(email, PASSWORD)).toBe(429)
  expect(await status(ROOT, PASSWORD)).toBe(200)
  const unknown = email.replace('r', 'b').replace('R', 'B')
  for (let i = 0; i < 10; i++) expect(await status(unknown, 'not this one')).toBe(401)
  expect(await status(unknown.normalize('NFD').toUpperCase(), 'not this one')).toBe(429)
})

test('an invitation is redeemed by any spelling of its email', async () => {
  const invited = async (email: string) => {
    const made = await ask(app, 'POST', project('/invitations'), {
      as: SEED_OWNER,
      json: { email, role: 'guest' },
    })
    return {
      email: made.body['email'],
      token: new URL(String(made.body['url'])).searchParams.get('token') ?? '',
    }
  }
  const older = await invited('zo\u00eb@b\u00fccher.example')
  const newer = await invited('zoe\u0308@xn--bcher-kva.example')
  expect([older.email, newer.email]).toEqual(Array(2).fill('zo\u00eb@xn--bcher-kva.example'))
  const accept = (invitationToken: string) =>
    ask(app, 'POST', '/api/auth/signup', {
      json: { email: 'ZOE\u0308@B\u00fccher.Example', password: PASSWORD, invitationToken },
    })
  expect(await accept(older.token)).toMatchObject({ status: 400, body: { error: 'INVITATION_INVALID' } })
  expect(await accept(newer.token)).toMatchObject({
    status: 201,
    body: { user: { email: 'zo\u00eb@xn--bcher-kva.example' } },
  })
})
