import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HTML_HANDLINGS } from '../domain/html-handling.ts'
import { SEED_OWNER, type Seeded, seedDeployment } from '../testing/seed.ts'
import { seedKey, seedMember } from '../testing/seed-people.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

type Site = Seeded & { aliasId: string; aliasHost: string; repo: string; sha: string }
let count = 0
async function site(files: Record<string, string>, alias = 'production'): Promise<Site> {
  count += 1
  const [repo, sha] = [`settings${count}`, count.toString(16).padStart(40, 'd')]
  const seeded = await seedDeployment(app, { owner: 'acme', repo, sha, alias, files })
  return { ...seeded, aliasId: seeded.aliasId ?? '', aliasHost: seeded.aliasHost ?? '', repo, sha }
}

const set = async (path: string, json: Record<string, unknown>, as = SEED_OWNER) => {
  const answer = await app.call('PATCH', path, { as, json })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}
const ofProject = ({ projectId }: Site, json: Record<string, unknown>, as?: string) =>
  set(`/api/projects/${projectId}`, json, as)
const ofAlias = ({ aliasId }: Site, json: Record<string, unknown>, as?: string) =>
  set(`/api/aliases/${aliasId}`, json, as)

/** `200 body`, `308 location` or `404`. */
async function shown(host: string, path: string, method = 'GET'): Promise<string> {
  const answer = await app.call(method, path, { host })
  if (answer.status === 308) return `308 ${answer.headers.get('location')}`
  return answer.status === 200 && method === 'GET' ? `200 ${await answer.text()}` : `${answer.status}`
}

describe('htmlHandling', () => {
  const FILES = {
    'index.html': 'root',
    'file.html': 'file',
    'folder/index.html': 'folder',
    'a b/ü.html': 'umlaut',
    '404.html': 'none',
  }
  type Row = [path: string, auto: string, force: string, drop: string, none: string]
  const ROWS: Row[] = [
    ['/file', '200 file', '308 /file/', '200 file', '404'],
    ['/file/', '308 /file', '200 file', '308 /file', '404'],
    ['/file.html', '308 /file', '308 /file/', '308 /file', '200 file'],
    ['/folder', '308 /folder/', '308 /folder/', '200 folder', '404'],
    ['/folder/', '200 folder', '200 folder', '308 /folder', '404'],
    ['/folder/index.html', '308 /folder/', '308 /folder/', '308 /folder', '200 folder'],
    ['/folder/index', '308 /folder/', '308 /folder/', '308 /folder', '404'],
    ['/index.html', '308 /', '308 /', '308 /', '200 root'],
    ['/', '200 root', '200 root', '200 root', '404'],
    ['/a%20b/%C3%BC', '200 umlaut', '308 /a%20b/%C3%BC/', '200 umlaut', '404'],
    ['/a%20b/u%CC%88/', '308 /a%20b/%C3%BC', '200 umlaut', '308 /a%20b/%C3%BC', '404'],
    ['/%66ile%2Ehtml', '308 /file', '308 /file/', '308 /file', '200 file'],
    ['/none', '404', '404', '404', '404'],
  ]
  test.each(HTML_HANDLINGS.map((handling, at) => [handling, at] as const))('%s', async (handling, at) => {
    const own = await site(FILES)
    expect((await ofProject(own, { htmlHandling: handling })).body['htmlHandling']).toBe(handling)
    for (const [path, ...cells] of ROWS) {
      const cell = cells[at] ?? ''
      // Twice: the second time the address is known.
      for (let round = 0; round < 2; round++)
        expect([path, await shown(own.aliasHost, path)]).toEqual([path, cell])
      expect([path, await shown(own.aliasHost, path, 'HEAD')]).toEqual([path, cell.replace(/^200 .*/, '200')])
      const query = cell.startsWith('308') ? `${cell}?q=1&r=%2F` : cell
      expect([path, await shown(own.aliasHost, `${path}?q=1&r=%2F`)]).toEqual([path, query])
      const location = cell.replace('308 ', `308 /public/acme/${own.repo}/production`)
      expect([path, await shown('localhost', `/public/acme/${own.repo}/production${path}`)]).toEqual([
        path,
        location,
      ])
    }
    const missing = await app.call('GET', '/folder/none', { host: own.aliasHost })
    expect([missing.status, await missing.text()]).toEqual([404, 'none'])
    expect((await app.call('POST', '/file.html', { host: own.aliasHost })).status).toBe(405)
  })

  test('an alias has its own, and null inherits; a change shows at once', async () => {
    const own = await site(FILES)
    expect(await shown(own.aliasHost, '/file.html')).toBe('200 file')
    await ofProject(own, { htmlHandling: 'drop-trailing-slash' })
    expect(await shown(own.aliasHost, '/file.html')).toBe('308 /file')
    expect((await ofAlias(own, { htmlHandling: 'force-trailing-slash' })).body['htmlHandling']).toBe(
      'force-trailing-slash',
    )
    expect(await shown(own.aliasHost, '/file.html')).toBe('308 /file/')
    expect(await shown(own.host, '/file.html')).toBe('308 /file')
    await ofAlias(own, { htmlHandling: null })
    expect(await shown(own.aliasHost, '/file.html')).toBe('308 /file')
    await ofProject(own, { htmlHandling: null })
    expect(await shown(own.aliasHost, '/file.html')).toBe('200 file')
  })

  test('the page of an app, a rewrite and a private site', async () => {
    const own = await site({ 'index.html': 'app', 'page.html': 'page' })
    await ofProject(own, { htmlHandling: 'auto-trailing-slash' })
    expect(await shown(own.aliasHost, '/deep/link')).toBe('200 app')
    const rule = { proxyType: 'internal_rewrite', pathPattern: '/old', targetUrl: '/page.html' }
    await app.call('POST', `/api/proxy-rules/project/${own.projectId}`, { as: SEED_OWNER, json: rule })
    expect(await shown(own.aliasHost, '/old')).toBe('200 page')
    await ofProject(own, { isPublic: false })
    const answer = await app.call('GET', '/page.html', { host: own.aliasHost, as: SEED_OWNER })
    expect([answer.status, answer.headers.get('location')]).toEqual([308, '/page'])
    expect([answer.headers.get('cache-control'), answer.headers.get('vary')]).toEqual([
      'private, max-age=0, must-revalidate',
      'Cookie',
    ])
    expect((await app.call('GET', '/page.html', { host: own.aliasHost })).status).toBe(404)
  })
})

