import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { inTransaction } from '../../db/open.ts'
import { SEED_OWNER, seedDeployment } from '../../testing/seed.ts'
import { seedKey, seedMember } from '../../testing/seed-people.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { pointAlias } from './service.ts'

const shaOf = (digit: string): string => digit.repeat(40)

let app: TestApp
let projectId = ''
let otherDeployment = ''
let key = ''
let contributor = ''
let viewer = ''
const deployments: Record<string, string> = {}

beforeAll(async () => {
  app = await testApp()
  for (const digit of ['a', 'b']) {
    const seeded = await seedDeployment(app, {
      owner: 'Acme',
      repo: 'docs',
      sha: shaOf(digit),
      files: { 'index.html': digit },
    })
    projectId = seeded.projectId
    deployments[digit] = seeded.deploymentId
  }
  const other = await seedDeployment(app, {
    owner: 'acme',
    repo: 'other',
    sha: shaOf('c'),
    files: { 'index.html': 'other' },
  })
  otherDeployment = other.deploymentId
  key = seedKey(app, projectId)
  contributor = await seedMember(app, projectId, 'contributor')
  viewer = await seedMember(app, projectId, 'viewer')
  await seedMember(app, projectId, 'guest')
  await app.addUser('stranger@example.com')
})
afterAll(() => app.close())

type Json = Record<string, unknown>
const call = (method: string, path: string, as: string | null, json?: Json) =>
  app.call(
    method,
    `/api/aliases${path}`,
    as === null ? { json } : as === 'key' ? { key, json } : { as, json },
  )

let count = 0
async function newAlias(more: Json = {}): Promise<{ id: string; name: string; url: string }> {
  count += 1
  const json = { projectId, name: `alias-${count}`, deploymentId: deployments['a'], ...more }
  const answer = await call('POST', '', SEED_OWNER, json)
  expect(answer.status).toBe(201)
  return (await answer.json()) as { id: string; name: string; url: string }
}

const shows = async (url: string): Promise<string> =>
  (await app.call('GET', '/', { host: new URL(url).host })).text()

describe('POST', () => {
  test('returns the complete record', async () => {
    const answer = await call('POST', '', contributor, {
      owner: 'acme',
      repo: 'DOCS',
      name: 'Staging',
      commitSha: 'AAAAAAA',
    })
    expect(answer.status).toBe(201)
    const now = new Date(app.ctx.now()).toISOString()
    expect(await answer.json()).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      projectId,
      owner: 'Acme',
      repo: 'docs',
      name: 'Staging',
      deploymentId: deployments['a'],
      commitSha: shaOf('a'),
      number: 1,
      title: null,
      version: 1,
      isPublic: null,
      htmlHandling: null,
      isSpa: null,
      requiredRole: null,
      isLocked: false,
      isPreview: false,
      expiresAt: null,
      pullRequest: null,
      url: 'http://staging--docs--acme.localhost:3000',
      createdAt: now,
      updatedAt: now,
    })
    expect(await shows('http://staging--docs--acme.localhost')).toBe('a')
  })

  const rows: [name: string, as: string | null, json: () => Json, status: number][] = [
    ['the name in another case', 'owner', () => ({ name: 'STAGING' }), 409],
    ['a name like a SHA', 'owner', () => ({ name: 'ABCDEF1' }), 400],
    ['six hex digits are a name', 'owner', () => ({ name: 'abcdef' }), 201],
    ['hex digits and a hyphen are a name', 'owner', () => ({ name: 'abcdef1-' }), 201],
    ['no name', 'owner', () => ({ name: '' }), 400],
    ['64 characters', 'owner', () => ({ name: 'n'.repeat(64) }), 201],
    ['65 characters', 'owner', () => ({ name: 'n'.repeat(65) }), 400],
    ['a dot', 'owner', () => ({ name: 'v1.2' }), 400],
    ['no deployment', 'owner', () => ({ name: 'x1', deploymentId: undefined }), 400],
    ['an unknown deployment', 'owner', () => ({ name: 'x2', deploymentId: Bun.randomUUIDv7() }), 404],
    ["another project's deployment", 'owner', () => ({ name: 'x3', deploymentId: otherDeployment }), 404],
    [
      "another project's commit",
      'owner',
      () => ({ name: 'x4', deploymentId: undefined, commitSha: shaOf('c') }),
      404,
    ],
    ['an unknown project', 'owner', () => ({ name: 'x5', projectId: Bun.randomUUIDv7() }), 404],
    ['no project', 'owner', () => ({ name: 'x6', projectId: undefined }), 400],
    ['half of a name', 'owner', () => ({ name: 'x6', projectId: undefined, owner: 'acme' }), 400],
    ['a project that is not a text', 'owner', () => ({ name: 'x6', projectId: 7 }), 400],
    ['no project, to a key', 'key', () => ({ name: 'x6', projectId: undefined }), 403],
    ['no project, to nobody', null, () => ({ name: 'x6', projectId: undefined }), 401],
    ['a key', 'key', () => ({ name: 'by-key' }), 201],
    [
      'a key elsewhere',
      'key',
      () => ({ name: 'x7', projectId: undefined, owner: 'acme', repo: 'other' }),
      403,
    ],
    ['a contributor with settings', 'contributor@example.com', () => ({ name: 'x8', isPublic: false }), 403],
    ['a viewer', 'viewer@example.com', () => ({ name: 'x9' }), 403],
    ['a guest', 'guest@example.com', () => ({ name: 'x9' }), 403],
    ['a stranger', 'stranger@example.com', () => ({ name: 'x9' }), 404],
    ['nobody', null, () => ({ name: 'x9' }), 401],
    ['an owner with settings', 'owner', () => ({ name: 'quiet', isPublic: false, isLocked: true }), 201],
  ]
  test.each(rows)('%s', async (_name, as, json, status) => {
    const body = { projectId, deploymentId: deployments['a'], ...json() }
    const answer = await call('POST', '', as === 'owner' ? SEED_OWNER : as, body)
    expect(answer.status).toBe(status)
    if (status >= 400) expect(await answer.json()).toMatchObject({ statusCode: status })
  })

  test('a short SHA that matches several is refused, a full one that is a prefix of another is not', async () => {
    const seed = { owner: 'acme', repo: 'short', files: { 'index.html': 'x' } }
    const { projectId: id } = await seedDeployment(app, { ...seed, sha: '1234567' })
    await seedDeployment(app, { ...seed, sha: '12345678' })
    await seedDeployment(app, { ...seed, sha: '1234567890' })
    const post = (name: string, commitSha: string) =>
      call('POST', '', SEED_OWNER, { projectId: id, name, commitSha })
    expect((await post('exact', '1234567')).status).toBe(201)
    expect((await post('other', '12345678')).status).toBe(201)
    expect((await post('unknown', '12345679')).status).toBe(404)
    await seedDeployment(app, { ...seed, sha: 'fedcba91' })
    await seedDeployment(app, { ...seed, sha: 'fedcba92' })
    expect((await post('ambiguous', 'fedcba9')).status).toBe(400)
  })
})

