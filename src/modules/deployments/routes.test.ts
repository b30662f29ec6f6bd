import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SEED_OWNER, type Seeded, seedDeployment } from '../../testing/seed.ts'
import { seedKey, seedMember } from '../../testing/seed-people.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'

const shaOf = (digit: string): string => digit.repeat(40)
const sha256 = (text: string): string => Bun.SHA256.hash(text, 'hex')

type Json = Record<string, unknown>
type Page = { data: Json[]; pagination: { page: number; limit: number; total: number; pages: number } }

let app: TestApp
let docs: Seeded
let newest: Seeded
let key = ''
let otherKey = ''
beforeAll(async () => {
  app = await testApp()
  docs = await seedDeployment(app, {
    owner: 'Acme',
    repo: 'docs',
    sha: shaOf('a'),
    branch: 'main',
    alias: 'staging',
    files: { 'index.html': 'hello', 'a b/ü#1.css': 'css', 'a-c.txt': 'x', 'a.txt': 'yy' },
  })
  app.advance(1000)
  newest = await seedDeployment(app, {
    owner: 'Acme',
    repo: 'docs',
    sha: shaOf('b'),
    branch: 'next',
    files: { 'index.html': 'next' },
  })
  app.advance(1000)
  const other = await seedDeployment(app, {
    owner: 'acme',
    repo: 'other',
    sha: `${'a'.repeat(8)}0`,
    files: { 'index.html': 'o' },
  })
  key = seedKey(app, docs.projectId)
  otherKey = seedKey(app, other.projectId)
  await seedMember(app, docs.projectId, 'contributor')
  await seedMember(app, docs.projectId, 'viewer')
  await seedMember(app, docs.projectId, 'guest')
  await app.addUser('stranger@example.com')
  await app.addUser('root@example.com', 'admin')
})
afterAll(() => app.close())

const call = (method: string, path: string, as: string | null) =>
  app.call(method, path, as === null ? {} : as === 'key' ? { key } : { as })
const page = async (path: string, as = SEED_OWNER) => (await (await call('GET', path, as)).json()) as Page

describe('GET /api/deployments/:id', () => {
  test('is the record', async () => {
    const answer = await call('GET', `/api/deployments/${docs.deploymentId}`, 'viewer@example.com')
    const made = new Date(app.ctx.now() - 2000).toISOString()
    expect(await answer.json()).toEqual({
      id: docs.deploymentId,
      projectId: docs.projectId,
      owner: 'Acme',
      repo: 'docs',
      commitSha: shaOf('a'),
      number: 1,
      title: null,
      version: 1,
      isLatest: true,
      baseSha: null,
      branch: 'main',
      description: null,
      workflowName: null,
      workflowRunId: null,
      fileCount: 4,
      totalSize: 11,
      aliases: ['staging'],
      preview: null,
      urls: {
        sha: `http://localhost:3000/repo/Acme/docs/${shaOf('a')}/`,
        preview: 'http://aaaaaaaaaaaa--docs--acme.localhost:3000',
        version: 'http://aaaaaaaaaaaa-v1--docs--acme.localhost:3000',
        alias: 'http://staging--docs--acme.localhost:3000',
      },
      createdBy: { kind: 'operator', id: null, name: null },
      createdAt: made,
      updatedAt: made,
    })
  })

  test('without an alias', async () => {
    const answer = await call('GET', `/api/deployments/${newest.deploymentId}`, 'key')
    expect(await answer.json()).toMatchObject({ aliases: [], urls: { alias: null } })
  })

  const rows: [as: string | null, id: () => string, status: number][] = [
    [null, () => docs.deploymentId, 401],
    ['stranger@example.com', () => docs.deploymentId, 404],
    ['guest@example.com', () => docs.deploymentId, 403],
    ['viewer@example.com', () => docs.deploymentId, 200],
    ['root@example.com', () => docs.deploymentId, 200],
    ['key', () => docs.deploymentId, 200],
    [SEED_OWNER, () => Bun.randomUUIDv7(), 404],
    ['key', () => Bun.randomUUIDv7(), 404],
    [SEED_OWNER, () => 'nonsense', 404],
  ]
  test.each(rows)('as %p', async (as, id, status) => {
    for (const path of ['', '/files'])
      expect((await call('GET', `/api/deployments/${id()}${path}`, as)).status).toBe(status)
  })
})

