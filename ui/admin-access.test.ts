import { afterAll, beforeAll, expect, test } from 'bun:test'
import { recordRun } from '../src/modules/runs/service.ts'
import { explainerOf } from '../src/server/endpoints.ts'
import { addHooks } from '../src/testing/access-hooks.ts'
import { putFile } from '../src/testing/put-file.ts'
import { type Seeded, seedDeployment } from '../src/testing/seed.ts'
import { seedMember } from '../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../src/testing/test-app.ts'
import { pageRoutes } from './pages-app.ts'
import { ADMIN, type Browser, browserOf } from './testing/browser.ts'

/** The least access that opens a page: a project role, a global role, `signed in`, or `anybody`. */
type Who = 'viewer' | 'contributor' | 'admin' | 'project maker' | 'global admin' | 'signed in' | 'anybody'

/**
 * One row per page route. **A new page needs a row here.** A form's row says who may send it at all. The page's own
 * tests cover buttons that need more.
 */
const TABLE: [route: string, who: Who][] = [
  ['GET /robots.txt', 'anybody'],
  ['GET /docs', 'anybody'],
  ['GET /docs/search.json', 'anybody'],
  ['GET /docs/*', 'anybody'],
  ['POST /theme', 'anybody'],
  ['GET /setup', 'anybody'],
  ['POST /setup', 'anybody'],
  ['GET /welcome', 'global admin'],
  ['GET /signin', 'anybody'],
  ['POST /signin', 'anybody'],
  ['GET /signup', 'anybody'],
  ['POST /signup', 'anybody'],
  ['POST /signout', 'anybody'],
  ['GET /signed-out', 'anybody'],
  ['POST /_svc/signout', 'anybody'],
  ['GET /_svc/clear-cookies', 'anybody'],
  ['POST /_svc/clear-cookies', 'anybody'],
  ['GET /forgot-password', 'anybody'],
  ['POST /forgot-password', 'anybody'],
  ['GET /reset-password', 'anybody'],
  ['POST /reset-password', 'anybody'],
  ['GET /invite', 'anybody'],
  ['POST /invite', 'anybody'],
  ['GET /account', 'signed in'],
  ['POST /account', 'signed in'],
  ['GET /device', 'signed in'],
  ['POST /device', 'signed in'],

  ['GET /', 'signed in'],
  ['GET /commands', 'signed in'],
  ['GET /commands.json', 'signed in'],
  ['GET /projects', 'signed in'],
  ['GET /projects/new', 'project maker'],
  ['POST /projects/new', 'project maker'],
  ['GET /projects/:id', 'viewer'],
  ['GET /projects/:id/publish', 'contributor'],
  ['GET /projects/:id/publish/paths', 'contributor'],
  ['POST /projects/:id', 'contributor'],
  ['POST /projects/:id/publish', 'contributor'],
  ['GET /projects/:id/deployments', 'viewer'],
  ['GET /projects/:id/deployments/:deploymentId', 'viewer'],
  ['POST /projects/:id/deployments/:deploymentId', 'contributor'],
  ['GET /projects/:id/deployments/:deploymentId/report', 'viewer'],
  ['GET /projects/:id/deployments/:deploymentId/files', 'viewer'],
  ['GET /projects/:id/compare', 'viewer'],
  ['GET /projects/:id/compare/file', 'viewer'],
  ['GET /projects/:id/aliases', 'viewer'],
  ['POST /projects/:id/aliases', 'contributor'],
  ['GET /projects/:id/aliases/:aliasId', 'viewer'],
  ['POST /projects/:id/aliases/:aliasId', 'contributor'],
  ['GET /projects/:id/aliases/:aliasId/move', 'contributor'],
  ['POST /projects/:id/aliases/:aliasId/move', 'contributor'],
  ['GET /projects/:id/domains', 'viewer'],
  ['POST /projects/:id/domains', 'admin'],
  ['GET /projects/:id/domains/:domainId', 'viewer'],
  ['POST /projects/:id/domains/:domainId', 'admin'],
  ['GET /projects/:id/domains/:domainId/traffic', 'viewer'],
  ['POST /projects/:id/domains/:domainId/traffic', 'contributor'],
  ['GET /projects/:id/rules', 'viewer'],
  ['POST /projects/:id/rules', 'contributor'],
  ['GET /projects/:id/rules/new', 'contributor'],
  ['POST /projects/:id/rules/new', 'contributor'],
  ['GET /projects/:id/rules/test', 'viewer'],
  ['POST /projects/:id/rules/test', 'viewer'],
  ['GET /projects/:id/rules/runs', 'viewer'],
  ['GET /projects/:id/rules/runs/:runId', 'viewer'],
  ['GET /projects/:id/rules/sets/:setId', 'viewer'],
  ['POST /projects/:id/rules/sets/:setId', 'contributor'],
  ['GET /projects/:id/rules/:ruleId', 'viewer'],
  ['POST /projects/:id/rules/:ruleId', 'contributor'],
  ['GET /projects/:id/rules/:ruleId/edit', 'contributor'],
  ['POST /projects/:id/rules/:ruleId/edit', 'contributor'],
  ['GET /projects/:id/data', 'viewer'],
  ['GET /projects/:id/data/new', 'contributor'],
  ['POST /projects/:id/data/new', 'contributor'],
  ['GET /projects/:id/data/:schemaId', 'viewer'],
  ['POST /projects/:id/data/:schemaId', 'contributor'],
  ['GET /projects/:id/data/:schemaId/schema', 'viewer'],
  ['POST /projects/:id/data/:schemaId/schema', 'contributor'],
  ['GET /projects/:id/data/:schemaId/new', 'contributor'],
  ['POST /projects/:id/data/:schemaId/new', 'contributor'],
  ['GET /projects/:id/data/:schemaId/:recordId', 'viewer'],
  ['POST /projects/:id/data/:schemaId/:recordId', 'contributor'],
  ['GET /projects/:id/files', 'viewer'],
  ['POST /projects/:id/files', 'contributor'],
  ['GET /projects/:id/files/:fileId', 'viewer'],
  ['POST /projects/:id/files/:fileId', 'contributor'],
  ['GET /projects/:id/people', 'viewer'],
  ['POST /projects/:id/people', 'admin'],
  ['GET /projects/:id/people/:userId', 'viewer'],
  ['POST /projects/:id/people/:userId', 'admin'],
  ['GET /projects/:id/settings', 'admin'],
  ['POST /projects/:id/settings', 'admin'],
  ['GET /projects/:id/secrets', 'contributor'],
  ['POST /projects/:id/secrets', 'admin'],

  ['GET /projects/:id/analytics', 'admin'],
  ['POST /projects/:id/analytics', 'admin'],
  ['GET /projects/:id/errors', 'admin'],
  ['GET /projects/:id/requests', 'admin'],
  ['GET /projects/:id/audit', 'admin'],

  ['GET /keys', 'global admin'],
  ['POST /keys', 'global admin'],
  ['GET /admin/users', 'global admin'],
  ['POST /admin/users', 'global admin'],
  ['GET /admin/users/:accountId', 'global admin'],
  ['POST /admin/users/:accountId', 'global admin'],
  ['GET /admin/groups', 'global admin'],
  ['POST /admin/groups', 'global admin'],
  ['GET /admin/groups/:groupId', 'global admin'],
  ['POST /admin/groups/:groupId', 'global admin'],
  ['GET /admin/settings/auth', 'global admin'],
  ['POST /admin/settings/auth', 'global admin'],
  ['GET /admin/audit', 'global admin'],
  ['POST /undo/:entryId', 'admin'],
  ['GET /admin/health', 'global admin'],
  ['GET /admin/analytics', 'global admin'],
  ['GET /admin/logs', 'global admin'],
  ['GET /admin/storage', 'global admin'],
  ['GET /admin/machines', 'global admin'],
  ['GET /admin/certificates', 'global admin'],
  ['POST /admin/certificates', 'global admin'],
  ['GET /admin/backups', 'global admin'],
  ['POST /admin/backups', 'global admin'],
  ['POST /admin/health', 'global admin'],
  ['GET /admin/webhooks', 'global admin'],
  ['POST /admin/webhooks', 'global admin'],
  ['GET /admin/webhooks/:workspaceHookId', 'global admin'],
  ['POST /admin/webhooks/:workspaceHookId', 'global admin'],
  ['GET /admin/webhooks/:workspaceHookId/deliveries/:workspaceDeliveryId', 'global admin'],
  ['POST /admin/webhooks/:workspaceHookId/deliveries/:workspaceDeliveryId', 'global admin'],
  ['GET /projects/:id/release-checks', 'viewer'],
  ['POST /projects/:id/release-checks', 'admin'],
  ['GET /projects/:id/schedules', 'viewer'],
  ['POST /projects/:id/schedules', 'contributor'],
  ['GET /projects/:id/schedules/new', 'contributor'],
  ['POST /projects/:id/schedules/new', 'contributor'],
  ['GET /projects/:id/schedules/:scheduleId', 'viewer'],
  ['POST /projects/:id/schedules/:scheduleId', 'contributor'],
  ['GET /projects/:id/retention', 'viewer'],
  ['POST /projects/:id/retention', 'admin'],
  ['GET /projects/:id/webhooks', 'admin'],
  ['POST /projects/:id/webhooks', 'admin'],
  ['GET /projects/:id/webhooks/:hookId', 'admin'],
  ['POST /projects/:id/webhooks/:hookId', 'admin'],
  ['GET /projects/:id/webhooks/:hookId/deliveries/:deliveryId', 'admin'],
  ['POST /projects/:id/webhooks/:hookId/deliveries/:deliveryId', 'admin'],
]