describe('PATCH', () => {
  const rows: [name: string, as: string | null, json: () => Json, status: number][] = [
    ['a contributor moves', 'contributor@example.com', () => ({ deploymentId: deployments['b'] }), 200],
    ['a key moves', 'key', () => ({ commitSha: shaOf('b') }), 200],
    ['a short SHA', 'owner', () => ({ commitSha: 'bbbbbbb' }), 200],
    [
      'both, of one deployment',
      'owner',
      () => ({ deploymentId: deployments['b'], commitSha: shaOf('b') }),
      200,
    ],
    [
      'both, of two deployments',
      'owner',
      () => ({ deploymentId: deployments['b'], commitSha: shaOf('a') }),
      400,
    ],
    ['six digits', 'owner', () => ({ commitSha: 'bbbbbb' }), 400],
    ['an unknown deployment', 'owner', () => ({ deploymentId: Bun.randomUUIDv7() }), 404],
    ["another project's deployment", 'owner', () => ({ deploymentId: otherDeployment }), 404],
    ["another project's commit", 'owner', () => ({ commitSha: shaOf('c') }), 404],
    ['nothing', 'owner', () => ({}), 200],
    [
      'settings',
      'owner',
      () => ({ isPublic: false, isSpa: true, requiredRole: 'viewer', isLocked: true }),
      200,
    ],
    ['an invalid role', 'owner', () => ({ requiredRole: 'king' }), 400],
    ['settings by a contributor', 'contributor@example.com', () => ({ isPublic: null }), 403],
    ['a lock by a key', 'key', () => ({ isLocked: true }), 403],
    ['a viewer', 'viewer@example.com', () => ({ deploymentId: deployments['b'] }), 403],
    ['a stranger', 'stranger@example.com', () => ({ deploymentId: deployments['b'] }), 404],
    ['nobody', null, () => ({ deploymentId: deployments['b'] }), 401],
  ]
  test.each(rows)('%s', async (_name, as, json, status) => {
    const { id, url } = await newAlias()
    const answer = await call('PATCH', `/${id}`, as === 'owner' ? SEED_OWNER : as, json())
    expect(answer.status).toBe(status)
    if (status === 200) expect(await answer.json()).toMatchObject({ id, ...pick(json()) })
    const moves = status === 200 && ('deploymentId' in json() || 'commitSha' in json())
    const isPrivate = status === 200 && json()['isPublic'] === false
    if (!isPrivate) expect(await shows(url)).toBe(moves ? 'b' : 'a')
  })

  const pick = (json: Json): Json =>
    Object.fromEntries(Object.entries(json).filter(([name]) => name !== 'commitSha'))

  test('null inherits again', async () => {
    const { id } = await newAlias({ isPublic: false, isSpa: false, requiredRole: 'admin' })
    const answer = await call('PATCH', `/${id}`, SEED_OWNER, {
      isPublic: null,
      isSpa: null,
      requiredRole: null,
    })
    expect(await answer.json()).toMatchObject({ isPublic: null, isSpa: null, requiredRole: null })
  })

  const unknown: [as: string, status: number][] = [
    [SEED_OWNER, 404],
    ['key', 403],
  ]
  test.each(unknown)('an unknown alias, as %s', async (as, status) => {
    expect((await call('PATCH', `/${Bun.randomUUIDv7()}`, as, {})).status).toBe(status)
  })
})

