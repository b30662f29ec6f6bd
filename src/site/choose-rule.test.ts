import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { ask } from '../testing/ask.ts'
import { SEED_OWNER, type Seeded, seedDeployment } from '../testing/seed.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

let app: TestApp
let site: Seeded
let preview: Seeded

beforeAll(async () => {
  app = await testApp()
  const files = Object.fromEntries(
    ['hand', 'older', 'newer', 'alias', 'attached'].map((name) => [`${name}.txt`, name]),
  )
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a1'.repeat(20),
    alias: 'production',
    files,
  })
  preview = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'b2'.repeat(20),
    alias: 'preview',
    files,
  })
})
afterAll(() => app.close())
beforeEach(() => run('DELETE FROM rule_sets; DELETE FROM proxy_rules'))

function run(sql: string): void {
  app.ctx.db.sqlite.run(sql)
  app.ctx.db.writes += 1
}

/** A set with one rule for `/x` that shows the file named like the set. */
function addSet(name: string, { createdAt = 0, isPreview = 0, ruleOrder = 0 } = {}): void {
  run(`INSERT INTO rule_sets (id, project_id, name, is_preview, live_on, created_at, updated_at)
    VALUES ('${name}', '${site.projectId}', '${name}', ${isPreview}, '${isPreview ? 'aliases' : 'project'}', ${createdAt}, 0)`)
  addRule(name, `rule_set_id = '${name}', rule_order = ${ruleOrder}`)
}

function addRule(file: string, set: string): void {
  const id = app.ctx.newId()
  run(`INSERT INTO proxy_rules (id, project_id, path_pattern, proxy_type, target_url, strip_prefix, rule_order, timeout_ms,
      preserve_host, forward_cookies, is_enabled, debug_enabled, created_at, updated_at)
    VALUES ('${id}', '${site.projectId}', '/x', 'internal_rewrite', '/${file}.txt', 1, 0, 30000, 0, 0, 1, 0, 0, 0)`)
  run(`UPDATE proxy_rules SET ${set} WHERE id = '${id}'`)
}

const attach = (name: string, to: Seeded, position = 0) =>
  run(`INSERT INTO rule_set_aliases VALUES ('${to.aliasId}', '${name}', ${position})`)
const at = async (host: string | null) => (await app.call('GET', '/x', { host: host ?? '' })).text()
const inBoth = async () => [await at(site.aliasHost), await at(preview.aliasHost), await at(site.host)]

test('project level: manual rules, then the live sets, oldest first', async () => {
  addSet('newer', { createdAt: 2 })
  addSet('older', { createdAt: 1, ruleOrder: 9 })
  expect(await inBoth()).toEqual(['older', 'older', 'older'])
  addRule('hand', 'rule_order = 99')
  expect(await inBoth()).toEqual(['hand', 'hand', 'hand'])
  const list = await ask(app, 'GET', `/api/proxy-rules/project/${site.projectId}`, { as: SEED_OWNER })
  expect((list.body['rules'] as { ruleSetId: string | null }[]).map(({ ruleSetId }) => ruleSetId)).toEqual([
    null,
    'older',
    'newer',
  ])
})

test('a pattern that exceeds the limit when percent-encoded', async () => {
  const word = 'é'.repeat(300)
  addRule('hand', `path_pattern = '/${word}'`)
  const answer = await app.call('GET', `/${encodeURIComponent(word)}`, { host: site.aliasHost ?? '' })
  expect(await answer.text()).toBe('hand')
})

test('an attached set applies only to its aliases, before the project, in the order of attachment', async () => {
  addSet('older')
  addSet('attached')
  addSet('newer', { createdAt: 3 })
  attach('attached', preview, 1)
  attach('newer', preview, 0)
  expect(await inBoth()).toEqual(['older', 'newer', 'older'])
  addRule('alias', `alias_id = '${preview.aliasId}', rule_order = 99`)
  expect(await inBoth()).toEqual(['older', 'alias', 'older'])
})

test('a preview applies only if an alias names it, and a set whose alias was deleted does not apply to everybody', async () => {
  addSet('attached', { isPreview: 1 })
  expect((await inBoth()).map((text) => text === 'attached')).toEqual([false, false, false])
  attach('attached', preview)
  expect((await inBoth()).map((text) => text === 'attached')).toEqual([false, true, false])
  addSet('newer')
  attach('newer', site)
  run(`DELETE FROM rule_set_aliases WHERE rule_set_id = 'newer'`)
  expect((await inBoth()).map((text) => text === 'newer')).toEqual([false, false, false])
})

test('an alias does not use sets of another project', async () => {
  const other = await seedDeployment(app, {
    owner: 'acme',
    repo: 'other',
    sha: 'c3'.repeat(20),
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  addSet('older')
  expect(() => attach('older', other)).toThrow('different projects')
})

test('without rules a site is open, and a rule closes it at once', async () => {
  expect((await app.call('GET', '/hand.txt', { host: site.aliasHost ?? '' })).status).toBe(200)
  addRule('hand', 'rule_order = 1')
  expect(await at(site.aliasHost)).toBe('hand')
  run('UPDATE proxy_rules SET is_enabled = 0')
  expect((await app.call('GET', '/x', { host: site.aliasHost ?? '' })).status).toBe(404)
})

test('a rule that guards a folder cannot be bypassed with another Unicode form of its name', async () => {
  const guarded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'guarded',
    sha: 'c3'.repeat(20),
    alias: 'production',
    files: { 'café/x.txt': 'secret', 'open.txt': 'open' },
  })
  addRule('open', `project_id = '${guarded.projectId}', path_pattern = '/café/*'`)
  const read = async (path: string) => (await app.call('GET', path, { host: guarded.aliasHost ?? '' })).text()
  expect(await read('/caf%C3%A9/x.txt')).toBe('open')
  expect(await read('/cafe%CC%81/x.txt')).toBe('open')
})
