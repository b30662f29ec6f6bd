import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { ask } from '../testing/ask.ts'
import { BACKEND, type ProxyFixture, proxyFixture } from '../testing/proxy-fixture.ts'
import { SEED_OWNER, seedDeployment } from '../testing/seed.ts'
import type { Explanation } from './explain.ts'

const ADMIN_HOST = 'admin.sites.test'
const VIEWER = 'v@example.com'
const GUEST = 'g@example.com'
const STRANGER = 's@example.com'

let fixture: ProxyFixture
let backend: Server
let target: string
let backendSaw: string[] = []

beforeAll(async () => {
  const files = {
    'index.html': 'home',
    'about.html': 'about',
    'docs/index.html': 'docs',
    'a.txt': 'a',
    '404.html': 'none',
  }
  fixture = await proxyFixture({}, {}, files)
  backend = createServer(fixture.certificate, (request, response) => {
    backendSaw.push(request.url ?? '')
    response.end('backend')
  })
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  target = `https://${BACKEND}:${(backend.address() as AddressInfo).port}`
  const { app, site } = fixture
  for (const [email, role] of [
    [VIEWER, 'viewer'],
    [GUEST, 'guest'],
    [STRANGER, null],
  ]) {
    await app.addUser(email ?? '', 'member')
    if (role !== null)
      await ask(app, 'POST', `/api/projects/${site.projectId}/permissions/users`, {
        as: SEED_OWNER,
        json: { email, role },
      })
  }
})
afterAll(async () => {
  backend.closeAllConnections()
  backend.close()
  await fixture.close()
})

const explained = async (url: string, more: Record<string, string> = {}, as = VIEWER) => {
  const answer = await ask(fixture.app, 'GET', `/api/explain?${new URLSearchParams({ url, ...more })}`, {
    as,
  })
  if (answer.status !== 200)
    throw new Error(`explain answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body as unknown as Explanation
}
const stepsOf = ({ steps }: Explanation) => steps.map(({ step }) => step)

test('the steps of a request, in the order of the decisions', async () => {
  const secret = { add: { 'x-key': 'secret-value' } }
  const disabled = await fixture.rule({ pathPattern: '/api/*', targetUrl: target, isEnabled: false })
  const id = await fixture.rule({ pathPattern: '/api/*', targetUrl: `${target}/v2`, headerConfig: secret })
  const url = `http://${fixture.site.aliasHost}/api/users?q=1`
  const explanation = await explained(url)
  expect(stepsOf(explanation)).toEqual(['host', 'project', 'rule', 'rule', 'visibility', 'gate', 'forward'])
  expect(
    explanation.steps
      .filter(({ step }) => step === 'rule')
      .map(({ detail }) => [detail?.['id'], detail?.['reason']]),
  ).toEqual([
    [disabled, 'disabled'],
    [id, 'match'],
  ])
  expect(explanation.outcome).toMatchObject({
    kind: 'forward',
    ruleId: id,
    target: `${target}/v2/users?q=1`,
    status: null,
  })
  expect(JSON.stringify(explanation)).not.toContain('secret-value')
  expect(backendSaw).toEqual([])
  clear()
})

test('the version that is shown is named, on a host and in the path form', async () => {
  const { site } = fixture
  const named = { commitSha: expect.any(String), version: 1, deploymentId: site.deploymentId }
  for (const url of [`http://${site.aliasHost}/`, `http://${ADMIN_HOST}/public/acme/docs/production/`]) {
    const { steps } = await explained(url)
    const project = steps.find(({ step }) => step === 'project')
    expect(project).toMatchObject({ text: expect.stringMatching(/version 1 of [0-9a-f]{12}/), detail: named })
  }
})

test('who is rejected by the pipeline of a rule', async () => {
  const steps = [{ id: 'answer', handlerType: 'response_handler', config: { body: '{}' } }]
  const validators = [
    { type: 'rate_limit', config: { limit: 1, windowSeconds: 60 } },
    { type: 'auth_required', config: { roles: ['viewer'] } },
  ]
  const pipelineConfig = { steps, validators }
  await fixture.rule({ pathPattern: '/api/members', proxyType: 'pipeline', pipelineConfig })
  const told = async (as: string, more: Record<string, string> = {}) => {
    const { steps, outcome } = await explained(`http://${fixture.site.aliasHost}/api/members`, more, as)
    expect(outcome).toMatchObject({ kind: 'pipeline', status: null })
    return steps.find(({ step }) => step === 'pipeline')?.text
  }
  const refused = 'The rule’s pipeline rejects the visitor before its first step: '
  for (let i = 0; i < 3; i++) expect(await told(VIEWER)).toBe(`${refused}401, Sign in to use this`)
  expect(await told(VIEWER, { as: 'me' })).toBe('The rule’s pipeline runs')
  clear()
})

