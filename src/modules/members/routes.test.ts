import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { ProjectRole } from '../../domain/roles.ts'
import { ask, NO_ID } from '../../testing/ask.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

let app: TestApp
const ids: Record<string, string> = {}
let docs = ''
let other = ''
let group = ''

beforeAll(async () => {
  app = await testApp()
  ids['root'] = await app.addUser('root@example.com', 'admin')
  for (const name of ['owner', 'ann', 'bob', 'stranger']) ids[name] = await app.addUser(`${name}@example.com`)
  group = String((await call('POST', '/api/groups', { name: 'Team' }, 'root')).body['id'])
  await call('POST', `/api/groups/${group}/members`, { userId: ids['bob'] }, 'root')
})
afterAll(() => app.close())

/** Every test gets two fresh projects of the owner. */
beforeEach(async () => {
  for (const id of [docs, other])
    if (id !== '') await call('DELETE', `/api/projects/${id}`, undefined, 'root')
  docs = String((await call('POST', '/api/projects', { owner: 'acme', name: 'docs' })).body['id'])
  other = String((await call('POST', '/api/projects', { owner: 'acme', name: 'other' })).body['id'])
})

const call = (method: string, path: string, json?: unknown, as = 'owner') =>
  ask(app, method, path, { as: `${as}@example.com`, json })

const id = (name: string): string => ids[name] ?? ''
const below = (path: string, project = docs): string => `/api/projects/${project}/${path}`
const grant = (name: string, role: ProjectRole, as = 'owner') =>
  call('POST', below('permissions/users'), { userId: id(name), role }, as)
const roleOf = async (name: string) =>
  (await call('GET', `/api/projects/${docs}`, undefined, name)).body['role']
const isMember = async (name: string) => {
  const { members } = (await call('GET', below('members'))).body as { members: { userId: string }[] }
  return members.some(({ userId }) => userId === id(name))
}

test('the record of permissions', async () => {
  await grant('ann', 'viewer')
  await call('POST', below('permissions/groups'), { groupId: group, role: 'contributor' })
  const at = '2026-11-20T12:00:00.000Z'
  expect((await call('GET', below('permissions'), undefined, 'ann')).body).toEqual({
    users: [
      { userId: id('ann'), email: 'ann@example.com', role: 'viewer', isMember: true, grantedAt: at },
      { userId: id('owner'), email: 'owner@example.com', role: 'owner', isMember: true, grantedAt: at },
    ],
    groups: [{ groupId: group, name: 'Team', role: 'contributor', grantedAt: at }],
    me: { role: 'viewer' },
  })
  expect((await call('GET', below('members'), undefined, 'ann')).body).toEqual({
    members: [
      { userId: id('ann'), email: 'ann@example.com', role: 'viewer', isOwner: false, joinedAt: at },
      { userId: id('owner'), email: 'owner@example.com', role: 'owner', isOwner: true, joinedAt: at },
    ],
  })
})

test('members are listed with the highest of their roles, or none', async () => {
  for (const name of ['ann', 'bob']) await grant(name, 'viewer')
  await call('DELETE', below(`permissions/users/${id('ann')}`))
  const rolesWith = async (groupRole: ProjectRole) => {
    await call('POST', below('permissions/groups'), { groupId: group, role: groupRole })
    const { members } = (await call('GET', below('members'))).body as { members: { role: string | null }[] }
    return members.map(({ role }) => role)
  }
  expect(await rolesWith('contributor')).toEqual([null, 'contributor', 'owner'])
  expect(await rolesWith('guest')).toEqual([null, 'viewer', 'owner'])
})

test('a grant returns what is stored, however long it took', async () => {
  const { now } = app.ctx
  let ticks = 0
  app.ctx.now = () => now() + ticks++
  try {
    const user = await grant('ann', 'viewer')
    const team = await call('POST', below('permissions/groups'), { groupId: group, role: 'viewer' })
    const kept = (await call('GET', below('permissions'))).body
    expect(kept).toMatchObject({ users: [user.body, {}], groups: [team.body] })
    const members = `/api/groups/${group}/members`
    const added = await call('POST', members, { userId: id('ann') }, 'root')
    const { body } = await call('GET', members, undefined, 'root')
    expect(body['members']).toContainEqual(added.body)
    await call('DELETE', `${members}/${id('ann')}`, undefined, 'root')
  } finally {
    app.ctx.now = now
  }
})

