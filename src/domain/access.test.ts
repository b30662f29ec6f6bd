import { expect, test } from 'bun:test'
import {
  type Action,
  type Asker,
  type Denial,
  decideAccess,
  decideView,
  PROJECT_ACTIONS,
  type ProjectAction,
  WORKSPACE_ACTIONS,
} from './access.ts'
import type { GlobalRole, ProjectRole } from './roles.ts'

type Outcome = 'yes' | Denial

const person = (
  globalRole: GlobalRole = 'user',
  place: 'admin_host' | 'own_site' | 'other_site' = 'admin_host',
): Asker => ({ kind: 'user', globalRole, place })

function outcome(
  action: Action,
  asker: Asker,
  {
    role = null,
    isRead = false,
    exists = true,
  }: { role?: ProjectRole | null; isRead?: boolean; exists?: boolean } = {},
): Outcome {
  const decision = decideAccess({ action, asker, isRead, role, exists })
  expect(decision.reason).not.toBe('')
  return decision.allowed ? 'yes' : decision.denial
}

/** spec: Permission matrix, row for row, with the actions that stand for each. */
const matrix: [
  row: string,
  actions: ProjectAction[],
  ...columns: [boolean, boolean, boolean, boolean, boolean],
][] = [
  ['Access private site content', ['site:view'], true, true, true, true, true],
  ['View admin backend', ['project:read'], true, true, true, true, false],
  ['View deployments', ['project:read'], true, true, true, true, false],
  ['Browse files', ['project:read'], true, true, true, true, false],
  ['Create deployment', ['deployment:create'], true, true, true, false, false],
  ['Delete deployment', ['deployment:delete'], true, true, false, false, false],
  ['Purge the CDN', ['cdn:purge'], true, true, true, false, false],
  ['Configure traffic', ['traffic:configure'], true, true, true, false, false],
  ['Manage domains', ['domain:manage'], true, true, false, false, false],
  ['Manage settings', ['settings:manage'], true, true, false, false, false],
  ['Grant permissions', ['permission:manage', 'invitation:manage'], true, true, false, false, false],
  ['Delete project', ['project:delete'], true, false, false, false, false],
  ['Transfer ownership', ['ownership:transfer'], true, false, false, false, false],
]
const COLUMNS = ['owner', 'admin', 'contributor', 'viewer', 'guest'] as const

test.each(matrix)('spec matrix: %s', (_row, actions, ...columns) => {
  for (const action of actions)
    for (const [at, role] of COLUMNS.entries())
      expect([role, outcome(action, person(), { role })]).toEqual([role, columns[at] ? 'yes' : 'forbidden'])
})

/** contract §4: the bullets below the matrix. */
const least: [action: ProjectAction, least: ProjectRole][] = [
  ['project:see', 'guest'],
  ['permission:read', 'viewer'],
  ['admin:read', 'viewer'],
  ['alias:write', 'contributor'],
  ['preview:end', 'contributor'],
  ['secret:names', 'contributor'],
  ['alias:manage', 'admin'],
  ['analytics:read', 'admin'],
  ['audit:read', 'admin'],
  ['webhook:manage', 'admin'],
  ['retention:manage', 'admin'],
  ['secret:manage', 'admin'],
  ['secret:read', 'admin'],
]

test.each(least)('%s needs %s', (action, role) => {
  const below = {
    guest: null,
    viewer: 'guest',
    contributor: 'viewer',
    admin: 'contributor',
    owner: 'admin',
  } as const
  expect(outcome(action, person(), { role })).toBe('yes')
  expect(outcome(action, person(), { role: below[role] })).toBe(below[role] === null ? 'hidden' : 'forbidden')
})

test('every project action is in one of the two tables', () => {
  const tested = new Set([...matrix.flatMap(([, actions]) => actions), ...least.map(([action]) => action)])
  expect([...tested].sort()).toEqual(Object.keys(PROJECT_ACTIONS).sort() as ProjectAction[])
})

