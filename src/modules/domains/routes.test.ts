import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask, NO_ID } from '../../testing/ask.ts'
import { removeUsedAlias } from '../../testing/remove-used-alias.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

const OWNER = SEED_OWNER
const ROOT = 'root@example.com'
const people = {
  admin: 'a@example.com',
  contributor: 'c@example.com',
  viewer: 'v@example.com',
  guest: 'g@example.com',
}
const STRANGER = 's@example.com'

let app: TestApp
let projectId: string
let otherId: string
const txt = new Map<string, string[]>()

beforeAll(async () => {
  app = await testApp(
    { BASE_DOMAIN: 'sites.test', ADMIN_HOST: 'localhost' },
    { resolveTxt: async (name) => txt.get(name) ?? [] },
  )
  const files = { 'index.html': 'home', 'docs/index.html': 'docs', 'docs/a.txt': 'a' }
  const seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: '1'.repeat(40),
    alias: 'production',
    files,
  })
  await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: '2'.repeat(40),
    alias: 'next',
    files: { 'index.html': 'next' },
  })
  projectId = seeded.projectId
  otherId = (
    await seedDeployment(app, {
      owner: 'acme',
      repo: 'shop',
      sha: '3'.repeat(40),
      alias: 'production',
      files: { 'index.html': 'shop' },
    })
  ).projectId
  await app.addUser(ROOT, 'admin')
  await app.addUser(STRANGER)
  for (const [role, email] of Object.entries(people)) {
    await app.addUser(email, 'member')
    await ask(app, 'POST', `/api/projects/${projectId}/permissions/users`, {
      as: OWNER,
      json: { email, role },
    })
  }
})
afterAll(() => app.close())

const create = (json: Record<string, unknown>, as = OWNER) =>
  ask(app, 'POST', '/api/domains', { as, json: { projectId, alias: 'production', ...json } })
const get = (host: string, path = '/', headers: Record<string, string> = {}) =>
  app.call('GET', path, { host, headers })
const textAt = async (host: string, path = '/') => (await get(host, path)).text()
const clear = () => {
  app.ctx.db.sqlite.run('DELETE FROM domains')
  app.ctx.db.writes += 1
}

test('below the base domain a domain serves at once, in any case, with a port or a trailing dot', async () => {
  const { status, body } = await create({ hostname: 'Docs.sites.test' })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    projectId,
    hostname: 'docs.sites.test',
    alias: 'production',
    pathPrefix: null,
    isPublic: null,
    redirectTo: null,
    verification: { method: 'base_domain', verifiedAt: '2026-11-20T12:00:00.000Z' },
    certificate: { status: 'off', expiresAt: null, error: null },
  })
  for (const host of ['docs.sites.test', 'DOCS.sites.test:3000', 'docs.sites.test.'])
    expect(await textAt(host)).toBe('home')
  expect(
    (await ask(app, 'PATCH', `/api/domains/${body['id']}`, { as: OWNER, json: { alias: 'NEXT' } })).body[
      'alias'
    ],
  ).toBe('next')
  expect(await textAt('docs.sites.test')).toBe('next')
  expect((await ask(app, 'DELETE', `/api/domains/${body['id']}`, { as: OWNER })).status).toBe(204)
  expect((await get('docs.sites.test')).status).toBe(404)
})

test.each([
  ['localhost', 409],
  ['admin.sites.test', 201],
  ['a--b.sites.test', 409],
  ['production--docs--acme.sites.test', 409],
  ['a.b.sites.test', 409],
  ['sites.test', 201],
  ['127.0.0.1', 400],
  ['[::1]', 400],
  ['2130706433', 400],
  ['no spaces.example', 400],
  ['https://docs.example', 400],
  ['docs.example:8080', 400],
  ['docs.example/path', 400],
  ['user@docs.example', 400],
  ['single', 201],
  ['bücher.sites.test', 201],
  ['xn--bcher-kva.sites.test', 201],
  ['a--bü.sites.test', 409],
  ['xn--docs--acme.sites.test', 400],
  ['bücher.example', 201],
  [`${'a'.repeat(64)}.example`, 400],
])('the host %s gets %d', async (hostname, status) => {
  expect((await create({ hostname })).status).toBe(status)
  clear()
})

test('a host below the base domain belongs to one project, and a project maps a host once', async () => {
  await create({ hostname: 'one.sites.test' })
  expect((await create({ hostname: 'one.sites.test', projectId: otherId })).status).toBe(409)
  await create({ hostname: 'one.example' })
  expect((await create({ hostname: 'ONE.example.' })).status).toBe(409)
  clear()
})