const writes: [method: string, path: () => string, body: () => unknown][] = [
  ['POST', () => 'permissions/users', () => ({ userId: id('stranger'), role: 'guest' })],
  ['DELETE', () => `permissions/users/${id('ann')}`, () => undefined],
  ['POST', () => 'permissions/groups', () => ({ groupId: group, role: 'guest' })],
  ['DELETE', () => `permissions/groups/${group}`, () => undefined],
  ['DELETE', () => `members/${id('ann')}`, () => undefined],
]

test.each(writes)(
  '%s: viewers and contributors may not, strangers see nothing',
  async (method, path, body) => {
    await call('POST', below('permissions/groups'), { groupId: group, role: 'guest' })
    for (const role of ['viewer', 'contributor'] as const) {
      await grant('ann', role)
      expect((await call(method, below(path()), body(), 'ann')).status).toBe(403)
    }
    expect((await call(method, below(path()), body(), 'stranger')).status).toBe(404)
    expect((await ask(app, method, below(path()), { json: body() })).status).toBe(401)
    expect((await call(method, below(path(), NO_ID), body())).status).toBe(404)
    expect((await call(method, below(path()), body(), 'root')).status).toBe(method === 'POST' ? 201 : 204)
  },
)

test('guests read neither permissions nor members', async () => {
  await grant('ann', 'guest')
  for (const path of ['permissions', 'members', `permissions/explain?userId=${id('ann')}`])
    expect((await call('GET', below(path), undefined, 'ann')).status).toBe(403)
})

test('a grant raises or lowers the direct role', async () => {
  for (const role of ['admin', 'viewer'] as const) {
    const answer = await grant('ann', role)
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ userId: id('ann'), role, isMember: true })
    expect(await roleOf('ann')).toBe(role)
  }
})

test('by email, in any case', async () => {
  const answer = await call('POST', below('permissions/users'), { email: 'ANN@Example.com', role: 'guest' })
  expect(answer.body).toMatchObject({ userId: id('ann'), role: 'guest' })
})

const badGrants: [status: number, path: string, body: unknown][] = [
  [400, 'permissions/users', { email: 'ann@example.com', role: 'owner' }],
  [400, 'permissions/users', { email: 'ann@example.com' }],
  [400, 'permissions/users', { email: 'ann@example.com', role: 'king' }],
  [400, 'permissions/users', { role: 'guest' }],
  [400, 'permissions/users', { email: 'owner@example.com', role: 'admin' }],
  [404, 'permissions/users', { email: 'nobody@example.com', role: 'guest' }],
  [404, 'permissions/users', { userId: NO_ID, role: 'guest' }],
  [404, 'permissions/groups', { groupId: NO_ID, role: 'guest' }],
  [400, 'permissions/groups', { role: 'guest' }],
]

test.each(badGrants)('%p for POST %s %j', async (status, path, body) => {
  expect((await call('POST', below(path), body)).status).toBe(status)
  expect(await roleOf('owner')).toBe('owner')
})

test('a group can have every role except owner', async () => {
  const give = (role: ProjectRole) => call('POST', below('permissions/groups'), { groupId: group, role })
  expect((await give('owner')).status).toBe(400)
  for (const role of ['guest', 'viewer', 'contributor', 'admin'] as const) {
    expect((await give(role)).status).toBe(201)
    expect(await roleOf('bob')).toBe(role)
  }
})

/** spec: Permission sources and effective role. */
const effective: [direct: ProjectRole | null, byGroup: ProjectRole | null, role: ProjectRole][] = [
  ['viewer', 'contributor', 'contributor'],
  ['admin', 'viewer', 'admin'],
  [null, 'contributor', 'contributor'],
  ['contributor', null, 'contributor'],
]

test.each(effective)('direct %p and group %p give %p', async (direct, byGroup, role) => {
  if (direct !== null) await grant('bob', direct)
  if (byGroup !== null) await call('POST', below('permissions/groups'), { groupId: group, role: byGroup })
  expect(await roleOf('bob')).toBe(role)
})

