import { afterEach, expect, test } from 'bun:test'
import { SEED_OWNER, type Seeded, seedDeployment } from '../testing/seed.ts'
import { type CallOptions, type TestApp, testApp } from '../testing/test-app.ts'

let app: TestApp
let site: Seeded
afterEach(() => app.close())

const LINES = `/old /page.html 301
/soft /page.html 302
/lang/* /page.html 200 Language=de
/dressed /page.html 200
/api/* https://backend.test/:splat 200
/none/* /page.html 404
`
const HEADERS = `/timed.txt
  CDN-Cache-Control: max-age=5
/kept.txt
  Surrogate-Key: mine
  xkey: mine
  Cache-Tag: mine
/shy.txt
  Cache-Control: private
/varied.txt
  Vary: Cookie
`
const FILES = {
  'index.html': 'home',
  'page.html': 'page',
  'folder/index.html': 'folder',
  '404.html': 'none',
  'lang/x.html': 'x',
  'timed.txt': 'timed',
  'kept.txt': 'kept',
  'shy.txt': 'shy',
  'varied.txt': 'varied',
  'plain.txt': 'plain',
  _redirects: LINES,
  _headers: HEADERS,
}
const KINDS: Record<string, Record<string, string>> = {
  varnish: { CDN_URL: 'http://cache.test' },
  fastly: { CDN_TOKEN: 't', CDN_ID: 'i' },
  cloudflare: { CDN_TOKEN: 't', CDN_ID: 'i' },
  webhook: { CDN_TOKEN: 't', CDN_URL: 'http://cache.test' },
}

async function setUp(kind = 'webhook', env: Record<string, string> = {}): Promise<void> {
  app = await testApp({ CDN_KIND: kind, ...KINDS[kind], ...env })
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: FILES,
  })
}

const at = (path: string, options: CallOptions & { method?: string } = {}) =>
  app.call(options.method ?? 'GET', path, { host: site.aliasHost ?? '', ...options })
const aliasKeys = () => [`p-${site.projectId}`, `a-${site.aliasId}`, `d-${site.deploymentId}`]
const NAMES = ['cdn-cache-control', 'surrogate-control', 'surrogate-key', 'xkey', 'cache-tag']
const marks = ({ headers }: Response) =>
  Object.fromEntries(NAMES.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)]] : [])))
const NOT_KEPT = { 'cdn-cache-control': 'no-store' }

test.each([
  ['varnish', ['xkey'], true],
  ['fastly', ['surrogate-key'], true],
  ['cloudflare', ['cache-tag'], false],
  ['webhook', ['surrogate-key', 'cache-tag'], false],
])('%s: its keys in %p, on the first answer and on every other', async (kind, names, isSurrogate) => {
  await setUp(kind, { CDN_MAX_AGE: '60' })
  const expected = Object.fromEntries([
    ['cdn-cache-control', 'public, max-age=60'],
    ...(isSurrogate ? [['surrogate-control', 'max-age=60']] : []),
    ...names.map((name) => [name, aliasKeys().join(name === 'cache-tag' ? ',' : ' ')]),
  ])
  for (const method of ['GET', 'GET', 'HEAD'])
    expect(marks(await at('/plain.txt', { method }))).toEqual(expected)
  const bySha = await at('/plain.txt', { host: site.host })
  const keys = bySha.headers.get(names[0] ?? '')?.split(/[ ,]/)
  expect(keys).toEqual(aliasKeys().filter((key) => !key.startsWith('a-')))
})

test('200, 206, 304, 301, 308 and the redirects of lines are marked, and what browsers are told stays', async () => {
  await setUp()
  const first = await at('/plain.txt')
  expect(first.headers.get('cache-control')).toBe('public, max-age=300, must-revalidate')
  const etag = first.headers.get('etag') ?? ''
  const rows: [path: string, headers: Record<string, string>, status: number][] = [
    ['/', {}, 200],
    ['/plain.txt?q', {}, 200],
    ['/dressed', {}, 200],
    ['/plain.txt', { range: 'bytes=0-0' }, 206],
    ['/plain.txt', { 'if-none-match': etag }, 304],
    ['/old', {}, 301],
    ['/soft', {}, 302],
    ['/folder', {}, 308],
  ]
  for (const [path, headers, status] of [...rows, ...rows]) {
    const answer = await at(path, { headers })
    expect([path, answer.status]).toEqual([path, status])
    expect([path, answer.headers.get('cdn-cache-control')]).toEqual([path, 'public, max-age=86400'])
    expect([path, answer.headers.get('surrogate-key')]).toEqual([path, aliasKeys().join(' ')])
  }
})