/** Each credential with each kind of target, on the admin host. contract §2 and §4. */
const credentials: [
  what: string,
  asker: Asker,
  role: ProjectRole | null,
  exists: boolean,
  read: Outcome,
  write: Outcome,
][] = [
  ['anonymous, a project', { kind: 'anonymous' }, null, true, 'unauthenticated', 'unauthenticated'],
  ['anonymous, nothing there', { kind: 'anonymous' }, null, false, 'unauthenticated', 'unauthenticated'],
  ['no role', person(), null, true, 'hidden', 'hidden'],
  ['a role, nothing there', person(), null, false, 'hidden', 'hidden'],
  ['guest', person(), 'guest', true, 'forbidden', 'forbidden'],
  ['viewer', person(), 'viewer', true, 'yes', 'forbidden'],
  ['contributor', person(), 'contributor', true, 'yes', 'yes'],
  ['global member with a role', person('member'), 'contributor', true, 'yes', 'yes'],
  ['global admin without a role', person('admin'), null, true, 'yes', 'yes'],
  ['global admin, nothing there', person('admin'), null, false, 'hidden', 'hidden'],
  ['key of the project', { kind: 'key', isGlobal: false, covers: true }, null, true, 'yes', 'yes'],
  [
    'key of another project',
    { kind: 'key', isGlobal: false, covers: false },
    null,
    true,
    'hidden',
    'forbidden',
  ],
  [
    'project key, nothing there',
    { kind: 'key', isGlobal: false, covers: false },
    null,
    false,
    'hidden',
    'forbidden',
  ],
  ['global key', { kind: 'key', isGlobal: true, covers: true }, null, true, 'yes', 'yes'],
  [
    'global key, nothing there',
    { kind: 'key', isGlobal: true, covers: true },
    null,
    false,
    'hidden',
    'hidden',
  ],
  ['operator', { kind: 'operator' }, null, true, 'yes', 'yes'],
]

test.each(credentials)('%s', (_what, asker, role, exists, read, write) => {
  expect(outcome('project:read', asker, { role, exists, isRead: true })).toBe(read)
  expect(outcome('deployment:create', asker, { role, exists })).toBe(write)
})

test('a key never acts as more than a contributor', () => {
  for (const isGlobal of [true, false])
    for (const [action, role] of Object.entries(PROJECT_ACTIONS))
      expect([action, outcome(action as Action, { kind: 'key', isGlobal, covers: true })]).toEqual([
        action,
        ['guest', 'viewer', 'contributor'].includes(role) ? 'yes' : 'forbidden',
      ])
})

test('a person by svc login is held down to contributor, and has nothing but projects', () => {
  const by = (globalRole: GlobalRole): Asker => ({ kind: 'cli', globalRole })
  const roles = ['guest', 'viewer', 'contributor', 'admin', 'owner'] as const
  for (const [action, least] of Object.entries(PROJECT_ACTIONS) as [ProjectAction, ProjectRole][]) {
    const needed = roles.indexOf(least)
    for (const [level, role] of roles.entries())
      expect([action, role, outcome(action, by('user'), { role })]).toEqual([
        action,
        role,
        Math.min(level, 2) >= needed ? 'yes' : 'forbidden',
      ])
    expect([action, outcome(action, by('admin'))]).toEqual([action, needed <= 2 ? 'yes' : 'forbidden'])
    expect(outcome(action, by('user'))).toBe('hidden')
    expect(outcome(action, by('admin'), { exists: false })).toBe('hidden')
  }
  for (const action of Object.keys(WORKSPACE_ACTIONS) as Action[])
    expect([action, outcome(action, by('admin'))]).toEqual([
      action,
      ['project:list', 'admin:list', 'invitation:see'].includes(action) ? 'yes' : 'forbidden',
    ])
})

/** contract §2: A session has fewer rights on a site host. */
const onSites: [
  what: string,
  action: Action,
  globalRole: GlobalRole,
  role: ProjectRole | null,
  isRead: boolean,
  own: Outcome,
  other: Outcome,
][] = [
  ['reads its own project', 'project:read', 'user', 'viewer', true, 'yes', 'admin_host_only'],
  ['an owner reads as viewer', 'project:read', 'user', 'owner', true, 'yes', 'admin_host_only'],
  [
    'an owner acts as viewer at most',
    'secret:names',
    'user',
    'owner',
    true,
    'admin_host_only',
    'admin_host_only',
  ],
  [
    'an owner cannot read invitations',
    'invitation:manage',
    'user',
    'owner',
    true,
    'admin_host_only',
    'admin_host_only',
  ],
  ['nobody compares', 'admin:read', 'user', 'owner', true, 'admin_host_only', 'admin_host_only'],
  ['nobody writes', 'deployment:create', 'user', 'owner', false, 'admin_host_only', 'admin_host_only'],
  [
    'no role may write what viewers read',
    'project:read',
    'user',
    'owner',
    false,
    'admin_host_only',
    'admin_host_only',
  ],
  ['a guest sees the record', 'project:see', 'user', 'guest', true, 'yes', 'admin_host_only'],
  [
    'a guest cannot read anything else',
    'project:read',
    'user',
    'guest',
    true,
    'forbidden',
    'admin_host_only',
  ],
  ['no role', 'project:read', 'user', null, true, 'hidden', 'admin_host_only'],
  ['a global admin acts as viewer', 'project:read', 'admin', null, true, 'yes', 'admin_host_only'],
  [
    'a global admin cannot write',
    'settings:manage',
    'admin',
    null,
    false,
    'admin_host_only',
    'admin_host_only',
  ],
  ['a list of what may be seen', 'project:list', 'member', null, true, 'yes', 'admin_host_only'],
  ['a new project', 'project:create', 'user', null, false, 'admin_host_only', 'admin_host_only'],
  ["the caller's own account", 'account:use', 'user', null, true, 'admin_host_only', 'admin_host_only'],
  ['users as admin', 'workspace:administer', 'admin', null, true, 'admin_host_only', 'admin_host_only'],
  ['an invitation', 'invitation:see', 'user', null, true, 'admin_host_only', 'admin_host_only'],
]