test('membership: a direct grant creates it, a group does not; revoking the role keeps it, removing ends both', async () => {
  await call('POST', below('permissions/groups'), { groupId: group, role: 'viewer' })
  expect(await isMember('bob')).toBe(false)
  await grant('bob', 'guest')
  expect(await isMember('bob')).toBe(true)
  expect((await call('DELETE', below(`permissions/users/${id('bob')}`))).status).toBe(204)
  expect(await isMember('bob')).toBe(true)
  expect(await roleOf('bob')).toBe('viewer')
  await grant('bob', 'admin')
  expect((await call('DELETE', below(`members/${id('bob')}`))).status).toBe(204)
  expect(await isMember('bob')).toBe(false)
  expect(await roleOf('bob')).toBe('viewer')
  expect((await call('DELETE', below(`members/${id('bob')}`))).status).toBe(404)
})

test('a missing role or membership cannot be removed', async () => {
  for (const path of [
    `permissions/users/${id('ann')}`,
    `permissions/groups/${group}`,
    `members/${id('ann')}`,
    `members/${NO_ID}`,
  ])
    expect((await call('DELETE', below(path))).status).toBe(404)
})

test('nobody can remove or revoke the owner', async () => {
  await grant('ann', 'admin')
  for (const as of ['owner', 'ann', 'root'])
    for (const path of [`permissions/users/${id('owner')}`, `members/${id('owner')}`])
      expect((await call('DELETE', below(path), undefined, as)).status).toBe(400)
})

test('an admin of one project cannot change another', async () => {
  await grant('ann', 'admin')
  for (const [method, path, body] of [
    ['POST', 'permissions/users', { userId: id('ann'), role: 'admin' }],
    ['DELETE', `permissions/users/${id('owner')}`, undefined],
    ['POST', 'permissions/groups', { groupId: group, role: 'admin' }],
    ['DELETE', `members/${id('owner')}`, undefined],
    ['GET', 'members', undefined],
    ['POST', 'transfer-ownership', { userId: id('ann') }],
  ] as const)
    expect((await call(method, below(path, other), body, 'ann')).status).toBe(404)
})

test('keys can read members but not change them, and see nothing of other projects', async () => {
  const made = await call('POST', '/api/api-keys', { name: 'ci', projectId: docs }, 'root')
  const key = String(made.body['key'])
  const answer = await ask(app, 'GET', below('permissions'), { key })
  expect(answer).toMatchObject({ status: 200, body: { me: { role: 'contributor' } } })
  const json = { userId: id('ann'), role: 'guest' }
  expect((await ask(app, 'POST', below('permissions/users'), { key, json })).status).toBe(403)
  expect((await ask(app, 'GET', below('members', other), { key })).status).toBe(404)
  expect((await ask(app, 'POST', below('permissions/users', other), { key, json })).status).toBe(403)
})

test('transfer: the former owner becomes admin, the new one a member', async () => {
  await call('POST', below('permissions/groups'), { groupId: group, role: 'guest' })
  const answer = await call('POST', below('transfer-ownership'), { email: 'bob@example.com' })
  expect(answer).toMatchObject({ status: 200, body: { id: docs, role: 'admin' } })
  expect([await roleOf('bob'), await roleOf('owner'), await isMember('bob')]).toEqual([
    'owner',
    'admin',
    true,
  ])
  expect((await call('POST', below('transfer-ownership'), { userId: id('owner') })).status).toBe(403)
  const back = await call('POST', below('transfer-ownership'), { userId: id('owner') }, 'root')
  expect(back).toMatchObject({ status: 200, body: { role: 'owner' } })
  expect([await roleOf('bob'), await roleOf('owner')]).toEqual(['admin', 'owner'])
})

test('transfer to a member without a role', async () => {
  await grant('ann', 'guest')
  await call('DELETE', below(`permissions/users/${id('ann')}`))
  expect((await call('POST', below('transfer-ownership'), { userId: id('ann') })).status).toBe(200)
  expect(await roleOf('ann')).toBe('owner')
})

test('transfer fails to strangers and to oneself, and for everybody except the owner', async () => {
  const to = async (body: unknown, as = 'owner') =>
    (await call('POST', below('transfer-ownership'), body, as)).status
  expect(await to({ userId: id('ann') })).toBe(400)
  expect(await to({})).toBe(400)
  expect(await to({ userId: id('owner') })).toBe(400)
  expect(await to({ userId: NO_ID })).toBe(404)
  expect(await to({ email: 'nobody@example.com' })).toBe(404)
  await grant('ann', 'admin')
  expect(await to({ userId: id('ann') }, 'ann')).toBe(403)
  expect(await to({ userId: id('ann') }, 'stranger')).toBe(404)
  expect(await roleOf('owner')).toBe('owner')
})

