import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { ask } from '../testing/ask.ts'
import { type ProxyFixture, proxyFixture } from '../testing/proxy-fixture.ts'
import { SEED_OWNER } from '../testing/seed.ts'
import { seedKey, seedMember } from '../testing/seed-people.ts'

let fixture: ProxyFixture
let level = ''
beforeAll(async () => {
  fixture = await proxyFixture({}, {}, { 'index.html': 'home', 'old/page.html': 'file', '404.html': 'none' })
  level = `/api/proxy-rules/project/${fixture.site.projectId}`
})
afterAll(() => fixture.close())
beforeEach(() => {
  for (const table of ['rule_sets', 'proxy_rules']) fixture.app.ctx.db.sqlite.run(`DELETE FROM ${table}`)
})

const redirect = (pathPattern: string, targetUrl: string, more: Record<string, unknown> = {}) =>
  fixture.rule({ proxyType: 'redirect', pathPattern, targetUrl, ...more })
const call = (method: string, path: string, json?: Record<string, unknown>, as = SEED_OWNER) =>
  ask(fixture.app, method, path, { as, ...(json === undefined ? {} : { json }) })

/** `301 https://…`, or the status and body. */
async function led(path: string, method = 'GET', more: Parameters<ProxyFixture['send']>[1] = {}) {
  const { status, headers, text } = await fixture.send(path, { method, ...more })
  return headers.location === undefined ? `${status} ${text}` : `${status} ${headers.location}${text}`
}

describe('serving', () => {
  const rows: [source: string, target: string, path: string, answer: string][] = [
    ['/old/*', '/new/:splat', '/old/page', '301 /new/page'],
    ['/old/*', '/new/:splat', '/old', '301 /new/'],
    ['/old/*', '/new/:splat', '/old/a%2Fb%20c?q=1&r=', '301 /new/a%2Fb%20c?q=1&r='],
    ['/a', '/b?x=1', '/a/?q=1', '301 /b?x=1'],
    ['/a', '/b#part', '/a?q=1', '301 /b?q=1#part'],
    ['/a', 'http://other.example', '/a', '301 http://other.example'],
    [
      '/blog/:year/:slug',
      'https://b.example:8443/:slug-:year',
      '/blog/2020/x%C3%BC',
      '301 https://b.example:8443/x%C3%BC-2020',
    ],
    ['/%61/ü', '/t', '/a/u%CC%88', '301 /t'],
    ['/old/*', '/:splat', '/old//evil.example/x', '301 /evil.example/x'],
    ['/old/*', '/:splat', '/old/%5Cevil%0d%0aA:b', '301 /%5Cevil%0d%0aA:b'],
    ['/old/*', '/x/:splat', '/old/%2e%2e/y', '404 none'],
    ['/x/*', '/x/:splat', '/x/y', '404 none'],
    ['/x', '/x/', '/x', '301 /x/'],
    ['/x', '/x/', '/x/', '404 none'],
    ['/a', '/b', '/ab', '404 none'],
  ]
  test.each(rows)('%s to %s: %s', async (source, target, path, answer) => {
    await redirect(source, target)
    expect(await led(path)).toBe(answer)
  })

  test('a redirect to the host that is asked for takes nothing', async () => {
    await redirect('/*', `http://${fixture.site.aliasHost}/:splat`)
    expect(await led('/')).toBe('200 home')
  })

  test.each([301, 302, 303, 307, 308])('status %d, for every method, without a body', async (status) => {
    await redirect('/a', '/b', { status })
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'])
      expect(await led('/a', method)).toBe(`${status} /b`)
  })

  test('headers: asked for again each time, with the commit', async () => {
    await redirect('/a', '/b')
    const { headers } = await fixture.send('/a')
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=0, must-revalidate',
      'x-svc-commit': '1'.repeat(40),
    })
    expect(headers['x-robots-tag']).toBeUndefined()
    const preview = await fixture.send('/a', { host: fixture.site.host })
    expect([preview.status, preview.headers['x-robots-tag']]).toEqual([301, 'noindex'])
  })

  test('stands among the rules by order, methods narrow it, a disabled one is skipped', async () => {
    const first = await redirect('/a', '/first', { order: 1, methods: ['POST'] })
    await redirect('/a', '/second', { order: 2 })
    expect([await led('/a', 'POST'), await led('/a')]).toEqual(['301 /first', '301 /second'])
    await call('PATCH', `/api/proxy-rules/${first}`, { isEnabled: false })
    expect(await led('/a', 'POST')).toBe('301 /second')
  })

  test('before files and before other rules further down', async () => {
    await redirect('/old/page', '/new')
    await fixture.rule({ proxyType: 'internal_rewrite', pathPattern: '/old/*', targetUrl: '/index.html' })
    expect([await led('/old/page'), await led('/old/other')]).toEqual(['301 /new', '200 home'])
  })

  test('below a path form it keeps the prefix; a navigation goes to the host of the site first', async () => {
    await redirect('/old/*', '/new/:splat')
    await redirect('/out', 'https://out.example/')
    const form = '/public/acme/docs/production'
    const host = 'admin.sites.test'
    expect(await led(`${form}/old/x?q=1`, 'GET', { host })).toBe(`301 ${form}/new/x?q=1`)
    expect(await led(`${form}/out`, 'GET', { host })).toBe('301 https://out.example/')
    const headers = { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' }
    const first = await fixture.send(`${form}/old/x`, { host, headers })
    expect([first.status, first.headers.location]).toEqual([
      302,
      expect.stringContaining(`${fixture.site.aliasHost}`),
    ])
  })

  test('on a private site only for those who may see it', async () => {
    await redirect('/a', '/b')
    await call('PATCH', `/api/projects/${fixture.site.projectId}`, { isPublic: false })
    expect(await led('/a')).toStartWith('404 ')
    const own = await fixture.app.call('GET', '/a', { host: fixture.site.aliasHost, as: SEED_OWNER })
    expect([own.status, own.headers.get('cache-control'), own.headers.get('vary')]).toEqual([
      301,
      'private, max-age=0, must-revalidate',
      'Cookie',
    ])
    await call('PATCH', `/api/projects/${fixture.site.projectId}`, { isPublic: true })
  })

  test('explain names the rule and gives the answer', async () => {
    const id = await redirect('/a', '/b')
    const url = encodeURIComponent(`http://${fixture.site.aliasHost}/a`)
    const { body } = await call('GET', `/api/explain?url=${url}`)
    expect(body).toMatchObject({
      outcome: { kind: 'answer', status: 301, headers: { location: '/b' }, ruleId: id },
    })
    expect(body['steps']).toContainEqual(
      expect.objectContaining({
        step: 'rule',
        detail: expect.objectContaining({
          proxyType: 'redirect',
          matched: true,
          targetUrl: '/b',
          status: 301,
        }),
      }),
    )
  })
})