describe('GET /api/deployments', () => {
  const rows: [query: string, shas: string[]][] = [
    ['', ['aaaaaaaa0', shaOf('b'), shaOf('a')]],
    ['?order=asc', [shaOf('a'), shaOf('b'), 'aaaaaaaa0']],
    ['?sort=commitSha&order=asc', ['aaaaaaaa0', shaOf('a'), shaOf('b')]],
    ['?sort=commitSha', [shaOf('b'), shaOf('a'), 'aaaaaaaa0']],
    ['?owner=ACME&repo=DOCS', [shaOf('b'), shaOf('a')]],
    ['?repo=other', ['aaaaaaaa0']],
    ['?branch=main', [shaOf('a')]],
    ['?commitSha=AAAAAAA', ['aaaaaaaa0', shaOf('a')]],
    [`?commitSha=${shaOf('b')}`, [shaOf('b')]],
    ['?alias=STAGING', [shaOf('a')]],
    ['?alias=nothing', []],
    [`?projectId=${Bun.randomUUIDv7()}`, []],
    ['?limit=1&page=2', [shaOf('b')]],
    ['?limit=1&page=9', []],
  ]
  test.each(rows)('%s', async (query, shas) => {
    const { data } = await page(`/api/deployments${query}`)
    expect(data.map(({ commitSha }) => String(commitSha))).toEqual(shas)
  })

  const visible: [as: string, total: number][] = [
    ['viewer@example.com', 2],
    ['guest@example.com', 0],
    ['stranger@example.com', 0],
    ['root@example.com', 3],
    ['key', 2],
  ]
  test.each(visible)('%s sees %p', async (as, total) => {
    expect((await page('/api/deployments?limit=1', as)).pagination).toEqual({
      page: 1,
      limit: 1,
      total,
      pages: total,
    })
  })

  test.each(['?limit=101', '?sort=id', '?order=up', '?commitSha=abc', '?commitSha=zzzzzzz'])(
    '%s is 400',
    async (query) => {
      const answer = await call('GET', `/api/deployments${query}`, SEED_OWNER)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ details: [{ path: expect.any(String) }] })
    },
  )

  test('needs a credential', async () => {
    expect((await call('GET', '/api/deployments', null)).status).toBe(401)
  })

  test('a page takes the same number of queries whatever it contains', async () => {
    const { sqlite } = app.ctx.db
    const prepare = sqlite.prepare.bind(sqlite)
    let prepared = 0
    sqlite.prepare = ((...args: Parameters<typeof prepare>) => {
      prepared += 1
      return prepare(...args)
    }) as typeof sqlite.prepare
    const costOf = async (limit: number) => {
      prepared = 0
      await page(`/api/deployments?limit=${limit}`, 'root@example.com')
      return prepared
    }
    await costOf(1)
    expect(await costOf(3)).toBe(await costOf(1))
    expect(prepared).toBeGreaterThan(0)
    sqlite.prepare = prepare
  })
})

describe('GET /api/deployments/:id/files', () => {
  const files = (query = '') => page(`/api/deployments/${docs.deploymentId}/files${query}`)

  test('lists the files of the deployment, by path', async () => {
    const { data, pagination } = await files()
    expect(pagination).toEqual({ page: 1, limit: 20, total: 4, pages: 1 })
    expect(data[0]).toEqual({
      path: 'a b/ü#1.css',
      size: 3,
      mimeType: 'text/css',
      sha256: sha256('css'),
      url: `http://localhost:3000/repo/Acme/docs/${shaOf('a')}/a%20b/%C3%BC%231.css`,
    })
    const url = new URL(String(data[0]?.['url']))
    expect(await (await app.call('GET', url.pathname)).text()).toBe('css')
  })

  const rows: [query: string, paths: string[]][] = [
    ['', ['a b/ü#1.css', 'a-c.txt', 'a.txt', 'index.html']],
    ['?order=desc&limit=2', ['index.html', 'a.txt']],
    ['?sort=size&order=desc&limit=1', ['index.html']],
    ['?prefix=a', ['a b/ü#1.css', 'a-c.txt', 'a.txt']],
    ['?prefix=/a%20b/', ['a b/ü#1.css']],
    ['?prefix=a%20b/u%CC%88', ['a b/ü#1.css']],
    ['?prefix=%25', []],
    ['?prefix=a_', []],
  ]
  test.each(rows)('%s', async (query, paths) => {
    expect((await files(query)).data.map(({ path }) => String(path))).toEqual(paths)
  })
})