test('the database keeps exactly one owner, whatever is written', async () => {
  await grant('ann', 'admin')
  await call('POST', below('permissions/groups'), { groupId: group, role: 'admin' })
  const { sqlite } = app.ctx.db
  const attempts: [sql: string, refusal: string][] = [
    ["UPDATE permissions SET role = 'owner' WHERE role = 'admin'", 'UNIQUE'],
    ["UPDATE permissions SET role = 'admin' WHERE role = 'owner'", 'project needs an owner'],
    [
      "UPDATE permissions SET project_id = (SELECT max(id) FROM projects) WHERE role = 'owner'",
      'project needs an owner',
    ],
    ["DELETE FROM permissions WHERE role = 'owner'", 'project needs an owner'],
    ['DELETE FROM memberships', 'the owner is a member'],
    ["DELETE FROM users WHERE email = 'owner@example.com'", 'user owns projects'],
    ["UPDATE group_permissions SET role = 'owner'", 'CHECK'],
  ]
  for (const [sql, refusal] of attempts) expect(() => sqlite.run(sql)).toThrow(refusal)
  expect(sqlite.query('SELECT count(*) AS n FROM ownership_transfers').get()).toEqual({ n: 0 })
})

test('explain shows the decisions and reasons, by the same rules', async () => {
  await grant('bob', 'viewer')
  await call('POST', below('permissions/groups'), { groupId: group, role: 'contributor' })
  const { status, body } = await call('GET', below(`permissions/explain?userId=${id('bob')}`))
  expect(status).toBe(200)
  const at = '2026-11-20T12:00:00.000Z'
  expect(body).toMatchObject({
    user: { id: id('bob'), email: 'bob@example.com', role: 'user' },
    effectiveRole: 'contributor',
    sources: [
      { kind: 'permission', role: 'viewer', grantedAt: at },
      { kind: 'group', role: 'contributor', groupId: group, name: 'Team', grantedAt: at },
    ],
    membership: { isMember: true, joinedAt: at },
    settings: {
      requireProjectMembership: { value: false, source: 'default' },
      isPublic: false,
      requiredRole: 'guest',
    },
    site: { passesGate: true, mayView: true },
  })
  const actions = new Map(
    (body['actions'] as { action: string; allowed: boolean; reason: string }[]).map((one) => [
      one.action,
      one,
    ]),
  )
  expect(actions.get('deployment:create')?.allowed).toBe(true)
  expect(actions.get('deployment:delete')).toEqual({
    action: 'deployment:delete',
    allowed: false,
    reason: 'This needs the role admin or higher on the project; you have contributor',
  })
})

test('explain: a stranger, a global admin, the gate, and an unknown user', async () => {
  const explain = async (userId: string) => call('GET', below(`permissions/explain?userId=${userId}`))
  expect((await explain(id('stranger'))).body).toMatchObject({
    effectiveRole: null,
    sources: [],
    site: { mayView: false },
  })
  expect((await explain(id('root'))).body).toMatchObject({
    effectiveRole: 'owner',
    sources: [{ kind: 'global_role', role: 'owner' }],
    site: { passesGate: true, mayView: true },
  })
  await call('PATCH', '/api/settings', { requireProjectMembership: true }, 'root')
  expect((await explain(id('root'))).body).toMatchObject({
    membership: { isMember: false },
    site: { passesGate: false, mayView: false },
  })
  await call('PATCH', '/api/settings', { requireProjectMembership: false }, 'root')
  expect((await explain(NO_ID)).status).toBe(404)
  expect((await call('GET', below('permissions/explain'))).status).toBe(400)
})

test('a project called like a path below a project is found by its name', async () => {
  for (const name of ['members', 'permissions', 'invitations', 'secrets']) {
    const made = await call('POST', '/api/projects', { owner: 'odd', name })
    expect(made.status).toBe(201)
    expect((await call('GET', `/api/projects/odd/${name}`)).body).toEqual(made.body)
    expect((await call('GET', `/api/projects/odd/${name}`, undefined, 'stranger')).status).toBe(404)
    expect((await call('GET', `/api/projects/nobody/${name}`)).status).toBe(404)
    await call('DELETE', `/api/projects/${made.body['id']}`)
  }
})
