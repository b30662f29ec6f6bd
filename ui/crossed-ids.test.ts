import { afterAll, beforeAll, expect, test } from 'bun:test'
import { explainerOf } from '../src/server/endpoints.ts'
import { createWorld, type World } from '../src/testing/access-world.ts'
import { seedDeployment } from '../src/testing/seed.ts'
import { pageRoutes } from './pages-app.ts'
import { RULE_FORM } from './rules/testing.ts'
import { ADMIN, withoutPageIds } from './testing/browser.ts'

const SCHEDULE_FORM = {
  name: 'x',
  cron: '@daily',
  timezone: 'UTC',
  catchUp: 'none',
  ruleId: ':pipelineId',
}
const HOOK_FORM = { name: 'x', url: 'https://hooks.example/secret', kind: 'json', 'event-*': 'true' }

/**
 * Pages below a project whose address also names another thing, and their forms. If that thing belongs to another
 * project, it is not found, even for a person with all rights on both: nothing of it is shown or changed. **A new page
 * of this kind needs a row here.** Without `fields` the test opens the page; with them it sends a form that must
 * succeed in its own project. Every `:name` is replaced by another project's id; a `{name}` stays the project's own.
 */
const TABLE: [route: string, fields?: Record<string, string>][] = [
  ['GET /projects/:id/deployments/:deploymentId'],
  ['POST /projects/:id/deployments/:deploymentId', { intent: 'create-alias', name: 'next' }],
  ['POST /projects/:id/deployments/:deploymentId', { intent: 'delete' }],
  ['GET /projects/:id/deployments/:deploymentId/report'],
  ['GET /projects/:id/deployments/:deploymentId/files'],
  ['GET /projects/:id/compare?from=:deploymentId'],
  ['GET /projects/:id/compare?to=:deploymentId'],
  ['GET /projects/:id/compare/file?from=:deploymentId&path=index.html'],
  ['GET /projects/:id/deployments/:deploymentId/files?path=index.html'],

  ['GET /projects/:id/aliases/:aliasId'],
  ['POST /projects/:id/aliases/:aliasId', { intent: 'settings', isPublic: 'false' }],
  ['POST /projects/:id/aliases/:aliasId', { intent: 'delete' }],
  ['GET /projects/:id/aliases/:aliasId/move?to=:deploymentId'],
  ['POST /projects/:id/aliases/:aliasId/move', { intent: 'move', deploymentId: ':deploymentId' }],

  ['GET /projects/:id/domains/:domainId'],
  ['POST /projects/:id/domains/:domainId', { intent: 'verify' }],
  ['POST /projects/:id/domains/:domainId', { intent: 'trust' }],
  ['POST /projects/:id/domains/:domainId', { intent: 'settings', alias: 'production', isSpa: 'true' }],
  ['POST /projects/:id/domains/:domainId', { intent: 'delete' }],
  ['GET /projects/:id/domains/:domainId/traffic'],
  [
    'POST /projects/:id/domains/:domainId/traffic',
    { intent: 'weights', 'alias-0': 'production', 'weight-0': '100', stickySeconds: '60' },
  ],
  [
    'POST /projects/:id/domains/:domainId/traffic',
    { intent: 'add-rule', type: 'query', key: 'a', value: 'b', alias: 'production' },
  ],
  ['POST /projects/:id/domains/:domainId/traffic', { intent: 'stop' }],

  ['POST /projects/:id/rules', { intent: 'reorder', aliasId: ':aliasId', order: '{aliasRuleId}' }],
  ['POST /projects/:id/rules', { intent: 'sets', aliasId: ':aliasId', attach: '{setId}' }],
  ['POST /projects/:id/rules/new', { ...RULE_FORM, aliasId: ':aliasId' }],
  ['POST /projects/:id/rules/new', { ...RULE_FORM, intent: 'check', aliasId: ':aliasId' }],
  ['POST /projects/:id/rules/new', { ...RULE_FORM, intent: 'check', timeout: 'long', aliasId: ':aliasId' }],
  ['GET /projects/:id/rules/test?rule=:ruleId'],
  ['POST /projects/:id/rules/test', { alias: ':aliasId', path: '/', method: 'GET' }],
  ['GET /projects/:id/rules/runs/:runId'],
  ['GET /projects/:id/rules/sets/:setId'],
  ['POST /projects/:id/rules/sets/:setId', { intent: 'settings', name: 'new' }],
  ['POST /projects/:id/rules/sets/:setId', { intent: 'everywhere' }],
  ['POST /projects/:id/rules/sets/:setId', { intent: 'rollback', revisionId: ':revisionId' }],
  ['POST /projects/:id/rules/sets/:setId', { intent: 'delete' }],
  ['GET /projects/:id/rules/:ruleId'],
  ['POST /projects/:id/rules/:ruleId', { intent: 'unlock' }],
  ['POST /projects/:id/rules/:ruleId', { intent: 'switch' }],
  ['POST /projects/:id/rules/:ruleId', { intent: 'delete' }],
  ['GET /projects/:id/rules/:ruleId/edit'],
  ['POST /projects/:id/rules/:ruleId/edit', { intent: 'unlock' }],
  ['POST /projects/:id/rules/:ruleId/edit', { ...RULE_FORM, intent: 'check' }],
  ['POST /projects/:id/rules/:ruleId/edit', { ...RULE_FORM, intent: 'check', timeout: 'long' }],
  ['POST /projects/:id/rules/:ruleId/edit', RULE_FORM],

  ['GET /projects/:id/schedules/:scheduleId'],
  ['POST /projects/:id/schedules/:scheduleId', { ...SCHEDULE_FORM, intent: 'change' }],
  ['POST /projects/:id/schedules/:scheduleId', { intent: 'run' }],
  ['POST /projects/:id/schedules/:scheduleId', { intent: 'pause' }],
  ['POST /projects/:id/schedules/:scheduleId', { intent: 'delete' }],
  ['GET /projects/:id/webhooks/:hookId'],
  ['POST /projects/:id/webhooks/:hookId', { ...HOOK_FORM, intent: 'change' }],
  ['POST /projects/:id/webhooks/:hookId', { intent: 'test' }],
  ['POST /projects/:id/webhooks/:hookId', { intent: 'rotate' }],
  ['POST /projects/:id/webhooks/:hookId', { intent: 'delete' }],
  ['GET /projects/:id/webhooks/:hookId/deliveries/:deliveryId'],
  ['POST /projects/:id/webhooks/:hookId/deliveries/:deliveryId', { intent: 'resend' }],

  ['GET /projects/:id/data/:schemaId'],
  ['POST /projects/:id/data/:schemaId', { intent: 'delete-selected', 'selected.{recordId}': 'true' }],
  ['GET /projects/:id/data/:schemaId/schema'],
  ['POST /projects/:id/data/:schemaId/schema', { intent: 'more' }],
  ['POST /projects/:id/data/:schemaId/schema', { intent: 'save', name: 'others' }],
  ['POST /projects/:id/data/:schemaId/schema', { intent: 'delete', confirm: 'contacts' }],
  ['GET /projects/:id/data/:schemaId/new'],
  ['POST /projects/:id/data/:schemaId/new', { intent: 'create', 'field.note': 'x' }],
  ['GET /projects/:id/data/:schemaId/:recordId'],
  [
    'POST /projects/:id/data/:schemaId/:recordId',
    { intent: 'save', updatedAt: '1970-01-01T00:00:00.000Z', 'field.note': 'x' },
  ],
  ['POST /projects/:id/data/:schemaId/:recordId', { intent: 'delete' }],
  ['GET /projects/:id/files/:fileId'],
  ['POST /projects/:id/files/:fileId', { intent: 'delete' }],
]