describe('200.html', () => {
  test('is the page of an app, before index.html and whatever else there is', async () => {
    const own = await site({ 'index.html': 'start', '200.html': 'app', '404.html': 'none' })
    expect(await shown(own.aliasHost, '/')).toBe('200 start')
    expect(await shown(own.aliasHost, '/deep/link')).toBe('200 app')
    expect(await shown(own.aliasHost, '/deep/link', 'HEAD')).toBe('200')
    expect(await shown(own.aliasHost, '/missing.js')).toBe('404')
    const image = await app.call('GET', '/deep', { host: own.aliasHost, headers: { accept: 'image/png' } })
    expect(image.status).toBe(404)
    await ofAlias(own, { isSpa: false })
    expect(await shown(own.aliasHost, '/deep/link')).toBe('404')
    await ofAlias(own, { isSpa: true })
    expect(await shown(own.aliasHost, '/deep/link')).toBe('200 app')
  })

  test('needs no index.html, and counts only at the root', async () => {
    expect(await shown((await site({ '200.html': 'app' })).aliasHost, '/deep')).toBe('200 app')
    const below = await site({ 'x/200.html': 'app', 'a.txt': 'a' })
    expect(await shown(below.aliasHost, '/x/deep')).toBe('404')
  })
})

describe('indexing', () => {
  const FILES = { 'index.html': 'x', '404.html': 'none', 'a.js': 'js' }
  const robots = async (host: string, path = '/', headers: Record<string, string> = {}) => {
    const answer = await app.call('GET', path, { host, headers })
    return [answer.status, answer.headers.get('x-robots-tag')]
  }
  const places = async (own: Site): Promise<(string | number | null)[][]> => [
    await robots(own.aliasHost),
    await robots(own.host),
    await robots(own.host, '/none'),
    await robots('localhost', `/public/acme/${own.repo}/production/`),
    await robots('localhost', `/repo/acme/${own.repo}/${own.sha}/a.js`),
    await robots('docs.localhost'),
  ]

  test('by default previews are kept from search engines, production and domains are not', async () => {
    const own = await site(FILES)
    const mapping = { projectId: own.projectId, hostname: 'docs.localhost', alias: 'production' }
    expect((await app.call('POST', '/api/domains', { as: SEED_OWNER, json: mapping })).status).toBe(201)
    const [yes, no, missing] = [
      [200, 'noindex'],
      [200, null],
      [404, 'noindex'],
    ]
    expect(await places(own)).toEqual([no, yes, missing, yes, yes, no] as never)
    expect((await ofProject(own, { indexing: 'all' })).body['indexing']).toBe('all')
    expect(await places(own)).toEqual([no, no, [404, null], no, no, no])
    await ofProject(own, { indexing: 'none' })
    expect(await places(own)).toEqual([yes, yes, missing, yes, yes, yes] as never)
    expect((await app.call('HEAD', '/', { host: own.aliasHost })).headers.get('x-robots-tag')).toBe('noindex')
  })

  test('304 and 206 carry it, and one file shown on two hosts does not mix them up', async () => {
    const own = await site(FILES)
    const { headers } = await app.call('GET', '/a.js', { host: own.host })
    expect(await robots(own.host, '/a.js', { 'if-none-match': headers.get('etag') ?? '' })).toEqual([
      304,
      'noindex',
    ])
    expect(await robots(own.aliasHost, '/a.js', { 'if-none-match': headers.get('etag') ?? '' })).toEqual([
      304,
      null,
    ])
    expect(await robots(own.host, '/a.js', { range: 'bytes=0-0' })).toEqual([206, 'noindex'])
    expect(await robots(own.aliasHost, '/a.js', { range: 'bytes=0-0' })).toEqual([206, null])
  })

  test("another alias is a preview; the service's own 404 page carries it too", async () => {
    const own = await site({ 'a.txt': 'a' }, 'staging')
    expect(await robots(own.aliasHost, '/a.txt')).toEqual([200, 'noindex'])
    expect(await robots(own.aliasHost, '/none')).toEqual([404, 'noindex'])
    expect(await robots(own.aliasHost, '/none', { accept: 'text/html' })).toEqual([404, 'noindex'])
  })

  test('lines carry it, but those to a backend', async () => {
    const lines =
      '/old /new\n/file /a.js 200\n/gone 410\n/none/* /index.html 404\n/api/* https://b.example/:splat 200\n'
    const own = await site(
      { ...FILES, _redirects: lines, _headers: '/file\n  X-Robots-Tag: nofollow\n' },
      'staging',
    )
    expect(await robots(own.aliasHost, '/old')).toEqual([301, 'noindex'])
    expect(await robots(own.aliasHost, '/file')).toEqual([200, 'noindex, nofollow'])
    expect(await robots(own.aliasHost, '/gone')).toEqual([410, 'noindex'])
    expect(await robots(own.aliasHost, '/none/x')).toEqual([404, 'noindex'])
    expect(await robots(own.aliasHost, '/api/x')).toEqual([502, null])
    await ofProject(own, { indexing: 'all' })
    expect(await robots(own.aliasHost, '/file')).toEqual([200, 'nofollow'])
    expect(await robots(own.aliasHost, '/old')).toEqual([301, null])
  })

  test('a line leads to a page by its clean address, whatever the spelling', async () => {
    const own = await site({
      'index.html': 'home',
      'page.html': 'page',
      _redirects: '/x /page 200\n/y /page.html 200\n',
    })
    for (const htmlHandling of [null, ...HTML_HANDLINGS]) {
      await ofProject(own, { htmlHandling })
      expect(await shown(own.aliasHost, '/y')).toBe('200 page')
    }
    await ofProject(own, { htmlHandling: 'force-trailing-slash' })
    expect(await shown(own.aliasHost, '/x')).toBe('200 page')
  })

  test('a private site tells a stranger nothing by it', async () => {
    const own = await site(FILES, 'staging')
    await ofProject(own, { isPublic: false })
    expect(await robots(own.aliasHost)).toEqual([404, null])
    const answer = await app.call('GET', '/', { host: own.aliasHost, as: SEED_OWNER })
    expect([answer.status, answer.headers.get('x-robots-tag')]).toEqual([200, 'noindex'])
  })
})

