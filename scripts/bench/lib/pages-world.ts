import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { explainerOf } from '../../../src/server/endpoints.ts'
import { testApp } from '../../../src/testing/test-app.ts'
import { pageRoutes } from '../../../ui/pages-app.ts'
import { cookieOf } from './accounts.ts'
import { words } from './content.ts'
import type { Lab } from './lab.ts'
import type { Models } from './pages-seed.ts'
import { PROJECT, publish, type Svc } from './svc.ts'

/** What a page's path names, by the name of the parameter. */
type Ids = Readonly<Record<string, string>>

type Admin = { url: string; cookie: string }

/** Makes one of everything that pages show, by the API. */
export async function makeOneOfEach(lab: Lab, svc: Svc): Promise<{ ids: Ids; models: Models }> {
  const site = lab.folder('site')
  for (const [name, bytes] of Object.entries({ 'about.html': 900, 'app.css': 2000, 'index.html': 1200 }))
    writeFileSync(join(site, name), words(bytes, bytes))
  await publish(svc, site, 'a'.repeat(40))
  const admin = { url: svc.url, cookie: await cookieOf(svc) }
  const id = await idOf(admin, 'GET', `/api/projects/${PROJECT}`)
  const deploymentId = await firstOf(admin, `/api/deployments?projectId=${id}`)
  const ofProject = await fillProject(admin, id)
  const userId = await firstOf(admin, '/api/users')
  const groupId = await idOf(admin, 'POST', '/api/groups', { name: 'Editors' })
  const ids = { id, deploymentId, ...ofProject, userId, accountId: userId, groupId }
  return { ids, models: { projectId: id, deploymentId, schemaId: ofProject.schemaId, userId } }
}

async function fillProject(admin: Admin, projectId: string) {
  const aliasId = await firstOf(admin, `/api/aliases?projectId=${projectId}`)
  const mapping = { projectId, hostname: 'bench.localhost', alias: 'production' }
  const domainId = await idOf(admin, 'POST', '/api/domains', mapping)
  const rule = { pathPattern: '/api/*', targetUrl: '/index.html', proxyType: 'internal_rewrite' }
  const ruleId = await idOf(admin, 'POST', `/api/proxy-rules/project/${projectId}`, rule)
  const push = { ruleSet: { name: 'book' }, rules: [rule] }
  const pushed = await send(admin, 'PUT', `/api/proxy-rule-sets/project/${projectId}/sync`, push)
  const types = { name: 'string', email: 'email', stars: 'integer', message: 'text' }
  const fields = Object.entries(types).map(([name, type]) => ({ name, type }))
  const schemaId = await idOf(admin, 'POST', '/api/schemas', { projectId, name: 'guests', fields })
  const record = { name: 'Ada', email: 'ada@example.com', stars: 5, message: 'Lovely' }
  const recordId = await idOf(admin, 'POST', `/api/schemas/${schemaId}/records`, record)
  return { aliasId, domainId, ruleId, setId: String(pushed['ruleSetId']), schemaId, recordId }
}

/**
 * Every page there is, as the router has it, with the ids put in, and the questions that read most. Pages without an id
 * of ours are left out: a run of a pipeline, and a member who is not the owner.
 */
export async function pagePaths(ids: Ids): Promise<string[]> {
  const app = await testApp()
  const { routes } = pageRoutes(
    app.ctx,
    explainerOf(app.ctx, () => false),
  )
  app.close()
  const paths = routes.filter(({ method }) => method === 'GET').map(({ path }) => path || '/')
  const known = paths.flatMap((path) => filled(path, ids) ?? [])
  const records = filled('/projects/:id/data/:schemaId', ids)
  const deployments = filled('/projects/:id/deployments', ids)
  return [
    ...new Set(known),
    ...RECORD_QUERIES.map((query) => `${records}?${query}`),
    ...['branch=main', 'commitSha=aaaa', 'page=2'].map((query) => `${deployments}?${query}`),
    ...['/?q=site', '/admin/audit?action=deployment.create'],
  ]
}

const RECORD_QUERIES = [
  'sort=stars&order=asc',
  'sort=name&order=desc',
  'filter%5Bstars%5D%5Bgte%5D=3',
  'filter%5Bname%5D=Guest+7',
  'filter%5Bmessage%5D%5Blike%5D=%25lovely%25',
  'filter%5Bemail%5D=nobody%40example.com',
  'filter%5Bstars%5D%5Bgte%5D=3&sort=name&order=asc',
]

function filled(path: string, ids: Ids): string | undefined {
  const ofWorkspace = path
    .replace('/users/:id', '/users/:accountId')
    .replace('/groups/:id', '/groups/:groupId')
  const names = [...ofWorkspace.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  if (names.some((name) => ids[name] === undefined)) return undefined
  const full = ofWorkspace.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? '')
  return path.endsWith('/move') ? `${full}?to=${ids['deploymentId']}` : full
}

async function send(
  admin: Admin,
  method: string,
  path: string,
  json?: unknown,
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${admin.url}${path}`, {
    method,
    headers: { cookie: admin.cookie, 'content-type': 'application/json' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
  if (answer.ok) return (await answer.json()) as Record<string, unknown>
  throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
}

const idOf = async (admin: Admin, method: string, path: string, json?: unknown): Promise<string> =>
  String((await send(admin, method, path, json))['id'])

async function firstOf(admin: Admin, path: string): Promise<string> {
  const { data } = (await send(admin, 'GET', path)) as { data: { id: string }[] }
  const [first] = data
  if (first === undefined) throw new Error(`${path} lists nothing`)
  return first.id
}