type Row = { route: string; fields: Record<string, string> | undefined }
type Ids = Readonly<Record<string, string>>

const ROWS = TABLE.map(([route, fields]) => ({ route, fields, what: fields?.['intent'] ?? 'no intent' }))

const namesIn = ({ route, fields = {} }: Row): string[] => [
  ...new Set(
    [...`${route} ${JSON.stringify(fields)}`.matchAll(/:([a-z]+Id)\b/g)].map(([, name = '']) => name),
  ),
]

/** Each row with every combination of ids from another project. */
const CASES = ROWS.flatMap((row) => {
  const names = namesIn(row)
  const choices = Array.from({ length: 2 ** names.length }, (_, bits) =>
    names.filter((_name, at) => bits & (1 << at)),
  )
  return choices.slice(1).map((crossed) => ({ ...row, crossed }))
})

/** Forms that take a list of ids. An id of another project makes the form fail or is ignored. */
const IN_LISTS: (Row & { name: string; status: number })[] = [
  {
    route: 'POST /projects/:id/rules',
    fields: { intent: 'reorder', aliasId: '{aliasId}', order: '{aliasRuleId}' },
    ...{ name: 'aliasRuleId', status: 400 },
  },
  {
    route: 'POST /projects/:id/rules',
    fields: { intent: 'sets', aliasId: '{aliasId}', attach: '{setId}' },
    ...{ name: 'setId', status: 400 },
  },
  {
    route: 'POST /projects/:id/data/:schemaId',
    fields: { intent: 'delete-selected', 'selected.{recordId}': 'true' },
    ...{ name: 'recordId', status: 303 },
  },
]

let world: World
let own: Ids
let foreign: Ids
beforeAll(async () => {
  world = await createWorld()
  await world.app.addUser(ADMIN, 'admin')
  own = await withMore(world.ids, 'docs')
  foreign = await withMore(world.foreignIds, 'other')
})
afterAll(() => world.close())

/**
 * The things by the names in page addresses, including an unused deployment, an alias rule and a domain with a split.
 */