describe('the API', () => {
  test('the record has the status; null for other kinds', async () => {
    const made = await call('POST', level, { proxyType: 'redirect', pathPattern: '/a', targetUrl: '/b' })
    expect([made.status, made.body]).toMatchObject([
      201,
      { proxyType: 'redirect', targetUrl: '/b', status: 301 },
    ])
    const id = `/api/proxy-rules/${made.body['id']}`
    expect((await call('PATCH', id, { status: 308 })).body['status']).toBe(308)
    expect((await call('PATCH', id, { description: 'x' })).body['status']).toBe(308)
    expect((await call('PATCH', id, { status: null })).body['status']).toBe(301)
    const rewrite = { proxyType: 'internal_rewrite' }
    expect((await call('PATCH', id, { ...rewrite, status: 301 })).status).toBe(400)
    expect((await call('PATCH', id, rewrite)).body).toMatchObject({ ...rewrite, status: null })
    expect((await call('PATCH', id, { proxyType: 'redirect' })).body['status']).toBe(301)
  })

  const wrong: [json: Record<string, unknown>, path: string][] = [
    [{ status: 200 }, 'status'],
    [{ status: 304 }, 'status'],
    [{ status: '301' }, 'status'],
    [{ targetUrl: '' }, 'targetUrl'],
    [{ targetUrl: 'b' }, 'targetUrl'],
    [{ targetUrl: 'ftp://x.example' }, 'targetUrl'],
    [{ targetUrl: '//x.example' }, 'targetUrl'],
    [{ targetUrl: '/\\x.example' }, 'targetUrl'],
    [{ targetUrl: 'https://u:p@x.example/' }, 'targetUrl'],
    [{ targetUrl: 'https://:x.example/' }, 'targetUrl'],
    [{ targetUrl: '/a\nb' }, 'targetUrl'],
    [{ pathPattern: '*' }, 'pathPattern'],
    [{ pathPattern: '/a?b' }, 'pathPattern'],
    [{ pathPattern: '/a*b*' }, 'pathPattern'],
    [{ pathPattern: '/:a/:a' }, 'pathPattern'],
    [{ pathPattern: '/:splat' }, 'pathPattern'],
    [{ pathPattern: 'https://x.example/a' }, 'pathPattern'],
  ]
  test.each(wrong)('%j is 400 naming %s', async (json, path) => {
    const rule = { proxyType: 'redirect', pathPattern: '/a', targetUrl: '/b', ...json }
    const made = await call('POST', level, rule)
    expect([made.status, made.body['details']]).toMatchObject([400, [{ path }]])
    const set = { ruleSet: { name: 'r' }, rules: [rule], options: {} }
    const pushed = await call('PUT', `/api/proxy-rule-sets/project/${fixture.site.projectId}/sync`, set)
    expect([pushed.status, pushed.body['details']]).toMatchObject([400, [{ path: `rules[0].${path}` }]])
  })

  test('a status of another kind is 400, and private and http targets are none of its business', async () => {
    const proxy = { pathPattern: '/a', targetUrl: 'https://backend.test', status: 301 }
    expect((await call('POST', level, proxy)).status).toBe(400)
    for (const targetUrl of ['http://127.0.0.1/x', 'https://localhost/', 'http://localhost/api/auth'])
      expect(
        (await call('POST', level, { proxyType: 'redirect', pathPattern: '/a', targetUrl })).status,
      ).toBe(201)
  })

  test('contributors and keys may; viewers and strangers may not', async () => {
    const { projectId } = fixture.site
    const rule = { proxyType: 'redirect', pathPattern: '/a', targetUrl: '/b' }
    const contributor = await seedMember(fixture.app, projectId, 'contributor')
    const viewer = await seedMember(fixture.app, projectId, 'viewer')
    expect((await call('POST', level, rule, contributor)).status).toBe(201)
    expect((await call('POST', level, rule, viewer)).status).toBe(403)
    const key = seedKey(fixture.app, projectId)
    expect((await fixture.app.call('POST', level, { key, json: rule })).status).toBe(201)
  })

  test('sync, export, revisions and rollback keep it whole', async () => {
    const at = `/api/proxy-rule-sets/project/${fixture.site.projectId}/sync`
    const rule = {
      proxyType: 'redirect',
      pathPattern: '/a/*',
      targetUrl: 'http://x.example/:splat',
      status: 307,
    }
    const push = (status: number) => ({
      ruleSet: { name: 'moved' },
      rules: [{ ...rule, status }],
      options: {},
    })
    const first = await call('PUT', at, push(307))
    expect(first.body).toMatchObject({ created: [{ pathPattern: '/a/*', method: null }], warnings: [] })
    const set = `/api/proxy-rule-sets/${first.body['ruleSetId']}`
    expect((await call('GET', `${set}/export`)).body['rules']).toMatchObject([rule])
    expect((await call('PUT', at, push(307))).body['unchanged']).toHaveLength(1)
    expect((await call('PUT', at, push(302))).body['updated']).toHaveLength(1)
    expect(await led('/a/b')).toBe('302 http://x.example/b')
    const { revisions } = (await call('GET', `${set}/revisions`)).body as {
      revisions: { id: string; current: boolean }[]
    }
    const before = revisions.find(({ current }) => !current)
    expect((await call('POST', `${set}/rollback/${before?.id}`)).status).toBe(200)
    expect(await led('/a/b')).toBe('307 http://x.example/b')
    const own = { ...rule, targetUrl: 'https://localhost/api/auth', pathPattern: '/s' }
    const auth = await call('PUT', at, { ruleSet: { name: 'auth' }, rules: [own], options: {} })
    expect(auth.body).toMatchObject({ created: [{ pathPattern: '/s' }], warnings: [] })
  })
})