const LEVELS: readonly string[] = ['guest', 'viewer', 'contributor', 'admin', 'owner']
const ACTORS = ['anonymous', 'stranger', 'guest', 'viewer', 'contributor', 'admin', 'global admin'] as const
type ActorName = (typeof ACTORS)[number]

let app: TestApp
let browser: Browser
let own: Seeded
let ids: Record<string, string>
const emails = new Map<ActorName, string>([['global admin', ADMIN]])

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  const accountId = await app.addUser('stranger@example.com', 'member')
  emails.set('stranger', 'stranger@example.com')
  own = await seedDeployment(app, {
    owner: 'acme',
    repo: 'website',
    sha: 'c0ffee1234567890',
    alias: 'production',
    isPublic: false,
    files: { 'index.html': '<h1>Hello</h1>' },
  })
  for (const role of ['guest', 'viewer', 'contributor', 'admin'] as const)
    emails.set(role, await seedMember(app, own.projectId, role))
  const group = await app.call('POST', '/api/groups', { as: ADMIN, json: { name: 'Editors' } })
  const mapping = { projectId: own.projectId, hostname: 'www.example.com', alias: 'production' }
  const domain = await app.call('POST', '/api/domains', { as: ADMIN, json: mapping })
  const people = await app.call('GET', `/api/projects/${own.projectId}/permissions`, { as: ADMIN })
  const { users } = await people.json()
  ids = {
    id: own.projectId,
    deploymentId: own.deploymentId,
    aliasId: own.aliasId ?? '',
    userId: users[0].userId,
    accountId,
    entryId: entryOf(own.projectId),
    groupId: (await group.json()).id,
    domainId: (await domain.json()).id,
    ...(await seedRules(own.projectId)),
    ...(await seedData(own.projectId)),
    fileId: (await putFile(app.ctx, own.projectId, 'pictures/a.png', 'a picture', 'image/png')).id,
    ...addHooks(app, own.projectId, 'website'),
  }
})
afterAll(() => app.close())