describe('assets', () => {
  const idOf = (path: string): string =>
    app.ctx.db.sqlite
      .query<{ id: string }, [string, string]>('SELECT id FROM assets WHERE deployment_id = ? AND path = ?')
      .get(docs.deploymentId, path)?.id ?? ''

  test('GET is the record of the spec', async () => {
    const id = idOf('a b/ü#1.css')
    const answer = await call('GET', `/api/assets/${id}`, 'viewer@example.com')
    expect(await answer.json()).toEqual({
      id,
      fileName: 'a b/ü#1.css',
      storageKey: `Acme/docs/${shaOf('a')}/a b/ü#1.css`,
      mimeType: 'text/css',
      size: 3,
      url: `/repo/Acme/docs/${shaOf('a')}/a%20b/%C3%BC%231.css`,
    })
  })

  const rows: [method: string, as: string | null, status: number][] = [
    ['GET', null, 401],
    ['GET', 'stranger@example.com', 404],
    ['GET', 'guest@example.com', 403],
    ['GET', 'key', 200],
    ['DELETE', null, 401],
    ['DELETE', 'stranger@example.com', 404],
    ['DELETE', 'contributor@example.com', 403],
    ['DELETE', 'key', 403],
  ]
  test.each(rows)('%s as %p is %p', async (method, as, status) => {
    expect((await call(method, `/api/assets/${idOf('a.txt')}`, as)).status).toBe(status)
  })

  test('DELETE takes the path out of the deployment at once', async () => {
    const host = 'staging--docs--acme.localhost'
    const headers = { accept: '*/*' }
    expect((await app.call('GET', '/a-c.txt', { host, headers })).status).toBe(200)
    const id = idOf('a-c.txt')
    const answer = await call('DELETE', `/api/assets/${id}`, SEED_OWNER)
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect((await app.call('GET', '/a-c.txt', { host, headers })).status).toBe(404)
    const record = await call('GET', `/api/deployments/${docs.deploymentId}`, SEED_OWNER)
    expect(await record.json()).toMatchObject({
      fileCount: 3,
      totalSize: 10,
      updatedAt: new Date(app.ctx.now()).toISOString(),
    })
    expect((await call('DELETE', `/api/assets/${id}`, SEED_OWNER)).status).toBe(404)
  })
})

describe("another project's key", () => {
  const rows: [method: string, path: () => string, status: number][] = [
    ['GET', () => `/api/deployments/${docs.deploymentId}`, 404],
    ['GET', () => `/api/deployments/${docs.deploymentId}/files`, 404],
    ['DELETE', () => `/api/deployments/${docs.deploymentId}`, 403],
    ['GET', () => `/api/aliases/${docs.aliasId}/history`, 404],
    ['PATCH', () => `/api/aliases/${docs.aliasId}`, 403],
    ['DELETE', () => `/api/aliases/${docs.aliasId}`, 403],
  ]
  test.each(rows)('%s %p', async (method, path, status) => {
    const answer = await app.call(method, path(), {
      key: otherKey,
      json: method === 'PATCH' ? {} : undefined,
    })
    expect(answer.status).toBe(status)
  })
})

describe('a session on a site host', () => {
  const rows: [method: string, path: () => string, host: string, status: number][] = [
    ['GET', () => `/api/deployments/${docs.deploymentId}`, 'staging--docs--acme.localhost', 200],
    ['GET', () => `/api/deployments/${docs.deploymentId}`, 'aaaaaaaa0--other--acme.localhost', 403],
    ['DELETE', () => `/api/deployments/${docs.deploymentId}`, 'staging--docs--acme.localhost', 403],
  ]
  test.each(rows)('%s %p on %s', async (method, path, host, status) => {
    const headers = { cookie: await app.cookieOf(SEED_OWNER) }
    expect((await app.call(method, path(), { host, headers })).status).toBe(status)
  })

  test('lists only what belongs to the host', async () => {
    const headers = { cookie: await app.cookieOf(SEED_OWNER) }
    const answer = await app.call('GET', '/api/deployments', {
      host: 'staging--docs--acme.localhost',
      headers,
    })
    const { data } = (await answer.json()) as Page
    expect(data.map(({ repo }) => String(repo))).toEqual(['docs', 'docs'])
  })
})

describe('DELETE /api/deployments/:id', () => {
  const path = () => `/api/deployments/${docs.deploymentId}`

  const rows: [as: string | null, status: number][] = [
    [null, 401],
    ['stranger@example.com', 404],
    ['viewer@example.com', 403],
    ['contributor@example.com', 403],
    ['key', 403],
  ]
  test.each(rows)('as %p is %p', async (as, status) => {
    expect((await call('DELETE', path(), as)).status).toBe(status)
  })

  test('is refused while aliases point at it, and names them', async () => {
    const answer = await call('DELETE', path(), SEED_OWNER)
    expect(answer.status).toBe(409)
    expect(await answer.json()).toMatchObject({
      error: 'Conflict',
      message: expect.stringContaining('staging'),
    })
    expect((await app.call('GET', '/', { host: docs.host })).status).toBe(200)
  })

  test('deletes the files and the hosts too', async () => {
    const moved = await app.call('PATCH', `/api/aliases/${docs.aliasId}`, {
      as: SEED_OWNER,
      json: { deploymentId: newest.deploymentId },
    })
    expect(moved.status).toBe(200)
    const answer = await call('DELETE', path(), SEED_OWNER)
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect((await app.call('GET', '/', { host: docs.host })).status).toBe(404)
    expect((await app.call('GET', `/repo/Acme/docs/${shaOf('a')}/`)).status).toBe(404)
    expect((await call('GET', path(), SEED_OWNER)).status).toBe(404)
    const left = app.ctx.db.sqlite
      .query('SELECT 1 FROM assets WHERE deployment_id = ?')
      .all(docs.deploymentId)
    expect(left).toHaveLength(0)
    const history = await call('GET', `/api/aliases/${docs.aliasId}/history`, SEED_OWNER)
    expect(await history.json()).toMatchObject({ history: [{}, { commitSha: shaOf('a') }] })
  })
})