test("the future host of another project's long alias cannot be mapped", async () => {
  const alias = 'x'.repeat(64)
  const seed = { owner: 'acme', repo: 'shop', sha: '4'.repeat(40), alias, files: { 'index.html': 'theirs' } }
  const label = `${'x'.repeat(54)}-${new Bun.CryptoHasher('sha256').update(`${alias}--shop--acme`).digest('hex').slice(0, 8)}`
  expect((await create({ hostname: `${label}.sites.test` })).status).toBe(201)
  const { aliasHost } = await seedDeployment(app, seed)
  expect(aliasHost).not.toBe(`${label}.sites.test`)
  expect(await textAt(aliasHost ?? '')).toBe('theirs')
  clear()
})

test('an unproven host responds 421 until a TXT record proves it', async () => {
  const { body } = await create({ hostname: 'www.example.com' })
  const { verification } = body as {
    verification: { name: string; value: string; method: string; verifiedAt: null }
  }
  expect(verification).toMatchObject({
    method: 'txt',
    name: '_svc-challenge.www.example.com',
    verifiedAt: null,
  })
  expect([
    (await get('www.example.com')).status,
    (await get('www.example.com', '/api/projects')).status,
  ]).toEqual([421, 421])
  const verify = () => ask(app, 'POST', `/api/domains/${body['id']}/verify`, { as: OWNER, json: {} })
  expect((await verify()).body['verification']).toMatchObject({
    verifiedAt: null,
    error: expect.stringContaining('no TXT record'),
  })
  txt.set(verification.name, ['something else'])
  expect((await verify()).body['verification']).toMatchObject({
    verifiedAt: null,
    error: expect.stringContaining('other TXT'),
  })
  const seen = await ask(app, 'GET', `/api/domains/${body['id']}`, { as: people.viewer })
  expect(seen.body['verification']).toMatchObject({
    checkedAt: '2026-11-20T12:00:00.000Z',
    error: expect.stringContaining('other TXT'),
  })
  txt.set(verification.name, ['something else', verification.value])
  expect((await verify()).body['verification']).toMatchObject({
    method: 'txt',
    verifiedAt: '2026-11-20T12:00:00.000Z',
    error: null,
  })
  const entries = app.ctx.db.sqlite.query(
    "SELECT target_id, after FROM audit_log WHERE action = 'domain.verify'",
  )
  expect(entries.all()).toEqual([{ target_id: body['id'], after: '{"by":"txt"}' }])
  expect(await textAt('www.example.com')).toBe('home')
  clear()
})

test('an unproven host shows a page to people and an error to programs', async () => {
  await create({ hostname: 'www.example.com' })
  const program = await get('www.example.com')
  expect([program.status, await program.json()]).toEqual([
    421,
    { statusCode: 421, error: 'Misdirected Request', message: expect.stringContaining('www.example.com') },
  ])
  const asked = { host: 'www.example.com', headers: { accept: 'text/html' } }
  const person = await app.call('GET', '/some/page', asked)
  expect([person.status, person.headers.get('content-type')]).toEqual([421, 'text/html; charset=utf-8'])
  const html = await person.text()
  expect(html).toContain('This domain is not verified yet')
  const styles = html.match(/href="([^"]+\.css[^"]*)"/)?.[1] ?? ''
  expect((await get('www.example.com', styles)).headers.get('content-type')).toStartWith('text/css')
  clear()
})

test('a host that points here shows its own challenge, and no other', async () => {
  const { body } = await create({ hostname: 'www.example.com' })
  const { url, value } = body['verification'] as { url: string; value: string }
  const shown = await get('www.example.com', new URL(url).pathname)
  expect([shown.status, await shown.text()]).toEqual([200, value])
  expect((await get('www.example.com', '/.well-known/svc-challenge/other')).status).toBe(421)
  clear()
})

test('only an administrator of the workspace skips the proof', async () => {
  expect((await create({ hostname: 'www.example.com', verified: true })).status).toBe(403)
  const { body } = await create({ hostname: 'www.example.com' })
  const path = `/api/domains/${body['id']}`
  expect((await ask(app, 'POST', `${path}/verify`, { as: OWNER, json: { verified: true } })).status).toBe(403)
  expect((await ask(app, 'PATCH', path, { as: people.admin, json: { verified: true } })).status).toBe(403)
  const skipped = await ask(app, 'POST', `${path}/verify`, { as: ROOT, json: { verified: true } })
  expect([skipped.status, (skipped.body['verification'] as { method: string }).method]).toEqual([
    200,
    'admin',
  ])
  expect(await textAt('www.example.com')).toBe('home')
  clear()
})

