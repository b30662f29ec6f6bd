import { seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

/** A project with two deployments, the first of which the alias `live` shows, and one of each thing that changes. */
export type UndoWorld = { app: TestApp; ids: Record<string, string>; close(): void }

export const ADMIN = 'root@example.com'

export type Call = readonly [method: string, path: string, json?: unknown]

export async function createUndoWorld(): Promise<UndoWorld> {
  const app = await testApp({ PROXY_ALLOWED_TARGETS: 'api.test,other.test' })
  const ids: Record<string, string> = {}
  const publish = async (letter: string) => {
    app.advance(1000)
    return seedDeployment(app, {
      owner: 'acme',
      repo: 'docs',
      sha: letter.repeat(40),
      alias: `seed-${letter}`,
      files: { 'index.html': letter },
    })
  }
  const first = await publish('a')
  const second = await publish('b')
  Object.assign(ids, { project: first.projectId, first: first.deploymentId, second: second.deploymentId })
  await app.addUser(ADMIN, 'admin')
  ids['person'] = await app.addUser('person@example.com', 'member')
  const make = async (name: string, [method, path, json]: Call) => {
    const answer = await app.call(method, fill(path, ids), { as: ADMIN, json: filled(json, ids) })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    if (answer.status !== 204) ids[name] = String(((await answer.json()) as Record<string, unknown>)['id'])
  }
  await make('alias', [
    'POST',
    '/api/aliases',
    { projectId: '{project}', name: 'live', deploymentId: '{first}' },
  ])
  await make('rule', ['POST', '/api/proxy-rules/project/{project}', RULE])
  await make('rule2', ['POST', '/api/proxy-rules/project/{project}', { ...RULE, pathPattern: '/two/*' }])
  await make('aliasRule', ['POST', '/api/proxy-rules/alias/{alias}', { ...RULE, pathPattern: '/own/*' }])
  await make('group', ['POST', '/api/groups', { name: 'Friends' }])
  await make('', ['POST', '/api/groups/{group}/members', { userId: '{person}' }])
  await make('', [
    'POST',
    '/api/projects/{project}/permissions/groups',
    { groupId: '{group}', role: 'viewer' },
  ])
  await make('domain', [
    'POST',
    '/api/domains',
    { projectId: '{project}', hostname: 'docs.localhost', alias: 'seed-a' },
  ])
  await make('invitation', [
    'POST',
    '/api/projects/{project}/invitations',
    { email: 'new@example.com', role: 'viewer' },
  ])
  // So that a row is there: an undo leaves one with the values of none.
  await make('', ['PATCH', '/api/settings', { allowPublicSignups: false }])
  await make('', ['PUT', '/api/projects/{project}/quota', { files: 1000 }])
  await make('', ['PUT', '/api/projects/{project}/retention', { keepLast: 100 }])
  await make('', ['PUT', '/api/projects/{project}/release-checks', { startPage: false }])
  return { app, ids, close: () => app.close() }
}

const RULE = {
  pathPattern: '/api/*',
  targetUrl: 'https://api.test',
  headerConfig: { add: { 'x-key': 'very secret' } },
}

export const fill = (text: string, ids: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '')

const filled = (json: unknown, ids: Readonly<Record<string, string>>): unknown =>
  json === undefined ? undefined : JSON.parse(fill(JSON.stringify(json), ids))

export const callAs = ({ app, ids }: UndoWorld, as: string, [method, path, json]: Call): Promise<Response> =>
  app.call(method, fill(path, ids), { as, json: filled(json, ids) })

/** Makes a change that can be undone, and returns its entry. */
export async function change(world: UndoWorld, call: Call, as = ADMIN): Promise<string> {
  const answer = await callAs(world, as, call)
  if (!answer.ok) throw new Error(`${call[1]}: ${answer.status} ${await answer.text()}`)
  const entry = answer.headers.get('x-svc-change')
  if (entry === null) throw new Error(`${call[1]} cannot be undone`)
  return entry
}

export type Undone = { status: number; body: Record<string, unknown>; entry: string }

export async function undo(world: UndoWorld, entry: string, as = ADMIN): Promise<Undone> {
  const answer = await world.app.call('POST', `/api/audit/${entry}/undo`, { as })
  const body = (await answer.json()) as Record<string, unknown>
  return { status: answer.status, body, entry: answer.headers.get('x-svc-change') ?? '' }
}

/** Everything that the changes touch, without times. The history of an alias only grows. */
export function snapshot({ app }: UndoWorld): Record<string, unknown[]> {
  const rows = (table: string) =>
    app.ctx.db.sqlite
      .query<Record<string, unknown>, []>(`SELECT * FROM ${table}`)
      .all()
      .map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !/_at$/.test(name))))
      .map((row) => JSON.stringify(row))
      .sort()
  return Object.fromEntries(TABLES.map((table) => [table, rows(table)]))
}