/** A change that nobody can undo. */
const entryOf = (projectId: string): string =>
  app.ctx.db.sqlite
    .query<{ id: string }, [string]>(
      "SELECT id FROM audit_log WHERE action = 'project.create' AND target_id = ?",
    )
    .get(projectId)?.id ?? ''

/** A rule, a rule set, and a run of a pipeline. */
async function seedRules(projectId: string) {
  const json = { pathPattern: '/api/*', targetUrl: '/api.json', proxyType: 'internal_rewrite' }
  const made = await app.call('POST', `/api/proxy-rules/project/${projectId}`, { as: ADMIN, json })
  const push = { ruleSet: { name: 'book' }, rules: [json] }
  const pushed = await app.call('PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, {
    as: ADMIN,
    json: push,
  })
  const { id: ruleId } = await made.json()
  recordRun(app.ctx, {
    ...{ projectId, ruleId, ruleName: null, phase: 'steps', pathPattern: '/api/*', method: 'GET' },
    ...{ path: '/api/x', status: 200, durationMs: 1, failedStep: null, error: null, steps: null },
    startedAt: app.ctx.now(),
  })
  const runs = await app.call('GET', `/api/projects/${projectId}/pipeline-runs`, { as: ADMIN })
  return { ruleId, setId: (await pushed.json()).ruleSetId, runId: (await runs.json()).data[0].id }
}