test('a path prefix shows a folder of the deployment', async () => {
  const { body } = await create({ hostname: 'docs.sites.test', pathPrefix: 'docs/' })
  expect(body['pathPrefix']).toBe('/docs')
  expect([await textAt('docs.sites.test'), await textAt('docs.sites.test', '/a.txt')]).toEqual(['docs', 'a'])
  expect((await create({ hostname: 'x.sites.test', pathPrefix: '/../up' })).status).toBe(400)
  clear()
})

test('the visibility of a domain overrides alias and project', async () => {
  const { body } = await create({ hostname: 'docs.sites.test', isPublic: false, requiredRole: 'viewer' })
  expect((await get('docs.sites.test')).status).toBe(404)
  const cookie = await app.cookieOf(people.viewer)
  const seen = await get('docs.sites.test', '/', { cookie })
  expect([seen.status, seen.headers.get('cache-control')]).toEqual([
    200,
    'private, max-age=0, must-revalidate',
  ])
  expect((await get('docs.sites.test', '/', { cookie: await app.cookieOf(people.guest) })).status).toBe(403)
  await ask(app, 'PATCH', `/api/domains/${body['id']}`, { as: OWNER, json: { isPublic: null } })
  expect((await get('docs.sites.test')).status).toBe(200)
  clear()
})

test('a redirect keeps path and query', async () => {
  await create({ hostname: 'apex.sites.test', redirectTo: 'www.sites.test' })
  const answer = await get('apex.sites.test', '/a%20b?c=d')
  expect([answer.status, answer.headers.get('location')]).toEqual([
    308,
    'http://www.sites.test:3000/a%20b?c=d',
  ])
  await create({ hostname: 'old.sites.test', redirectTo: 'https://new.example/base/' })
  expect((await get('old.sites.test', '/x')).headers.get('location')).toBe('https://new.example/base/x')
  for (const redirectTo of [
    'self.sites.test',
    'ftp://x.example',
    'javascript:alert(1)',
    'https://u:p@x.example',
    'https://self.sites.test/x',
  ])
    expect((await create({ hostname: 'self.sites.test', redirectTo })).status).toBe(400)
  clear()
})

test('the host is deleted with its project, and an alias that is created again is shown there again', async () => {
  await create({ hostname: 'docs.sites.test', alias: 'next' })
  const aliasId = app.ctx.db.sqlite
    .query<{ id: string }, []>("SELECT id FROM aliases WHERE name = 'next'")
    .get()?.id
  removeUsedAlias(app, String(aliasId))
  expect((await get('docs.sites.test')).status).toBe(404)
  await ask(app, 'POST', '/api/aliases', {
    as: OWNER,
    json: { projectId, name: 'next', commitSha: '2'.repeat(40) },
  })
  expect(await textAt('docs.sites.test')).toBe('next')
  clear()
})

test('the list is paginated and shows what the caller may read', async () => {
  for (const hostname of ['a.example', 'b.example', 'c.example']) await create({ hostname })
  await create({ hostname: 'shop.example', projectId: otherId })
  const list = (as: string, query = '') => ask(app, 'GET', `/api/domains${query}`, { as })
  expect((await list(OWNER, '?limit=2&sort=hostname&order=asc')).body).toMatchObject({
    data: [{ hostname: 'a.example' }, { hostname: 'b.example' }],
    pagination: { page: 1, limit: 2, total: 4, pages: 2 },
  })
  expect((await list(people.viewer)).body['pagination']).toMatchObject({ total: 3 })
  for (const as of [people.guest, STRANGER])
    expect((await list(as)).body['pagination']).toMatchObject({ total: 0 })
  expect((await list(OWNER, '?limit=101')).status).toBe(400)
  clear()
})