async function withMore(ids: Ids, repo: string): Promise<Ids> {
  const { app } = world
  const make = async (method: string, path: string, json: unknown) =>
    (await app.call(method, path, { as: ADMIN, json })).json()
  const files = { 'index.html': `secret of ${repo}` }
  const { deploymentId } = await seedDeployment(app, { owner: 'acme', repo, sha: 'b'.repeat(40), files })
  const rule = {
    pathPattern: `/secret of ${repo}/*`,
    proxyType: 'internal_rewrite',
    targetUrl: '/index.html',
  }
  const { id: aliasRuleId } = await make('POST', `/api/proxy-rules/alias/${ids['aliasId']}`, rule)
  // Of an alias of its own, so that the other can be deleted.
  const { projectId, deploymentId: shown } = ids
  await make('POST', '/api/aliases', { projectId, name: 'mapped', deploymentId: shown })
  await make('PATCH', `/api/domains/${ids['domainId']}`, { alias: 'mapped' })
  const weights = [{ alias: 'mapped', weight: 100 }]
  await make('PUT', `/api/domains/${ids['domainId']}/traffic`, { weights })
  const hook = { isEnabled: true, events: ['preview.ended'] }
  await make('PATCH', `/api/projects/${projectId}/webhooks/${ids['hookId']}`, hook)
  return { ...ids, id: ids['projectId'] ?? '', setId: ids['ruleSetId'] ?? '', deploymentId, aliasRuleId }
}

const filled = (text: string, ids: Ids): string =>
  text.replace(/:([a-z]+Id|id)\b|\{(\w+)\}/g, (_, crossed, kept) => ids[crossed ?? kept] ?? '')

const FORM_HEADERS = {
  'content-type': 'application/x-www-form-urlencoded',
  origin: 'http://localhost',
  'sec-fetch-site': 'same-origin',
}

/** The response for a person with all rights, and whether it changed anything. Undoes the change. */
async function send({ route, fields }: Row, ids: Ids) {
  const [method = '', path = ''] = filled(route, ids).split(' ')
  const form = Object.entries(fields ?? {}).map((pair) => pair.map((text) => filled(text, ids)))
  const body = fields === undefined ? undefined : new URLSearchParams(form).toString()
  const headers = { accept: 'text/html', ...(fields === undefined ? {} : FORM_HEADERS) }
  const before = everything()
  let after = before
  const sent = await world.call('global admin', 'admin', { method, path, body, headers }, () => {
    after = everything()
  })
  // The address with the id of a deployment leads to the one with its number.
  const led = sent.status === 302 ? sent.headers.get('location') : null
  const answer =
    led === null ? sent : await world.call('global admin', 'admin', { method, path: led, headers })
  const text = withoutPageIds(await answer.text())
  return { status: answer.status, text, isChanged: after !== before }
}

/** All stored data of projects. */
const TABLES = [
  ...[
    'deployments',
    'assets',
    'aliases',
    'alias_history',
    'host_labels',
    'domains',
    'traffic',
    'proxy_rules',
  ],
  ...['rule_sets', 'rule_set_aliases', 'rule_set_revisions', 'schemas', 'records', 'webhooks', 'audit_log'],
]

const everything = (): string =>
  JSON.stringify(TABLES.map((name) => world.app.ctx.db.sqlite.query(`SELECT * FROM ${name}`).all()))

const SECRET = /secret[ .]of[ .]other|mapped-other/

/** The project's own ids, except those in `names`. */
const withOthers = (names: readonly string[], idOf: (name: string) => string | undefined): Ids => ({
  ...own,
  ...Object.fromEntries(names.map((name) => [name, idOf(name) ?? ''])),
})

test('every page that names a thing in its project has a row', () => {
  const { routes } = pageRoutes(
    world.app.ctx,
    explainerOf(world.app.ctx, () => false),
  )
  // People belong to the workspace.
  const named = routes
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => /^\w+ \/projects\/:id\/.*:(?!userId)/.test(route))
  const rows = TABLE.map(([route]) => route.replace(/\?.*/, ''))
  expect(named.filter((route) => !rows.includes(route))).toEqual([])
})

test.each(ROWS)('$route ($what) works in its own project', async (row) => {
  const { status } = await send(row, own)
  expect([200, 303]).toContain(status)
})

test.each(CASES)('$route ($what) with $crossed of another project is not found', async (each) => {
  const answer = await send(
    each,
    withOthers(each.crossed, (name) => foreign[name]),
  )
  expect([answer.status, answer.isChanged]).toEqual([404, false])
  expect(answer.text).not.toMatch(SECRET)
  // The same as for an unknown id.
  const nobodys = world.app.ctx.newId()
  const unknown = await send(
    each,
    withOthers(each.crossed, () => nobodys),
  )
  const sameIds = each.crossed.reduce(
    (text, name) => text.replaceAll(foreign[name] ?? '', nobodys),
    answer.text,
  )
  expect(sameIds).toBe(unknown.text)
})

test.each(IN_LISTS)('$route with $name of another project changes nothing', async (row) => {
  const answer = await send(
    row,
    withOthers([row.name], (name) => foreign[name]),
  )
  expect([answer.status, answer.isChanged]).toEqual([row.status, false])
  expect(answer.text).not.toMatch(SECRET)
})
