import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY_MS } from '../../domain/durations.ts'
import { seedKey, seedMember } from '../../testing/seed-people.ts'
import {
  ADMIN,
  type Call,
  callAs,
  change,
  createUndoWorld,
  fill,
  snapshot,
  type UndoWorld,
  undo,
} from './undo.fixture.ts'
import { removeOldUndoStates } from './upkeep.ts'

/** Undo obeys what the change by hand obeys, and says why it does not happen. contract 17.9. */
let world: UndoWorld
beforeEach(async () => {
  world = await createUndoWorld()
})
afterEach(() => world.close())

const MOVE: Call = ['PATCH', '/api/aliases/{alias}', { deploymentId: '{second}' }]
const byHand = async (...call: Call) => expect((await callAs(world, ADMIN, call)).ok).toBe(true)
const stateCount = () =>
  world.app.ctx.db.sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM undo_states').get()?.n

/** The refusal changes nothing. */
async function refusalOf(
  entry: string,
  as = ADMIN,
): Promise<[status: number, error: unknown, message: string]> {
  const before = snapshot(world)
  const { status, body } = await undo(world, entry, as)
  expect(snapshot(world)).toEqual(before)
  return [status, body['error'], String(body['message'])]
}

test('who made a change may undo it, and who may read the audit log; others 403, strangers 404', async () => {
  const { app, ids } = world
  const member = (role: 'viewer' | 'contributor' | 'admin') => seedMember(app, ids['project'] ?? '', role)
  const [maker, admin, viewer] = [await member('contributor'), await member('admin'), await member('viewer')]
  const other = 'other@example.com'
  await app.addUser(other)
  await byHand('POST', '/api/projects/{project}/permissions/users', { email: other, role: 'contributor' })
  const entry = await change(world, MOVE, maker)

  expect((await refusalOf(entry, other))[0]).toBe(403)
  expect((await refusalOf(entry, viewer))[0]).toBe(403)
  await app.addUser('stranger@example.com')
  expect((await refusalOf(entry, 'stranger@example.com'))[0]).toBe(404)
  expect((await app.call('POST', `/api/audit/${entry}/undo`)).status).toBe(401)
  const key = seedKey(app, ids['project'] ?? '')
  expect((await app.call('POST', `/api/audit/${entry}/undo`, { key })).status).toBe(403)

  const back = await undo(world, entry, maker)
  expect(back.status).toBe(200)
  expect((await undo(world, back.entry, admin)).status).toBe(200)
  const list = await app.call('GET', fill('/api/projects/{project}/audit?group=aliases&limit=3', ids), {
    as: admin,
  })
  const { data } = (await list.json()) as { data: Record<string, unknown>[] }
  expect(data.map(({ action, canUndo, sentence }) => [action, canUndo, sentence])).toEqual([
    ['undo', true, `${admin} did again: ${maker} moved live of acme/docs from #1 to #2`],
    ['undo', false, `${maker} undid: ${maker} moved live of acme/docs from #1 to #2`],
    ['alias.move', false, `${maker} moved live of acme/docs from #1 to #2`],
  ])
})

test('without the right any more: 403, and without any role: 404', async () => {
  const { app, ids } = world
  const maker = await seedMember(app, ids['project'] ?? '', 'admin')
  const entry = await change(world, ['PATCH', '/api/aliases/{alias}', { isPublic: true }], maker)
  await byHand('POST', '/api/projects/{project}/permissions/users', { email: maker, role: 'contributor' })
  expect((await refusalOf(entry, maker))[0]).toBe(403)
})

test('a key undoes what it did itself', async () => {
  const { app, ids } = world
  const key = seedKey(app, ids['project'] ?? '')
  const moved = await app.call('PATCH', fill('/api/aliases/{alias}', ids), {
    key,
    json: { deploymentId: ids['second'] },
  })
  const entry = moved.headers.get('x-svc-change')
  expect((await app.call('POST', `/api/audit/${entry}/undo`, { key })).status).toBe(200)
})