test('what is sent instead of a missing file', async () => {
  const textOf = async (path: string) =>
    (await explained(`http://${fixture.site.aliasHost}${path}`)).steps.find(({ step }) => step === 'file')
      ?.text
  const setSpa = (isSpa: boolean | null) =>
    ask(fixture.app, 'PATCH', `/api/projects/${fixture.site.projectId}`, { as: SEED_OWNER, json: { isSpa } })
  expect(await textOf('/none')).toBe('There is no file for /none: the page /404.html is sent')
  expect(await textOf('/none.js')).toBe('There is no file for /none.js')
  await setSpa(true)
  expect(await textOf('/none')).toBe(
    'There is no file for /none: /index.html is sent, because the site is a single-page app',
  )
  expect(await textOf('/cv.pdf')).toBe('There is no file for /cv.pdf: the page /404.html is sent')
  expect(await textOf('/none.js')).toBe('There is no file for /none.js')
  const bare = await seedDeployment(fixture.app, {
    owner: 'acme',
    repo: 'docs',
    sha: '8'.repeat(40),
    files: { 'a.txt': 'no page of an app' },
  })
  const there = await explained(`http://${bare.host}/none`)
  expect(there.steps.find(({ step }) => step === 'file')?.text).toBe('There is no file for /none')
  await setSpa(null)
})

test('the plain path is named where another spelling was sent, and why an app sent its page or did not', async () => {
  const { app, site } = fixture
  const at = async (path: string, more: Record<string, string> = {}) => {
    const { steps, outcome } = await explained(`http://${site.aliasHost}${path}`, more)
    const text = (name: string) => steps.find(({ step }) => step === name)?.text
    return { path: text('path'), accept: text('accept'), status: outcome.status }
  }
  expect((await at('/about')).path).toBeUndefined()
  expect((await at('/%61bout')).path).toBe('The path /%61bout stands for /about')
  expect((await at('/%40me/%2Fx')).path).toBe('The path /%40me/%2Fx stands for /@me/%2Fx')
  expect((await explained(`http://${ADMIN_HOST}/public/acme/docs/production/%61bout`)).steps[1]).toEqual({
    step: 'path',
    text: 'The path /public/acme/docs/production/%61bout stands for /public/acme/docs/production/about',
    detail: { sent: '/public/acme/docs/production/%61bout', plain: '/public/acme/docs/production/about' },
  })
  expect(await at('/about')).toMatchObject({ accept: undefined, status: 200 })
  expect(await at('/none')).toMatchObject({
    accept: 'The site is no single-page app: a path without a file is 404',
    status: 404,
  })
  const set = (isSpa: boolean | null) =>
    ask(app, 'PATCH', `/api/projects/${site.projectId}`, { as: SEED_OWNER, json: { isSpa } })
  await set(true)
  const PAGE = ': the page of the app is sent'
  for (const [path, accept, says, status] of [
    ['/ann@example.com', 'text/html', `Accept names text/html${PAGE}`, 200],
    ['/none', '*/*', `Accept allows */*, and there is no Sec-Fetch-Dest${PAGE}`, 200],
    ['/none', '', `There is no Accept, and there is no Sec-Fetch-Dest${PAGE}`, 200],
    ['/none', 'text/*;q=0', 'Accept refuses text/html: text/* has the weight 0: 404', 404],
    ['/none', 'image/png', 'Accept does not hold text/html: 404', 404],
    ['/a%2Epng', 'text/html', 'The path ends in .png, so it stands for a file and not for a page: 404', 404],
  ] as const)
    expect(await at(path, { accept })).toMatchObject({ accept: says, status })
  await set(null)
})

test('which levels decided that the site is private', async () => {
  const { app, site } = fixture
  const textOf = async () =>
    (await explained(`http://${site.aliasHost}/`)).steps.find(({ step }) => step === 'visibility')?.text
  const set = (path: string, json: object) => ask(app, 'PATCH', path, { as: SEED_OWNER, json })
  const [project, alias] = [`/api/projects/${site.projectId}`, `/api/aliases/${site.aliasId}`]
  const before = await textOf()
  await set(project, { isPublic: false })
  expect(await textOf()).toBe('The site is private and needs the role guest, as set by the project')
  await set(alias, { requiredRole: 'viewer' })
  expect(await textOf()).toBe(
    'The site is private and needs the role viewer, as set by the project and the alias',
  )
  await set(alias, { requiredRole: null })
  await set(project, { isPublic: true })
  expect(await textOf()).toBe(before)
})

test('hosts that show no site', async () => {
  const { app, site } = fixture
  const map = (hostname: string, more = {}) =>
    ask(app, 'POST', '/api/domains', {
      as: SEED_OWNER,
      json: { projectId: site.projectId, hostname, alias: 'production', ...more },
    })
  await map('unproven.example')
  await map('old.sites.test', { redirectTo: 'new.sites.test' })
  expect((await explained('http://unproven.example/')).outcome.status).toBe(421)
  const moved = await explained('http://old.sites.test/x?y=1')
  const location = new URL(moved.outcome.headers['location'] ?? '')
  expect([moved.outcome.status, location.hostname, location.pathname, location.search]).toEqual([
    308,
    'new.sites.test',
    '/x',
    '?y=1',
  ])
})