test('everything else on a site host is not kept, and has no keys', async () => {
  await setUp()
  const rows: [path: string, options: CallOptions & { method?: string }, status: number][] = [
    ['/missing.js', {}, 404],
    ['/missing', {}, 404],
    ['/none/x', {}, 404],
    ['/plain.txt', { method: 'POST' }, 405],
    ['/plain.txt', { headers: { range: 'bytes=9-' } }, 416],
    ['/plain.txt', { headers: { 'if-match': '"x"' } }, 412],
    ['/lang/x', {}, 200],
    ['/lang/x', { headers: { 'accept-language': 'de' } }, 200],
    ['/lang/y', { headers: { 'accept-language': 'de' } }, 200],
    ['/shy.txt', {}, 200],
    ['/varied.txt', {}, 200],
    ['/api/x', {}, 502],
    ['/_svc/auth/session', {}, 401],
  ]
  for (const [path, options, status] of [...rows, ...rows]) {
    const answer = await at(path, options)
    expect([path, answer.status]).toEqual([path, path.startsWith('/_svc') ? answer.status : status])
    expect([path, marks(answer)]).toEqual([path, NOT_KEPT])
  }
})

test('private sites, and those of a traffic split, are never marked', async () => {
  await setUp()
  const patch = (path: string, json: unknown) => app.call('PATCH', path, { as: SEED_OWNER, json })
  await patch(`/api/projects/${site.projectId}`, { isPublic: false })
  for (const as of [SEED_OWNER, undefined, SEED_OWNER])
    expect(marks(await at('/plain.txt', { as }))).toEqual(NOT_KEPT)
  const { headers } = await at('/plain.txt', { as: SEED_OWNER })
  const known = { 'if-none-match': headers.get('etag') ?? '' }
  expect(marks(await at('/plain.txt', { as: SEED_OWNER, headers: known }))).toEqual(NOT_KEPT)
  await patch(`/api/projects/${site.projectId}`, { isPublic: true })
  const domain = { projectId: site.projectId, hostname: 'docs.localhost', alias: 'production' }
  const made = await app.call('POST', '/api/domains', { as: SEED_OWNER, json: domain })
  const { id } = (await made.json()) as { id: string }
  const onDomain = () => at('/plain.txt', { host: 'docs.localhost' })
  expect((await onDomain()).headers.get('surrogate-key')).toBe(aliasKeys().join(' '))
  const weights = [{ alias: 'production', weight: 100 }]
  await app.call('PUT', `/api/domains/${id}/traffic`, { as: SEED_OWNER, json: { weights } })
  expect(marks(await onDomain())).toEqual(NOT_KEPT)
})

test("a _headers line wins for the time, and keys are always the service's", async () => {
  await setUp()
  const timed = await at('/timed.txt')
  expect(marks(timed)).toEqual({
    'cdn-cache-control': 'max-age=5',
    'surrogate-key': aliasKeys().join(' '),
    'cache-tag': aliasKeys().join(','),
  })
  const kept = await at('/kept.txt')
  expect(kept.headers.get('surrogate-key')).toBe(aliasKeys().join(' '))
  expect(kept.headers.has('xkey')).toBe(false)
})

test('the admin host says nothing, and neither does any host without a CDN', async () => {
  await setUp()
  expect(marks(await at('/api/health', { host: 'localhost' }))).toEqual({})
  app.close()
  app = await testApp()
  site = await seedDeployment(app, { owner: 'a', repo: 'b', sha: 'a'.repeat(40), alias: 'x', files: FILES })
  for (const path of ['/plain.txt', '/old', '/missing', '/page.html'])
    expect(marks(await at(path))).toEqual({})
  expect(marks(await at('/kept.txt'))).toEqual({ 'surrogate-key': 'mine', xkey: 'mine', 'cache-tag': 'mine' })
})

test('explaining an address names its keys', async () => {
  await setUp()
  const explained = async (path: string) => {
    const url = encodeURIComponent(`http://${site.aliasHost}${path}`)
    const answer = await app.call('GET', `/api/explain?url=${url}`, { as: SEED_OWNER })
    const { steps } = (await answer.json()) as { steps: { step: string; text: string; detail: unknown }[] }
    return steps.find(({ step }) => step === 'cdn')
  }
  expect(await explained('/plain.txt')).toMatchObject({ detail: { keys: aliasKeys() } })
  expect((await explained('/plain.txt'))?.text).toContain(aliasKeys().join(' '))
  expect(await explained('/missing.js')).toMatchObject({ detail: { keys: [] } })
})