test.each(onSites)('on a site: %s', (_what, action, globalRole, role, isRead, own, other) => {
  expect(outcome(action, person(globalRole, 'own_site'), { role, isRead })).toBe(own)
  expect(outcome(action, person(globalRole, 'other_site'), { role, isRead })).toBe(other)
})

test('on a site another project is treated like a missing one', () => {
  const asked = { role: 'owner', isRead: true } as const
  expect(outcome('project:read', person('user', 'other_site'), { ...asked, exists: true })).toBe(
    'admin_host_only',
  )
  expect(outcome('project:read', person('user', 'other_site'), { ...asked, exists: false })).toBe(
    'admin_host_only',
  )
})

test('an asker acts as viewer on a site, and an admin as owner on the admin host', () => {
  const ask = (asker: Asker, role: ProjectRole | null) =>
    decideAccess({ action: 'project:read', asker, isRead: true, role, exists: true }).role
  expect(ask(person('user', 'own_site'), 'owner')).toBe('viewer')
  expect(ask(person('admin', 'own_site'), null)).toBe('viewer')
  expect(ask(person('admin'), 'guest')).toBe('owner')
  expect(ask({ kind: 'key', isGlobal: true, covers: true }, null)).toBe('contributor')
})

/** spec: Global roles. */
const workspace: [
  action: Action,
  anonymous: Outcome,
  member: Outcome,
  user: Outcome,
  admin: Outcome,
  key: Outcome,
][] = [
  ['workspace:administer', 'unauthenticated', 'forbidden', 'forbidden', 'yes', 'forbidden'],
  ['api-key:take-over', 'unauthenticated', 'forbidden', 'forbidden', 'yes', 'forbidden'],
  ['project:create', 'unauthenticated', 'forbidden', 'yes', 'yes', 'forbidden'],
  ['account:use', 'unauthenticated', 'yes', 'yes', 'yes', 'forbidden'],
  ['project:list', 'unauthenticated', 'yes', 'yes', 'yes', 'yes'],
  ['admin:list', 'unauthenticated', 'yes', 'yes', 'yes', 'yes'],
  ['invitation:see', 'yes', 'yes', 'yes', 'yes', 'yes'],
]

test.each(workspace)('%s', (action, anonymous, member, user, admin, key) => {
  expect(outcome(action, { kind: 'anonymous' })).toBe(anonymous)
  expect(outcome(action, person('member'))).toBe(member)
  expect(outcome(action, person('user'))).toBe(user)
  expect(outcome(action, person('admin'))).toBe(admin)
  for (const isGlobal of [true, false])
    expect(outcome(action, { kind: 'key', isGlobal, covers: isGlobal })).toBe(key)
  expect(outcome(action, { kind: 'operator' })).toBe('yes')
})

test('every workspace action is in the table', () => {
  expect(workspace.map(([action]) => action).sort()).toEqual(
    Object.keys(WORKSPACE_ACTIONS).sort() as Action[],
  )
})

const views: [isPublic: boolean, required: ProjectRole, role: ProjectRole | null, allowed: boolean][] = [
  [true, 'guest', null, true],
  [true, 'owner', null, true],
  [false, 'guest', null, false],
  [false, 'guest', 'guest', true],
  [false, 'guest', 'owner', true],
  [false, 'viewer', 'guest', false],
  [false, 'viewer', 'viewer', true],
  [false, 'contributor', 'viewer', false],
  [false, 'contributor', 'contributor', true],
  [false, 'admin', 'contributor', false],
  [false, 'admin', 'admin', true],
  [false, 'owner', 'admin', false],
  [false, 'owner', 'owner', true],
]

test.each(views)('public %p, required %s, role %p: %p', (isPublic, requiredRole, role, allowed) => {
  const decision = decideView({ isPublic, requiredRole }, role)
  expect(decision.allowed).toBe(allowed)
  expect(decision.reason).not.toBe('')
})