test('access: viewers may read, admins may change', async () => {
  const { body } = await create({ hostname: 'docs.sites.test' })
  const path = `/api/domains/${body['id']}`
  const calls: [string, string, unknown, boolean][] = [
    ['GET', path, undefined, true],
    ['POST', '/api/domains', { projectId, hostname: 'new.sites.test', alias: 'nothing' }, false],
    ['PATCH', path, {}, false],
    ['POST', `${path}/verify`, {}, false],
    ['DELETE', path, undefined, false],
  ]
  for (const [method, at, json, isRead] of calls) {
    const status = async (as?: string) => (await ask(app, method, at, { as, json })).status
    expect([method, at, await status(), await status(STRANGER), await status(people.guest)]).toEqual([
      method,
      at,
      401,
      404,
      403,
    ])
    expect([await status(people.viewer), await status(people.contributor)]).toEqual(
      isRead ? [200, 200] : [403, 403],
    )
  }
  expect((await create({ hostname: 'new.sites.test', alias: 'nothing' }, people.admin)).status).toBe(404)
  expect((await create({ hostname: 'new.sites.test', projectId: NO_ID })).status).toBe(404)
  expect((await create({ hostname: 'new.sites.test', projectId: otherId }, people.admin)).status).toBe(404)
  clear()
})

test('domain takeover: a response of the base domain proves nothing, because it serves every project', async () => {
  const { status, body } = await create({ hostname: 'sites.test' })
  const { value } = body['verification'] as { value: string }
  const { outbound } = app.ctx
  app.ctx.outbound = {
    ...outbound,
    request: async () => ({ status: 200, headers: [], body: new TextEncoder().encode(value) }),
  }
  const verify = await ask(app, 'POST', `/api/domains/${body['id']}/verify`, { as: OWNER })
  app.ctx.outbound = outbound
  expect(status).toBe(201)
  expect(verify.body['verification']).toMatchObject({ verifiedAt: null })
  clear()
})

test('a redirect to https is followed to the same address only', async () => {
  const { body } = await create({ hostname: 'www.example.com' })
  const { url, value } = body['verification'] as { url: string; value: string }
  const secured = url.replace('http:', 'https:')
  const verify = async () =>
    (await ask(app, 'POST', `/api/domains/${body['id']}/verify`, { as: OWNER })).body['verification']
  const { outbound } = app.ctx
  const leadingTo = (location: string, shown = value) => {
    app.ctx.outbound = {
      ...outbound,
      request: async ({ protocol }) =>
        protocol === 'https:'
          ? { status: 200, headers: [], body: new TextEncoder().encode(shown) }
          : { status: 301, headers: [['location', location]], body: null },
    }
  }
  const elsewhere = [url, `${secured}?`, secured.replace('www.', 'other.'), 'https://', `/${value}`]
  for (const location of elsewhere) {
    leadingTo(location)
    expect([location, await verify()]).toMatchObject([location, { verifiedAt: null }])
  }
  leadingTo(secured, 'another value')
  expect(await verify()).toMatchObject({ verifiedAt: null })
  leadingTo(secured.replace('.com/', '.com:443/'))
  expect(await verify()).toMatchObject({ method: 'http', verifiedAt: '2026-11-20T12:00:00.000Z' })
  app.ctx.outbound = outbound
  clear()
})

test('a response of the host proves it too; a wrong or private one does not', async () => {
  const { body } = await create({ hostname: 'www.example.com' })
  const { url, value } = body['verification'] as { url: string; value: string }
  const verify = async () =>
    (await ask(app, 'POST', `/api/domains/${body['id']}/verify`, { as: OWNER })).body['verification']
  const { outbound } = app.ctx
  const asked: string[] = []
  const answering = (text: string, status = 200) => {
    app.ctx.outbound = {
      ...outbound,
      async request(at, { mayBePlain }) {
        asked.push(`${at.href} ${mayBePlain}`)
        return { status, headers: [], body: new TextEncoder().encode(text) }
      },
    }
  }
  answering('another value')
  expect(await verify()).toMatchObject({
    verifiedAt: null,
    error: expect.stringContaining('without the value'),
  })
  answering(value, 404)
  expect(await verify()).toMatchObject({ verifiedAt: null })
  answering(`${value}\n`)
  expect(await verify()).toMatchObject({ method: 'http', verifiedAt: '2026-11-20T12:00:00.000Z' })
  expect(new Set(asked)).toEqual(new Set([`${url} true`]))
  app.ctx.outbound = outbound

  const inside = await create({ hostname: 'inside.test' })
  const refused = await ask(app, 'POST', `/api/domains/${inside.body['id']}/verify`, { as: OWNER })
  expect(refused.body['verification']).toMatchObject({
    verifiedAt: null,
    error: expect.stringContaining('neither public'),
  })
  clear()
})