/** A schema with a record. */
async function seedData(projectId: string) {
  const make = async (path: string, json: unknown): Promise<string> =>
    (await (await app.call('POST', path, { as: ADMIN, json })).json()).id
  const fields = [{ name: 'email', type: 'email' }]
  const schemaId = await make('/api/schemas', { projectId, name: 'people', fields })
  return { schemaId, recordId: await make(`/api/schemas/${schemaId}/records`, { email: 'a@example.com' }) }
}

/** The route's path with existing ids. `:id` is a project, except in routes of the workspace. */
const pathOf = (path: string): string => {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? '')
  return path.endsWith('/move') ? `${filled}?to=${ids['deploymentId']}` : filled
}

const routesOf = (): string[] =>
  pageRoutes(
    app.ctx,
    explainerOf(app.ctx, () => false),
  ).routes.map(({ method, path }) => `${method} ${path === '' ? '/' : path}`)

/** The router's parameters by their names in the table. */
const inTable = (route: string): string =>
  route
    .replace('/admin/users/:id', '/admin/users/:accountId')
    .replace('/admin/groups/:id', '/admin/groups/:groupId')
    .replace(/^(\w+ \/admin\/webhooks\/):hookId/, '$1:workspaceHookId')
    .replace(/^(\w+ \/admin\/webhooks\/.*):deliveryId/, '$1:workspaceDeliveryId')

test('every page has a row, and every row a page', () => {
  expect([...new Set(routesOf().map(inTable))].sort()).toEqual(TABLE.map(([route]) => route).sort())
})

/** 303 means the redirect to sign in, 200 means any response after access was granted. */
function expectedStatus(actor: ActorName, who: Who): number {
  if (actor === 'anonymous') return 303
  if (who === 'signed in' || actor === 'global admin') return 200
  if (who === 'global admin' || who === 'project maker') return 403
  if (actor === 'stranger') return 404
  return LEVELS.indexOf(actor) >= LEVELS.indexOf(who) ? 200 : 403
}

test.each(TABLE)('%s is for: %s', async (route, who) => {
  const [method = '', path = ''] = route.split(' ')
  // Pages for anybody are not guarded, and one of them would end the session.
  for (const actor of who === 'anybody' ? (['anonymous'] as const) : ACTORS) {
    const as = emails.get(actor)
    const answer =
      method === 'GET'
        ? await browser.open(pathOf(path), { as })
        : await browser.submit(pathOf(path), { intent: 'no-such-thing' }, { as })
    const isToSignIn = answer.headers.get('location')?.startsWith('/signin')
    const decided = isToSignIn ? 303 : [401, 403, 404].includes(answer.status) ? answer.status : 200
    if (who !== 'anybody') expect([actor, decided]).toEqual([actor, expectedStatus(actor, who)])
    expect(answer.status).toBeLessThan(500)
  }
})

test('a viewer sees no form that writes, on any page', async () => {
  const pages = TABLE.filter(([route, who]) => route.startsWith('GET /projects/:id') && who === 'viewer')
  for (const [route] of pages) {
    const html = await (await browser.open(pathOf(route.slice(4)), { as: emails.get('viewer') })).text()
    expect([route, [...html.matchAll(/name="intent" value="([^"]+)"/g)].map(([, name]) => name)]).toEqual([
      route,
      [],
    ])
    expect(html).not.toContain('data-publish')
    expect(html).not.toContain('/settings"')
  }
})

test('a form sent by another site does nothing', async () => {
  const answer = await browser.submit(
    `/projects/${own.projectId}/settings`,
    { intent: 'delete', confirm: 'acme/website' },
    { as: ADMIN, headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } },
  )
  expect(answer.status).toBe(403)
  expect((await browser.open(`/projects/${own.projectId}`, { as: ADMIN })).status).toBe(200)
})