const TABLES = [
  'aliases',
  'host_labels',
  'proxy_rules',
  'rule_set_aliases',
  'domains',
  'traffic',
  'permissions',
  'group_permissions',
  'memberships',
  'groups',
  'group_members',
  'users',
  'invitations',
  'projects',
  'settings',
  'retention_policies',
  'project_quotas',
  'release_checks',
]

/** A change of each kind, by the action of its entry. */
export const CHANGES: readonly (readonly [action: string, ...Call])[] = [
  ['alias.move', 'PATCH', '/api/aliases/{alias}', { deploymentId: '{second}' }],
  [
    'alias.create',
    'POST',
    '/api/aliases',
    { projectId: '{project}', name: 'next', deploymentId: '{second}' },
  ],
  ['alias.change', 'PATCH', '/api/aliases/{alias}', { isPublic: true, isLocked: true }],
  ['alias.delete', 'DELETE', '/api/aliases/{alias}'],
  ['project.change', 'PATCH', '/api/projects/{project}', { displayName: 'Other', isPublic: true }],
  ['settings.change', 'PATCH', '/api/settings', { allowPublicSignups: true }],
  ['quota.change', 'PUT', '/api/projects/{project}/quota', { files: 500 }],
  ['retention.change', 'PUT', '/api/projects/{project}/retention', { keepLast: 50, keepDays: 9 }],
  ['release_checks.set', 'PUT', '/api/projects/{project}/release-checks', { startPage: true }],
  [
    'domain.create',
    'POST',
    '/api/domains',
    { projectId: '{project}', hostname: 'more.localhost', alias: 'seed-b' },
  ],
  ['domain.change', 'PATCH', '/api/domains/{domain}', { alias: 'seed-b', isSpa: true }],
  ['domain.delete', 'DELETE', '/api/domains/{domain}'],
  [
    'traffic.set',
    'PUT',
    '/api/domains/{domain}/traffic',
    { weights: [{ alias: 'seed-a', weight: 100 }], sticky: false },
  ],
  ['proxy_rule.create', 'POST', '/api/proxy-rules/alias/{alias}', { ...RULE, pathPattern: '/more/*' }],
  [
    'proxy_rule.change',
    'PATCH',
    '/api/proxy-rules/{rule}',
    { targetUrl: 'https://other.test', headerConfig: null, timeout: 5000 },
  ],
  ['proxy_rule.delete', 'DELETE', '/api/proxy-rules/{rule}'],
  [
    'proxy_rule.reorder',
    'PUT',
    '/api/proxy-rules/project/{project}/reorder',
    { ruleIds: ['{rule2}', '{rule}'] },
  ],
  [
    'permission.grant',
    'POST',
    '/api/projects/{project}/permissions/users',
    { userId: '{person}', role: 'contributor' },
  ],
  ['permission.revoke', 'DELETE', '/api/projects/{project}/permissions/groups/{group}'],
  ['group.change', 'PATCH', '/api/groups/{group}', { name: 'Family', description: 'Ours' }],
  ['group.create', 'POST', '/api/groups', { name: 'Others' }],
  ['group.delete', 'DELETE', '/api/groups/{group}'],
  ['group.remove-member', 'DELETE', '/api/groups/{group}/members/{person}'],
  ['user.change', 'PATCH', '/api/users/{person}', { role: 'admin' }],
  ['user.suspend', 'POST', '/api/users/{person}/suspend', { reason: 'Away' }],
  ['invitation.revoke', 'DELETE', '/api/projects/{project}/invitations/{invitation}'],
]
