import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { DOCS, SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

/** Looking up a target's name may take seconds: whoever lost their role meanwhile must not change anything. */

const CON = 'con@example.com'
const SLOW = 'https://slow.example'

let app: TestApp
let projectId = ''
let aliasId = ''
let conId = ''
/** Called when a name of `SLOW` is looked up; the lookup waits for its promise. */
let onLookUp: () => Promise<unknown> = async () => {}

beforeEach(async () => {
  onLookUp = async () => {}
  app = await testApp(
    {},
    {
      resolve: async () => {
        await onLookUp()
        return ['93.184.216.34']
      },
    },
  )
  const seeded = await seedDeployment(app, { ...DOCS, alias: 'production' })
  projectId = seeded.projectId
  aliasId = seeded.aliasId ?? ''
  conId = await app.addUser(CON)
  await app.call('POST', `/api/projects/${projectId}/permissions/users`, {
    as: SEED_OWNER,
    json: { userId: conId, role: 'contributor' },
  })
  await app.cookieOf(CON)
})
afterEach(() => app.close())

const revoke = () =>
  app.call('DELETE', `/api/projects/${projectId}/permissions/users/${conId}`, { as: SEED_OWNER })
const rule = { pathPattern: '/api/*', targetUrl: SLOW }
const addRule = (json: Record<string, unknown> = rule, path = `project/${projectId}`) =>
  app.call('POST', `/api/proxy-rules/${path}`, { as: CON, json })
const push = (targetUrl: string) =>
  app.call('PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, {
    as: CON,
    json: { ruleSet: { name: 'main' }, rules: [{ pathPattern: '/api/*', targetUrl }], options: {} },
  })
const targets = () =>
  app.ctx.db.sqlite
    .query<{ target_url: string }, []>('SELECT target_url FROM proxy_rules')
    .all()
    .map(({ target_url }) => target_url)

describe('a role that is taken away while a target is looked up', () => {
  test('adds no rule', async () => {
    onLookUp = revoke
    expect((await addRule()).status).toBe(404)
    expect(targets()).toEqual([])
  })

  test('changes no rule', async () => {
    const { id } = await (await addRule()).json()
    onLookUp = revoke
    const json = { targetUrl: 'https://elsewhere.example' }
    expect((await app.call('PATCH', `/api/proxy-rules/${id}`, { as: CON, json })).status).toBe(404)
    expect(targets()).toEqual([SLOW])
  })

  test('pushes no rule set', async () => {
    onLookUp = revoke
    expect((await push(SLOW)).status).toBe(404)
    expect(app.ctx.db.sqlite.query('SELECT * FROM rule_sets').all()).toEqual([])
  })

  test('rolls no rule set back', async () => {
    const { ruleSetId } = await (await push(SLOW)).json()
    await push('https://elsewhere.example')
    const path = `/api/proxy-rule-sets/${ruleSetId}`
    const { revisions } = await (await app.call('GET', `${path}/revisions`, { as: CON })).json()
    // A name that was not looked up yet, because results are cached.
    app.ctx.db.sqlite.run("UPDATE rule_set_revisions SET content = replace(content, 'slow.', 'slower.')")
    onLookUp = revoke
    const answer = await app.call('POST', `${path}/rollback/${revisions.at(-1).id}`, { as: CON })
    expect(answer.status).toBe(404)
    expect(targets()).toEqual(['https://elsewhere.example'])
  })

  test('shows no secret of a rule set that is rolled back all the same', async () => {
    const [root, boss] = ['root@example.com', 'boss@example.com'] as const
    const rootId = await app.addUser(root, 'admin')
    await app.addUser(boss, 'admin')
    const as = boss
    const json = { userId: rootId, role: 'contributor' }
    await app.call('POST', `/api/projects/${projectId}/permissions/users`, { as, json })
    const withSecret = { ...rule, headerConfig: { add: { 'x-key': 'hush-hush-value' } } }
    const other = { pathPattern: '/other/*', targetUrl: 'https://other.example' }
    const sync = { ruleSet: { name: 'main' }, rules: [withSecret, other], options: {} }
    const pushed = await app.call('PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, { as, json: sync })
    const path = `/api/proxy-rule-sets/${(await pushed.json()).ruleSetId}`
    const { revisions } = await (await app.call('GET', `${path}/revisions`, { as })).json()
    app.ctx.db.sqlite.run("UPDATE rule_set_revisions SET content = replace(content, 'other.', 'another.')")
    expect(await (await app.call('GET', path, { as: root })).text()).toContain('hush-hush-value')
    onLookUp = () => app.call('PATCH', `/api/users/${rootId}`, { as, json: { role: 'user' } })
    const answer = await app.call('POST', `${path}/rollback/${revisions[0].id}`, { as: root })
    expect([answer.status, await answer.text()]).toEqual([200, expect.not.stringContaining('hush-hush')])
  })

  test('nor does a key that is revoked', async () => {
    const root = 'root@example.com'
    await app.addUser(root, 'admin')
    const made = await app.call('POST', '/api/api-keys', { as: root, json: { name: 'ci', projectId } })
    const { key, apiKey } = await made.json()
    onLookUp = () => app.call('DELETE', `/api/api-keys/${apiKey.id}`, { as: root })
    const answer = await app.call('POST', `/api/proxy-rules/project/${projectId}`, { key, json: rule })
    expect(answer.status).toBe(401)
    expect(targets()).toEqual([])
  })
})

test('a rule that got another target while its own was looked up is not turned on', async () => {
  const { id } = await (await addRule({ ...rule, isEnabled: false })).json()
  const path = `/api/proxy-rules/${id}`
  // A name that was not looked up yet, because results are cached.
  app.ctx.db.sqlite.run("UPDATE proxy_rules SET target_url = 'https://slower.example'")
  onLookUp = async () => {
    onLookUp = async () => {}
    await app.call('PATCH', path, { as: SEED_OWNER, json: { targetUrl: 'https://theirs.example' } })
  }
  expect((await app.call('PATCH', path, { as: CON, json: { isEnabled: true } })).status).toBe(409)
  expect(targets()).toEqual(['https://theirs.example'])
})

describe('deletions while a target is looked up', () => {
  test('an alias: 404, not a server error', async () => {
    onLookUp = () => app.call('DELETE', `/api/aliases/${aliasId}`, { as: SEED_OWNER })
    const answer = await addRule(rule, `alias/${aliasId}`)
    expect({ status: answer.status, message: (await answer.json()).message }).toEqual({
      status: 404,
      message: 'There is no such alias',
    })
  })

  test('a project: 404, for a global admin too', async () => {
    await app.addUser('root@example.com', 'admin')
    await app.cookieOf('root@example.com')
    onLookUp = () => app.call('DELETE', `/api/projects/${projectId}`, { as: SEED_OWNER })
    const path = `/api/proxy-rules/project/${projectId}`
    expect((await app.call('POST', path, { as: 'root@example.com', json: rule })).status).toBe(404)
  })
})