test('only viewers of the project may ask; others do not learn what exists', async () => {
  const other = await seedDeployment(fixture.app, {
    owner: 'acme',
    repo: 'other',
    sha: '9'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'x' },
  })
  const url = `http://${fixture.site.aliasHost}/`
  const status = async (as: string | undefined, at = url) =>
    (await ask(fixture.app, 'GET', `/api/explain?${new URLSearchParams({ url: at })}`, { as })).status
  expect([
    await status(undefined),
    await status(STRANGER),
    await status(GUEST),
    await status(VIEWER),
  ]).toEqual([401, 404, 403, 200])
  for (const at of [
    `http://${other.aliasHost}/`,
    'http://nowhere.example/',
    `http://${ADMIN_HOST}/`,
    'nonsense',
    'ftp://x/',
  ])
    expect([at, await status(VIEWER, at)]).toEqual([at, 404])
  expect(await status(VIEWER, `http://${ADMIN_HOST}/public/acme/docs/production/`)).toBe(200)
  expect(await status(VIEWER, `http://${ADMIN_HOST}/public/acme/other/production/`)).toBe(404)
})

const patterns = ['/api/*', '*.txt', '/about', '/docs/*', '/*', '/x*z', '/a.txt', '/api/users']
const paths = [
  '/',
  '/about',
  '/docs',
  '/docs/',
  '/a.txt',
  '/api/users',
  '/api/',
  '/api/health',
  '/api/projects',
  '/nothing',
  '/nothing.txt',
  '/xyz',
  '/%61pi/users',
  '/a%2Etxt?q=1',
]

test('the outcome is the real answer, for sites with any rules', async () => {
  let seed = 20261120
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return Math.floor((seed / 2147483648) * below)
  }
  const one = <T>(items: readonly T[]): T => items[random(items.length)] as T
  const { site, app } = fixture
  for (let round = 0; round < 12; round++) {
    clear()
    for (let count = random(5); count > 0; count--) {
      const isRewrite = random(2) === 0
      const targetUrl = isRewrite
        ? one(['/', '/docs/', '/a.txt', '/about'])
        : `${target}${one(['', '/v1', '/v1/'])}`
      const rule = {
        pathPattern: one(patterns),
        targetUrl,
        proxyType: isRewrite ? 'internal_rewrite' : 'external_proxy',
      }
      const more = {
        stripPrefix: random(2) === 0,
        isEnabled: random(4) > 0,
        ...(random(3) === 0 ? { method: one(['GET', 'POST']) } : {}),
      }
      await fixture.rule({ ...rule, ...more }, random(2) === 0)
    }
    const isPublic = random(3) > 0
    app.ctx.db.sqlite.run('UPDATE projects SET is_public = ? WHERE id = ?', [isPublic, site.projectId])
    app.ctx.db.writes += 1
    for (let asked = 0; asked < 12; asked++)
      await compare(one(paths), one(['GET', 'GET', 'POST', 'HEAD']), random(2) === 0)
  }
  app.ctx.db.sqlite.run('UPDATE projects SET is_public = 1')
  app.ctx.db.writes += 1
})

async function compare(path: string, method: string, byPathForm: boolean): Promise<void> {
  const { site, port } = fixture
  const host = byPathForm ? ADMIN_HOST : site.aliasHost
  const at = byPathForm ? `/public/acme/docs/production${path}` : path
  const { outcome, steps } = await explained(`http://${host}:${port}${at}`, { method, accept: 'text/html' })
  backendSaw = []
  const real = await fixture.send(at, { host: `${host}:${port}`, method, headers: { accept: 'text/html' } })
  const context = `${method} ${at}: ${steps.map(({ text }) => text).join(' | ')}`
  if (outcome.kind === 'forward') {
    const { pathname, search } = new URL(outcome.target ?? '')
    expect([context, backendSaw]).toEqual([context, [`${pathname}${search}`]])
    return
  }
  expect([context, backendSaw]).toEqual([context, []])
  if (outcome.kind === 'service') {
    expect([context, real.headers['x-content-type-options']]).toEqual([context, 'nosniff'])
    return
  }
  expect([context, outcome.kind, outcome.status]).toEqual([context, 'answer', real.status])
  for (const name of ['location', 'etag', 'content-type', 'cache-control', 'x-svc-commit', 'vary'])
    expect([context, name, outcome.headers[name]]).toEqual([
      context,
      name,
      real.headers[name] as string | undefined,
    ])
}

function clear(): void {
  fixture.app.ctx.db.sqlite.run('DELETE FROM proxy_rules')
  fixture.app.ctx.db.writes += 1
}