test('of two at once one succeeds', async () => {
  const entry = await change(world, ['PATCH', '/api/proxy-rules/{rule}', { targetUrl: 'https://other.test' }])
  const answers = await Promise.all([undo(world, entry), undo(world, entry)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  expect(answers.find(({ status }) => status === 409)?.body['error']).toBe('ALREADY_UNDONE')
})

test('a field of the entry has another value now: CHANGED_SINCE; others do no harm', async () => {
  const entry = await change(world, ['PATCH', '/api/projects/{project}', { displayName: 'One' }])
  await byHand('PATCH', '/api/projects/{project}', { isPublic: true })
  await byHand('PATCH', '/api/projects/{project}', { displayName: 'Two' })
  expect((await refusalOf(entry)).slice(0, 2)).toEqual([409, 'CHANGED_SINCE'])
  await byHand('PATCH', '/api/projects/{project}', { displayName: 'One' })
  expect((await undo(world, entry)).status).toBe(200)
  const project = await callAs(world, ADMIN, ['GET', '/api/projects/{project}'])
  expect(await project.json()).toMatchObject({ displayName: 'docs', isPublic: true })
})

const GONE: [what: string, made: Call, since: Call[]][] = [
  [
    'the deployment',
    MOVE,
    [
      ['DELETE', '/api/aliases/{seedA}'],
      ['DELETE', '/api/deployments/{first}'],
    ],
  ],
  ['the alias', MOVE, [['DELETE', '/api/aliases/{alias}']]],
  [
    'the rule',
    ['PATCH', '/api/proxy-rules/{rule}', { timeout: 9000 }],
    [['DELETE', '/api/proxy-rules/{rule}']],
  ],
  ['the alias of a rule', ['DELETE', '/api/proxy-rules/{aliasRule}'], [['DELETE', '/api/aliases/{alias}']]],
  ['the domain', ['PATCH', '/api/domains/{domain}', { isSpa: true }], [['DELETE', '/api/domains/{domain}']]],
  [
    'the person',
    ['POST', '/api/projects/{project}/permissions/users', { userId: '{person}', role: 'viewer' }],
    [['DELETE', '/api/users/{person}']],
  ],
]

test.each(GONE)('%s is gone: CANNOT_UNDO says so', async (_, made, since) => {
  world.ids['seedA'] = aliasId('seed-a')
  if (made === MOVE) world.app.ctx.db.sqlite.run('DELETE FROM domains')
  const entry = await change(world, made)
  for (const call of since) await byHand(...call)
  const [status, error, message] = await refusalOf(entry)
  expect([status, error]).toEqual([409, 'CANNOT_UNDO'])
  expect(message).toMatch(/gone|no such/)
})

const aliasId = (name: string): string =>
  world.app.ctx.db.sqlite.query<{ id: string }, [string]>('SELECT id FROM aliases WHERE name = ?').get(name)
    ?.id ?? ''

test('a publish is not undone, nor is what is of another kind', async () => {
  const log = world.app.ctx.db.sqlite.query<{ id: string }, [string, string]>(
    "SELECT id FROM audit_log WHERE action = ? AND target_name <> 'live' AND target_kind = ?",
  )
  for (const [action, kind] of [
    ['alias.create', 'alias'],
    ['project.create', 'project'],
    ['user.create', 'user'],
  ] as const) {
    const [, error, message] = await refusalOf(log.get(action, kind)?.id ?? '')
    expect([action, error]).toEqual([action, 'CANNOT_UNDO'])
    expect(message).toStartWith('This cannot be undone: ')
  }
})

test('after 30 days nothing can be undone, and the former states are removed', async () => {
  const entry = await change(world, MOVE)
  world.app.advance(30 * DAY_MS + 1)
  world.app.signInAgain()
  expect(await refusalOf(entry)).toEqual([
    409,
    'CANNOT_UNDO',
    'This cannot be undone: it is older than 30 days',
  ])
  await removeOldUndoStates(world.app.ctx)
  expect(stateCount()).toBe(0)
})

test('the former states go with their project, and are shown nowhere', async () => {
  await change(world, ['DELETE', '/api/proxy-rules/{rule}'])
  const log = await (await world.app.call('GET', '/api/audit?limit=100', { as: ADMIN })).text()
  expect(log).not.toContain('v1.')
  await byHand('DELETE', '/api/projects/{project}')
  const left = world.app.ctx.db.sqlite.query('SELECT 1 FROM undo_states WHERE project_id IS NOT NULL').all()
  expect(left).toEqual([])
})

test('the last admin, a taken name, a target that is not allowed: the answer of the change by hand', async () => {
  const { app } = world
  const promoted = await change(world, ['PATCH', '/api/users/{person}', { role: 'admin' }])
  app.ctx.db.sqlite.run("UPDATE users SET role = 'member' WHERE email = ?", [ADMIN])
  app.signInAgain()
  expect((await refusalOf(promoted, 'person@example.com'))[0]).toBe(400)
  app.ctx.db.sqlite.run("UPDATE users SET role = 'admin' WHERE email = ?", [ADMIN])
  app.signInAgain()

  const deleted = await change(world, ['DELETE', '/api/aliases/{alias}'])
  await byHand('POST', '/api/aliases', { projectId: '{project}', name: 'live', deploymentId: '{second}' })
  expect((await refusalOf(deleted)).slice(0, 2)).toEqual([409, 'Conflict'])

  app.ctx.db.sqlite.run("UPDATE proxy_rules SET target_url = 'https://elsewhere.test' WHERE id = ?", [
    world.ids['rule'] ?? '',
  ])
  const rule = await change(world, ['DELETE', '/api/proxy-rules/{rule}'])
  expect((await refusalOf(rule)).slice(0, 2)).toEqual([400, 'PROXY_TARGET_NOT_ALLOWED'])
})

test('a locked alias is moved back by those who may unlock it', async () => {
  const maker = await seedMember(world.app, world.ids['project'] ?? '', 'contributor')
  const entry = await change(world, MOVE, maker)
  await byHand('PATCH', '/api/aliases/{alias}', { isLocked: true })
  const [status, , message] = await refusalOf(entry, maker)
  expect([status, message.includes('locked')]).toEqual([409, true])
  expect((await undo(world, entry)).status).toBe(200)
})

test('a host that another project took stays there', async () => {
  const other = await callAs(world, ADMIN, ['POST', '/api/projects', { owner: 'acme', name: 'other' }])
  world.ids['other'] = ((await other.json()) as { id: string }).id
  const entry = await change(world, ['DELETE', '/api/domains/{domain}'])
  world.app.ctx.db.sqlite.run("UPDATE aliases SET name = 'kept'  WHERE name = 'seed-b'")
  world.app.ctx.db.sqlite.run(
    `INSERT INTO domains (id, project_id, hostname, alias, path_prefix, challenge, verified_by, verified_at, created_at, updated_at)
     VALUES ('taken', ?, 'docs.localhost', 'x', '', 'c', 'base_domain', 1, 1, 1)`,
    [world.ids['other'] ?? ''],
  )
  const [status, , message] = await refusalOf(entry)
  expect([status, message.includes('docs.localhost')]).toEqual([409, true])
})

test('header values never go elsewhere for who may not see them', async () => {
  const maker = await seedMember(world.app, world.ids['project'] ?? '', 'contributor')
  const entry = await change(
    world,
    ['PATCH', '/api/proxy-rules/{rule}', { targetUrl: 'https://other.test' }],
    maker,
  )
  const dropped = await callAs(world, ADMIN, ['GET', '/api/proxy-rules/{rule}'])
  expect(await dropped.json()).toMatchObject({ headerConfig: { add: {} } })
  expect((await undo(world, entry, maker)).status).toBe(200)
  const back = await callAs(world, ADMIN, ['GET', '/api/proxy-rules/{rule}'])
  expect(await back.json()).toMatchObject({
    targetUrl: 'https://api.test',
    headerConfig: { add: { 'x-key': 'very secret' } },
  })

  const emptied = await change(world, ['PATCH', '/api/proxy-rules/{rule}', { headerConfig: null }], maker)
  expect(
    (await callAs(world, maker, ['PATCH', '/api/proxy-rules/{rule}', { targetUrl: 'https://other.test' }]))
      .ok,
  ).toBe(true)
  expect((await refusalOf(emptied, maker)).slice(0, 2)).toEqual([409, 'CHANGED_SINCE'])
})
