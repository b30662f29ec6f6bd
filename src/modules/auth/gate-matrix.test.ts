import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

/** Every kind of host that shows a project. */
const KINDS = {
  'an alias host': (site: string) => `production--${site}--acme.localhost`,
  'a deployment host': (site: string) => `aaaaaaaaaaaa--${site}--acme.localhost`,
  'the host of a version': (site: string) => `aaaaaaaaaaaa-v1--${site}--acme.localhost`,
  'a mapped name': (site: string) => `${site}.localhost`,
  'a domain of its own': (site: string) => `www.${site}.example`,
} as const

/** Where the gate is turned on. */
const SOURCES = ['environment', 'settings'] as const

const PREFIXES = ['/api/auth', '/_svc/auth'] as const

type Row = {
  call: 'signin' | 'signup'
  state: string
  site: 'open' | 'closed'
  email: string
  password?: string
  status: number
  error?: string
}

/** spec: Project membership gate, the matrix row by row; contract §3 for what it leaves open. */
const rows: Row[] = [
  { call: 'signin', state: 'has membership', site: 'closed', email: 'member@example.com', status: 200 },
  {
    call: 'signin',
    state: 'no membership',
    site: 'open',
    email: 'stranger@example.com',
    status: 401,
    error: 'WRONG_CREDENTIALS_ERROR',
  },
  {
    call: 'signin',
    state: 'no membership, a global admin',
    site: 'open',
    email: 'root@example.com',
    status: 401,
    error: 'WRONG_CREDENTIALS_ERROR',
  },
  {
    call: 'signup',
    state: 'already a member, signup off',
    site: 'closed',
    email: 'member@example.com',
    status: 200,
  },
  {
    call: 'signup',
    state: 'already a member, signup on',
    site: 'open',
    email: 'member@example.com',
    status: 200,
  },
  {
    call: 'signup',
    state: 'not a member, signup off',
    site: 'closed',
    email: 'stranger@example.com',
    status: 403,
    error: 'PUBLIC_SIGNUP_DISABLED',
  },
  {
    call: 'signup',
    state: 'new email, signup off',
    site: 'closed',
    email: 'nobody@example.com',
    status: 403,
    error: 'PUBLIC_SIGNUP_DISABLED',
  },
  {
    call: 'signup',
    state: 'member with a wrong password, signup off',
    site: 'closed',
    email: 'member@example.com',
    password: 'not the password',
    status: 403,
    error: 'PUBLIC_SIGNUP_DISABLED',
  },
  {
    call: 'signup',
    state: 'member with a wrong password, signup on',
    site: 'open',
    email: 'member@example.com',
    password: 'not the password',
    status: 409,
    error: 'EMAIL_ALREADY_EXISTS_ERROR',
  },
  {
    call: 'signup',
    state: 'email exists, password wrong',
    site: 'open',
    email: 'stranger@example.com',
    password: 'not the password',
    status: 409,
    error: 'EMAIL_ALREADY_EXISTS_ERROR',
  },
  {
    call: 'signup',
    state: 'email exists, password matches',
    site: 'open',
    email: 'stranger@example.com',
    status: 201,
  },
  { call: 'signup', state: 'new email', site: 'open', email: 'new@example.com', status: 201 },
]

let app: TestApp
const projects: Record<string, string> = {}

async function openWorkspace(source: (typeof SOURCES)[number]): Promise<void> {
  app = await testApp(source === 'environment' ? { FEATURE_REQUIRE_PROJECT_MEMBERSHIP: 'true' } : {})
  await seedSite('open')
  await seedSite('closed')
  await app.addUser('root@example.com', 'admin')
  if (source === 'settings')
    await expectStatus(200, 'PATCH', '/api/settings', { requireProjectMembership: true })
  for (const email of ['member@example.com', 'stranger@example.com']) await app.addUser(email)
  const grant = { email: 'member@example.com', role: 'contributor' }
  for (const id of Object.values(projects))
    await expectStatus(201, 'POST', `/api/projects/${id}/permissions/users`, grant)
}

async function expectStatus(status: number, method: string, path: string, json: unknown): Promise<void> {
  expect((await ask(app, method, path, { as: 'root@example.com', json })).status).toBe(status)
}

