import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { PASSWORD, type TestApp, testApp } from '../../testing/test-app.ts'

/** spec: States and transitions, row by row. Each row has its own project. */

const OWNER = 'owner@example.com'
const ANN = 'ann@example.com'
const ROOT = 'root@example.com'

let app: TestApp
let projectId = ''
let host = ''
let groupId = ''
const userIds: Record<string, string> = {}

beforeAll(async () => {
  app = await testApp({ FEATURE_REQUIRE_PROJECT_MEMBERSHIP: 'true' })
  userIds[ROOT] = await app.addUser(ROOT, 'admin')
  for (const email of [OWNER, ANN]) userIds[email] = await app.addUser(email)
  groupId = String((await ask(app, 'POST', '/api/groups', { as: ROOT, json: { name: 'Team' } })).body['id'])
  await ask(app, 'POST', `/api/groups/${groupId}/members`, { as: ROOT, json: { userId: userIds[ANN] } })
})
afterAll(() => app.close())

type State = { role: string | null; direct: string | null; isMember: boolean }

const call = (as: string, method: string, path: string, json?: unknown) =>
  ask(app, method, `/api/projects/${projectId}${path}`, { as, json })

/** As explained by the rules that decide. */
async function stateOf(email: string): Promise<State> {
  const { body } = await call(ROOT, 'GET', `/permissions/explain?userId=${userIds[email]}`)
  const explained = body as {
    effectiveRole: string | null
    sources: { kind: string; role: string }[]
    membership: { isMember: boolean }
  }
  return {
    role: explained.effectiveRole,
    direct: explained.sources.find(({ kind }) => kind === 'permission')?.role ?? null,
    isMember: explained.membership.isMember,
  }
}

const invite = (role = 'viewer') => call(OWNER, 'POST', '/invitations', { email: ANN, role })
const leave = (as: string) => ask(app, 'DELETE', `/api/account/sites/${projectId}`, { as })
const byGroup = (role: string) => call(OWNER, 'POST', '/permissions/groups', { groupId, role })
const grant = (as: string, role: string) => call(as, 'POST', '/permissions/users', { email: ANN, role })
const revoke = (as: string) => call(as, 'DELETE', `/permissions/users/${userIds[ANN]}`)
const transfer = (as: string) => call(as, 'POST', '/transfer-ownership', { email: ANN })
const allowSignup = () => call(OWNER, 'PATCH', '', { allowPublicSignup: true })
const signUp = () => ask(app, 'POST', '/api/auth/signup', { host, json: { email: ANN, password: PASSWORD } })
const addAdmin = () => call(OWNER, 'POST', '/permissions/users', { email: ROOT, role: 'admin' })

const none: State = { role: null, direct: null, isMember: false }
const held = (role: string): State => ({ role, direct: role, isMember: true })

type Row = {
  state: string
  trigger: string
  before?: () => Promise<unknown>
  act: () => Promise<{ status: number }>
  status: number
  ann?: State
  owner?: State
}

const ROWS: Row[] = [
  {
    state: 'membership present',
    trigger: 'Leave, not the owner: absent',
    before: invite,
    act: () => leave(ANN),
    status: 204,
    ann: none,
  },
  {
    state: 'membership present',
    trigger: 'Leave, with a role by a group: absent, the role remains',
    before: async () => [await invite(), await byGroup('contributor')],
    act: () => leave(ANN),
    status: 204,
    ann: { role: 'contributor', direct: null, isMember: false },
  },
  {
    state: 'membership present',
    trigger: 'Leave, the owner: unchanged',
    act: () => leave(OWNER),
    status: 400,
    owner: held('owner'),
  },
  {
    state: 'membership absent',
    trigger: 'the owner re-invites: present',
    before: async () => [await invite(), await leave(ANN)],
    act: () => invite('guest'),
    status: 201,
    ann: held('guest'),
  },
  {
    state: 'membership absent',
    trigger: 'self-signup, allowed: present, guest',
    before: allowSignup,
    act: signUp,
    status: 201,
    ann: held('guest'),
  },
  {
    state: 'membership absent',
    trigger: 'self-signup, not allowed: absent',
    act: signUp,
    status: 403,
    ann: none,
  },
  {
    state: 'project owner',
    trigger: 'the owner transfers: admin, and the other owner',
    before: invite,
    act: () => transfer(OWNER),
    status: 200,
    ann: held('owner'),
    owner: held('admin'),
  },
  {
    state: 'project owner',
    trigger: 'an admin transfers: unchanged, only owners may',
    before: () => invite('admin'),
    act: () => transfer(ANN),
    status: 403,
    ann: held('admin'),
    owner: held('owner'),
  },
  {
    state: 'any role',
    trigger: 'granted by the owner: set',
    before: () => invite('guest'),
    act: () => grant(OWNER, 'contributor'),
    status: 201,
    ann: held('contributor'),
  },
  {
    state: 'any role',
    trigger: 'granted by an admin: set',
    before: addAdmin,
    act: () => grant(ROOT, 'viewer'),
    status: 201,
    ann: held('viewer'),
  },
  {
    state: 'any role',
    trigger: 'granted by a contributor: unchanged',
    before: () => invite('contributor'),
    act: () => grant(ANN, 'admin'),
    status: 403,
    ann: held('contributor'),
  },
  {
    state: 'any role',
    trigger: 'owner granted to a group: refused',
    act: () => byGroup('owner'),
    status: 400,
    ann: none,
  },
  {
    state: 'any role except owner',
    trigger: 'removed: no direct role, a role by a group remains',
    before: async () => [await invite('admin'), await byGroup('viewer')],
    act: () => revoke(OWNER),
    status: 204,
    ann: { role: 'viewer', direct: null, isMember: true },
  },
  {
    state: 'owner',
    trigger: 'removed: unchanged',
    act: () => call(ROOT, 'DELETE', `/permissions/users/${userIds[OWNER]}`),
    status: 400,
    owner: held('owner'),
  },
]

test.each(ROWS.map((row, number) => ({ ...row, number })))('$state, $trigger', async (row) => {
  const made = await ask(app, 'POST', '/api/projects', {
    as: OWNER,
    json: { owner: 'acme', name: `row-${row.number}` },
  })
  projectId = String(made.body['id'])
  const seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: `row-${row.number}`,
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  host = seeded.aliasHost ?? ''
  await row.before?.()
  expect((await row.act()).status).toBe(row.status)
  if (row.ann !== undefined) expect(await stateOf(ANN)).toEqual(row.ann)
  if (row.owner !== undefined) expect(await stateOf(OWNER)).toEqual(row.owner)
  // The account is unchanged, whatever happened to its roles.
  expect((await ask(app, 'GET', '/api/account', { as: ANN })).body['user']).toMatchObject({
    email: ANN,
    role: 'user',
  })
})