describe('a locked alias', () => {
  const point = (name: string, digit: string) =>
    inTransaction(app.ctx.db, (tx) =>
      pointAlias(
        app.ctx,
        tx,
        { kind: 'operator' },
        {
          project: { id: projectId, owner: 'Acme', name: 'docs' },
          name,
          deployment: { id: deployments[digit] ?? '', commitSha: shaOf(digit), version: 1, number: 1 },
          basePath: '',
        },
      ),
    )

  test('is not moved by an upload', async () => {
    const { name, url } = await newAlias({ isLocked: true })
    expect(point(name, 'b').published).toBe(false)
    expect(point(name, 'a').published).toBe(true)
    expect(await shows(url)).toBe('a')
  })

  test('is moved by an admin, not by a contributor or a key', async () => {
    const { id, url } = await newAlias({ isLocked: true })
    for (const as of [contributor, 'key']) {
      const answer = await call('PATCH', `/${id}`, as, { deploymentId: deployments['b'] })
      expect(answer.status).toBe(409)
    }
    expect(await shows(url)).toBe('a')
    expect((await call('PATCH', `/${id}`, SEED_OWNER, { deploymentId: deployments['b'] })).status).toBe(200)
    expect(await shows(url)).toBe('b')
  })
})

describe('history', () => {
  test('lists every move, newest first; a move to the same deployment does not count', async () => {
    const { id } = await newAlias()
    app.advance(1000)
    await call('PATCH', `/${id}`, 'key', { deploymentId: deployments['b'] })
    await call('PATCH', `/${id}`, 'key', { deploymentId: deployments['b'] })
    app.advance(1000)
    await call('PATCH', `/${id}`, contributor, { commitSha: shaOf('a') })
    const answer = await call('GET', `/${id}/history`, viewer)
    const { history } = (await answer.json()) as { history: Json[] }
    const at = (ago: number) => new Date(app.ctx.now() - ago).toISOString()
    expect(history).toEqual([
      {
        deploymentId: deployments['a'],
        commitSha: shaOf('a'),
        number: 1,
        title: null,
        version: 1,
        movedBy: { kind: 'user', id: expect.any(String), name: contributor },
        movedAt: at(0),
        reason: 'move',
        exists: true,
      },
      {
        deploymentId: deployments['b'],
        commitSha: shaOf('b'),
        number: 2,
        title: null,
        version: 1,
        movedBy: { kind: 'key', id: expect.any(String), name: 'ci' },
        movedAt: at(1000),
        reason: 'move',
        exists: true,
      },
      {
        deploymentId: deployments['a'],
        commitSha: shaOf('a'),
        number: 1,
        title: null,
        version: 1,
        movedBy: { kind: 'user', id: expect.any(String), name: SEED_OWNER },
        movedAt: at(2000),
        reason: 'create',
        exists: true,
      },
    ])
  })

  test('a rollback serves the folder from back then', async () => {
    const seed = { owner: 'acme', repo: 'folders', alias: 'production' }
    const first = await seedDeployment(app, {
      ...seed,
      sha: shaOf('d'),
      basePath: '/dist',
      files: { 'dist/index.html': 'd' },
    })
    await seedDeployment(app, { ...seed, sha: shaOf('e'), files: { 'index.html': 'e' } })
    const url = `http://${first.aliasHost}`
    expect(await shows(url)).toBe('e')
    await call('PATCH', `/${first.aliasId}`, SEED_OWNER, { deploymentId: first.deploymentId })
    expect(await shows(url)).toBe('d')
    await call('PATCH', `/${first.aliasId}`, SEED_OWNER, { commitSha: shaOf('e') })
    expect(await shows(url)).toBe('e')
  })

  test('the folder of the alias overrides that of the deployment', async () => {
    const seed = { owner: 'acme', repo: 'folder3', alias: 'production' }
    const first = await seedDeployment(app, {
      ...seed,
      sha: shaOf('d'),
      basePath: '/dist',
      files: { 'dist/index.html': 'dist', 'alt/index.html': 'alt' },
    })
    inTransaction(app.ctx.db, (tx) => {
      const deployment = { id: first.deploymentId, commitSha: shaOf('d'), version: 1, number: 1 }
      const project = { id: first.projectId, owner: 'acme', name: 'folder3' }
      return pointAlias(
        app.ctx,
        tx,
        { kind: 'operator' },
        { project, name: 'production', deployment, basePath: '/alt' },
      )
    })
    const url = `http://${first.aliasHost}`
    expect(await shows(url)).toBe('alt')
    await seedDeployment(app, { ...seed, sha: shaOf('e'), files: { 'index.html': 'e' } })
    await call('PATCH', `/${first.aliasId}`, SEED_OWNER, { deploymentId: first.deploymentId })
    expect(await shows(url)).toBe('alt')
  })

  test('a new alias serves the folder that the upload of its deployment named', async () => {
    const seed = {
      owner: 'acme',
      repo: 'folder2',
      sha: shaOf('f'),
      basePath: '/out',
      files: { 'out/index.html': 'f' },
    }
    const seeded = await seedDeployment(app, seed)
    const answer = await call('POST', '', SEED_OWNER, {
      projectId: seeded.projectId,
      name: 'next',
      commitSha: shaOf('f'),
    })
    expect(await shows(((await answer.json()) as { url: string }).url)).toBe('f')
  })
})