describe('who may set them', () => {
  test('another value is 400, and the records hold them', async () => {
    const own = await site({ 'index.html': 'x' })
    for (const json of [
      { htmlHandling: 'auto' },
      { htmlHandling: true },
      { indexing: null },
      { indexing: 'some' },
    ])
      expect((await ofProject(own, json)).status).toBe(400)
    expect((await ofAlias(own, { htmlHandling: '' })).status).toBe(400)
    const record = await app.call('GET', `/api/projects/${own.projectId}`, { as: SEED_OWNER })
    expect(await record.json()).toMatchObject({ htmlHandling: null, indexing: 'production' })
    const alias = await app.call('GET', `/api/aliases?projectId=${own.projectId}`, { as: SEED_OWNER })
    expect(await alias.json()).toMatchObject({ data: [{ htmlHandling: null }] })
  })

  test('a project admin, not a contributor or a key', async () => {
    const own = await site({ 'index.html': 'x' })
    const contributor = await seedMember(app, own.projectId, 'contributor')
    expect((await ofProject(own, { indexing: 'all' }, contributor)).status).toBe(403)
    expect((await ofAlias(own, { htmlHandling: 'none' }, contributor)).status).toBe(403)
    const key = seedKey(app, own.projectId)
    const byKey = await app.call('PATCH', `/api/aliases/${own.aliasId}`, {
      key,
      json: { htmlHandling: 'none' },
    })
    expect(byKey.status).toBe(403)
    const admin = await seedMember(app, own.projectId, 'admin')
    expect((await ofAlias(own, { htmlHandling: 'none' }, admin)).status).toBe(200)
  })

  test('both are audited', async () => {
    const own = await site({ 'index.html': 'x' })
    await ofProject(own, { htmlHandling: 'none', indexing: 'all' })
    await ofAlias(own, { htmlHandling: 'none' })
    const rows = app.ctx.db.sqlite
      .query<{ action: string; before: string; after: string }, [string]>(
        "SELECT action, before, after FROM audit_log WHERE project_id = ? AND action LIKE '%.change' ORDER BY rowid",
      )
      .all(own.projectId)
    expect(rows.map(({ action, before, after }) => [action, JSON.parse(before), JSON.parse(after)])).toEqual([
      [
        'project.change',
        { htmlHandling: null, indexing: 'production' },
        { htmlHandling: 'none', indexing: 'all' },
      ],
      ['alias.change', { htmlHandling: null }, { htmlHandling: 'none' }],
    ])
  })
})