async function seedSite(repo: 'open' | 'closed'): Promise<void> {
  const { projectId } = await seedDeployment(app, {
    owner: 'acme',
    repo,
    sha: 'a'.repeat(40),
    alias: 'production',
    isPublic: false,
    files: { 'index.html': repo },
  })
  projects[repo] = projectId
  app.ctx.db.sqlite.run('UPDATE projects SET allow_public_signup = ? WHERE id = ?', [
    Number(repo === 'open'),
    projectId,
  ])
  for (const hostname of [KINDS['a mapped name'](repo), KINDS['a domain of its own'](repo)])
    app.ctx.db.sqlite.run(
      `INSERT INTO domains (id, project_id, hostname, alias, challenge, verified_by, verified_at, created_at, updated_at)
       VALUES (?, ?, ?, 'production', 'challenge', 'admin', 0, 0, 0)`,
      [app.ctx.newId(), projectId, hostname],
    )
}

/** Undoes the previous round: `stranger` joined and `new` was created. */
function forgetLastRound(): void {
  const { sqlite } = app.ctx.db
  const stranger = "(SELECT id FROM users WHERE email = 'stranger@example.com')"
  sqlite.run(`DELETE FROM memberships WHERE user_id = ${stranger}`)
  sqlite.run(`DELETE FROM permissions WHERE user_id = ${stranger}`)
  sqlite.run("DELETE FROM users WHERE email = 'new@example.com'")
  app.ctx.db.writes += 1
}

/** The direct role on a site, and whether there is a membership row. */
const tieOf = (email: string, site: string): [string | undefined, boolean] => {
  const { sqlite } = app.ctx.db
  const user = '(SELECT id FROM users WHERE email = ?)'
  const permission = sqlite
    .query<{ role: string }, [string, string]>(
      `SELECT role FROM permissions WHERE project_id = ? AND user_id = ${user}`,
    )
    .get(projects[site] ?? '', email)
  const membership = sqlite
    .query(`SELECT 1 FROM memberships WHERE project_id = ? AND user_id = ${user}`)
    .get(projects[site] ?? '', email)
  return [permission?.role, membership !== null]
}

const PLACES = SOURCES.flatMap((source) =>
  Object.entries(KINDS).flatMap(([kind, hostOf]) =>
    PREFIXES.map((prefix) => ({ source, kind, prefix, hostOf })),
  ),
)

describe.each(SOURCES)('the gate from the %s', (source) => {
  beforeAll(() => openWorkspace(source))
  afterAll(() => app.close())

  describe.each(PLACES.filter((place) => place.source === source))(
    'the matrix at $prefix of $kind',
    ({ prefix, hostOf }) => {
      beforeAll(forgetLastRound)

      test.each(rows)('$call, $state: $status $error', async (row) => {
        const answer = await app.call('POST', `${prefix}/${row.call}`, {
          host: hostOf(row.site),
          json: { email: row.email, password: row.password ?? PASSWORD },
        })
        const body = (await answer.json()) as Record<string, unknown>
        expect([answer.status, body['error']]).toEqual([row.status, row.error])
        expect(answer.headers.getSetCookie()).toHaveLength(row.error === undefined ? 2 : 0)
        if (row.error === undefined) expect(body['user']).toMatchObject({ email: row.email })
      })

      test('signing up does not demote a member, and makes a stranger a guest', () => {
        expect(tieOf('member@example.com', 'open')).toEqual(['contributor', true])
        expect(tieOf('stranger@example.com', 'open')).toEqual(['guest', true])
        expect(tieOf('new@example.com', 'open')).toEqual(['guest', true])
        expect(tieOf('new@example.com', 'closed')).toEqual([undefined, false])
      })

      const sessions = [
        ['has membership', 'member@example.com', { email: 'member@example.com', role: 'user' }],
        ['no membership', 'root@example.com', null],
      ] as const
      test.each(sessions)('session, %s (%s): %j', async (_state, email, user) => {
        const cookie = await app.cookieOf(email)
        const answer = await app.call('GET', `${prefix}/session`, {
          host: hostOf('closed'),
          headers: { cookie },
        })
        const body = await answer.json()
        expect(user === null ? body : body.user).toMatchObject(user ?? { user: null })
        expect(answer.headers.getSetCookie()).toEqual([])
      })
    },
  )
})

test('the admin domain bypasses the gate', async () => {
  await openWorkspace('environment')
  const signedIn = await app.call('POST', '/api/auth/signin', {
    json: { email: 'stranger@example.com', password: PASSWORD },
  })
  expect(signedIn.status).toBe(200)
  app.close()
})