describe('DELETE', () => {
  test('removes the host, and the name is free again', async () => {
    const { id, url, name } = await newAlias()
    expect((await call('DELETE', `/${id}`, contributor)).status).toBe(403)
    const answer = await call('DELETE', `/${id}`, SEED_OWNER)
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect((await app.call('GET', '/', { host: new URL(url).host })).status).toBe(404)
    expect((await call('DELETE', `/${id}`, SEED_OWNER)).status).toBe(404)
    expect(
      (await call('POST', '', SEED_OWNER, { projectId, name, deploymentId: deployments['b'] })).status,
    ).toBe(201)
    expect(await shows(url)).toBe('b')
  })
})

describe('GET', () => {
  const list = async (query: string, as: string | null = SEED_OWNER) =>
    (await (await call('GET', query, as)).json()) as { data: Json[]; pagination: Json }

  test('returns a page of what the caller may read', async () => {
    const mine = await list('?limit=2&page=2&sort=name&order=asc', viewer)
    expect(mine.data).toHaveLength(2)
    expect(mine.pagination).toMatchObject({ page: 2, limit: 2 })
    expect(mine.data.every((alias) => alias['projectId'] === projectId)).toBe(true)
    const names = mine.data.map((alias) => String(alias['name']).toLowerCase())
    expect(names).toEqual(names.toSorted())
    for (const as of ['stranger@example.com', 'guest@example.com'])
      expect((await list('', as)).pagination).toEqual({ page: 1, limit: 20, total: 0, pages: 0 })
    expect((await list('', 'key')).data.every((alias) => alias['projectId'] === projectId)).toBe(true)
    expect((await call('GET', '', null)).status).toBe(401)
  })

  const filters: [query: string, repos: string[]][] = [
    ['?repo=folders', ['folders']],
    ['?owner=ACME&repo=Folders', ['folders']],
    ['?owner=nobody', []],
    ['?name=PRODUCTION&repo=folders', ['folders']],
    [`?projectId=${Bun.randomUUIDv7()}`, []],
  ]
  test.each(filters)('%s', async (query, repos) => {
    const { data } = await list(query)
    expect(data.map((alias) => String(alias['repo']))).toEqual(repos)
  })

  test.each(['?limit=101', '?page=0', '?sort=url'])('%s is 400', async (query) => {
    expect((await call('GET', query, SEED_OWNER)).status).toBe(400)
  })
})

test('changes are in the audit log', () => {
  const actions = app.ctx.db.sqlite
    .query<{ action: string }, []>(
      "SELECT DISTINCT action FROM audit_log WHERE target_kind = 'alias' ORDER BY 1",
    )
    .all()
    .map(({ action }) => action)
  expect(actions).toEqual(['alias.change', 'alias.create', 'alias.delete', 'alias.move'])
})
