import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ask } from '../testing/ask.ts'
import { type ProxyFixture, proxyFixture } from '../testing/proxy-fixture.ts'
import { SEED_OWNER, seedDeployment } from '../testing/seed.ts'
import { seedKey, seedMember } from '../testing/seed-people.ts'

/** Over real sockets: what a site with routing files answers. contract 13 §1 to §4. */

let fixture: ProxyFixture
let backend: ReturnType<typeof Bun.serve>
const seen: { url: string; headers: Headers; method: string }[] = []
beforeAll(async () => {
  fixture = await proxyFixture()
  const { cert, key } = fixture.certificate
  backend = Bun.serve({
    port: 0,
    tls: { cert, key },
    fetch(request) {
      seen.push({ url: request.url, headers: request.headers, method: request.method })
      return new Response('from the backend', { headers: { 'cache-control': 'public, max-age=9' } })
    },
  })
})
afterAll(async () => {
  await backend.stop(true)
  await fixture.close()
})

const FILES = {
  'index.html': '<h1>home</h1>',
  'app.js': 'app',
  'a.txt': 'text of a',
  'page.html': 'a page',
  'folder/index.html': 'a folder',
  '404.html': 'none here',
  'gone.html': 'gone for good',
}
type Site = { host: string; commit: string; projectId: string; deploymentId: string; aliasId: string }
let count = 0
async function site(
  redirects: string,
  headers = '',
  more: Record<string, string> = {},
  isPublic = true,
): Promise<Site> {
  count += 1
  const commit = count.toString(16).padStart(40, 'e')
  const seeded = await seedDeployment(fixture.app, {
    owner: 'acme',
    repo: `routed${count}`,
    sha: commit,
    alias: 'production',
    files: { ...FILES, _redirects: redirects, _headers: headers, ...more },
    isPublic,
  })
  const { aliasHost, aliasId, projectId, deploymentId } = seeded
  return { host: aliasHost ?? '', aliasId: aliasId ?? '', commit, projectId, deploymentId }
}

type Sent = { method?: string; headers?: Record<string, string> }
const get = ({ host }: { host: string }, path: string, sent: Sent = {}) =>
  fixture.send(path, { host, ...sent })
const admin = { host: 'admin.sites.test' }
const backendUrl = () => `https://backend.test:${backend.port}`

describe('3xx lines', () => {
  test('lead on before files, for every method, without a body', async () => {
    const one = await site('/a.txt /b.txt\n/old/* /new/:splat 302\n/out https://other.example/x?y#z 308\n')
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      const { status, headers, text } = await get(one, '/a.txt', { method })
      expect([status, headers.location, text]).toEqual([301, '/b.txt', ''])
      expect(headers['cache-control']).toBe('public, max-age=0, must-revalidate')
      expect(headers['x-svc-commit']).toBe(one.commit)
    }
    expect((await get(one, '/old/a/b?x=1')).headers.location).toBe('/new/a/b?x=1')
    const out = await get(one, '/out?q=1')
    expect([out.status, out.headers.location]).toEqual([308, 'https://other.example/x?y#z'])
  })

  test('that lead to the address asked for are passed over', async () => {
    const one = await site('/page /page/\n/* https://HOST/:splat\n')
    const own = await site(
      `/page /page/ 302\n/* https://production--routed${count + 1}--acme.sites.test/:splat\n`,
    )
    expect((await get(one, '/page')).headers.location).toBe('/page/')
    expect((await get(own, '/a.txt?x=1')).text).toBe('text of a')
    expect((await get(own, '/page/')).status).not.toBe(302)
  })

  test.each([
    ['/x/* /:splat', /^\/[^/\\]/],
    ['/x/* /y/:splat 302', /^\/y\//],
    ['/x/* https://named.example/:splat', /^https:\/\/named\.example\//],
    ['/x/:a/* https://named.example/:a?p=:splat', /^https:\/\/named\.example\//],
  ])('%s never leads elsewhere', async (line, expected) => {
    const one = await site(`${line}\n`)
    for (const path of [
      '/x/:splat/%2F%2Fevil/%5Cevil/%0d%0aA:b',
      '/x/%2F%2Fevil.example',
      '/x//evil.example/a',
      '/x/%5C%5Cevil.example',
      '/x/%09/evil.example',
      '/x/@evil.example/%00',
    ]) {
      const { status, headers, rawHeaders } = await get(one, path)
      if (status === 404) continue
      expect([301, 302]).toContain(status)
      expect(headers.location).toMatch(expected)
      expect(headers.location).toMatch(/^[\x21-\x7e]+$/)
      expect(rawHeaders.map((name) => name.toLowerCase())).not.toContain('a')
    }
    for (const path of ['/x/../a', '/x/%2e%2e/a', '/x/b/..%2f..%2fa', '/x/%252e%252e/a'])
      expect((await get(one, path)).headers.location).toBeUndefined()
  })

  test('come before rules, and rules before other lines', async () => {
    const one = await site('/api/old /new\n/ruled/* /a.txt 200!\n')
    const rule = { proxyType: 'internal_rewrite', pathPattern: '/*', targetUrl: '/page.html' }
    await ask(fixture.app, 'POST', `/api/proxy-rules/project/${one.projectId}`, {
      as: SEED_OWNER,
      json: rule,
    })
    expect((await get(one, '/api/old')).headers.location).toBe('/new')
    expect((await get(one, '/ruled/x')).text).toBe('a page')
  })
})

describe('200, 404 and 410 lines', () => {
  const LINES = [
    '/a.txt /page.html 200',
    '/forced.txt /page 200!',
    '/a.txt/never /page.html 200',
    '/past /gone.html 410',
    '/own 410',
    '/hidden.html 404!',
    '/page.html /gone.html 404!',
    '/none /missing.html 200',
    '/none /folder 200',
    '/* /index.html 200',
  ].join('\n')
  let one: Site
  beforeAll(async () => {
    one = await site(LINES, '', { 'hidden.html': 'hidden', 'forced.txt': 'the file' })
  })

  const rows: [path: string, status: number, body: RegExp][] = [
    ['/a.txt', 200, /^text of a$/],
    ['/forced.txt', 200, /^a page$/],
    ['/past', 410, /^gone for good$/],
    ['/hidden.html', 404, /not/i],
    ['/page.html', 404, /^gone for good$/],
    ['/none', 200, /^a folder$/],
    ['/any/where', 200, /home/],
    ['/missing.js', 404, /nothing/i],
    ['/missing.css', 404, /./],
    ['/folder', 308, /^$/],
  ]
  test.each(rows)('%s is %d', async (path, status, body) => {
    const answer = await get(one, path)
    expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(body)])
  })

  test('a rewritten file has its own tag, conditions and ranges; an error page does not', async () => {
    const { headers } = await get(one, '/any/where')
    expect((await get(one, '/any/where', { headers: { 'if-none-match': headers.etag ?? '' } })).status).toBe(
      304,
    )
    expect((await get(one, '/any/where', { headers: { range: 'bytes=0-3' } })).status).toBe(206)
    const gone = await get(one, '/past', { headers: { range: 'bytes=0-3' } })
    expect([gone.status, gone.text, gone.headers['cache-control']]).toEqual([
      410,
      'gone for good',
      'no-store',
    ])
    expect((await get(one, '/past', { method: 'HEAD' })).status).toBe(410)
  })

  test('the own page of a 410 says so, to people and to programs', async () => {
    const page = await get(one, '/own', { headers: { accept: 'text/html' } })
    expect([page.status, page.headers['content-type']]).toEqual([410, expect.stringContaining('text/html')])
    const { status, text } = await get(one, '/own', { headers: { accept: 'application/json' } })
    expect([status, JSON.parse(text)]).toEqual([410, expect.objectContaining({ statusCode: 410 })])
  })

  test('other methods are 405', async () => {
    for (const path of ['/any/where', '/past', '/own', '/forced.txt', '/a.txt'])
      expect((await get(one, path, { method: 'POST' })).status).toBe(405)
  })
})

describe('a 200 line with an address', () => {
  test('fetches as a rule with its defaults, behind files, and before the API', async () => {
    const one = await site(
      `/api/* ${backendUrl()}/v1/:splat 200\n/* ${backendUrl()}/rest/:splat?fixed=1 200\n`,
      '/*\n  X-Site: yes\n',
    )
    seen.length = 0
    const answer = await get(one, '/api/health/x?q=1', {
      method: 'POST',
      headers: { cookie: 'a=1', accept: '*/*' },
    })
    expect([answer.status, answer.text, answer.headers['x-site']]).toEqual([
      200,
      'from the backend',
      undefined,
    ])
    expect([
      seen[0]?.method,
      new URL(seen[0]?.url ?? '').pathname,
      new URL(seen[0]?.url ?? '').search,
    ]).toEqual(['POST', '/v1/health/x', '?q=1'])
    expect(seen[0]?.headers.get('cookie')).toBeNull()
    expect((await get(one, '/a.txt')).text).toBe('text of a')
    expect((await get(one, '/missing/x?q=1')).text).toBe('from the backend')
    expect(seen.at(-1)?.url).toEndWith('/rest/missing/x?fixed=1')
    expect((await get(one, '/a.txt', { method: 'POST' })).status).toBe(405)
  })

  test('never sends a dot segment', async () => {
    const one = await site(`/x/* ${backendUrl()}/v1/.:splat 200\n`)
    seen.length = 0
    for (const path of ['/x/', '/x/.', '/x/./a', '/x/%2e/a', '/x/..%2fa', '/x/a%5c..%5cb'])
      await get(one, path)
    for (const { url } of seen)
      expect(decodeURIComponent(new URL(url).pathname)).not.toMatch(/(^|[/\\])\.\.?([/\\]|$)/)
  })

  test('is not asked while explaining, nor without leave', async () => {
    const one = await site('/x/* https://stranger.test:1/:splat 200\n')
    expect((await get(one, '/x/a')).status).toBe(502)
  })
})

describe('conditions', () => {
  test('are named by every answer to their path, of a rule, a clean address or an own page, too', async () => {
    const one = await site(
      '/folder /x 302 Language=de\n/ruled /x 302 Cookie=beta\n/none /404.html 404 Language=de\n/own 404 Cookie=beta\n',
    )
    const rule = { proxyType: 'internal_rewrite', pathPattern: '/ruled', targetUrl: '/a.txt' }
    await ask(fixture.app, 'POST', `/api/proxy-rules/project/${one.projectId}`, {
      as: SEED_OWNER,
      json: rule,
    })
    const clean = await get(one, '/folder')
    expect([clean.status, clean.headers.location, clean.headers.vary]).toEqual([
      308,
      '/folder/',
      'Accept-Language',
    ])
    const ruled = await get(one, '/ruled')
    expect([ruled.text, ruled.headers.vary]).toEqual(['text of a', expect.stringContaining('Cookie')])
    expect(ruled.headers['cache-control']).toStartWith('private, ')
    expect((await get(one, '/none')).headers.vary).toBe('Accept-Language')
    const own = await get(one, '/own', { headers: { cookie: 'beta=1' } })
    expect([own.status, own.headers.vary, own.headers['cache-control']]).toEqual([404, 'Cookie', 'no-store'])
  })

  test('Language and Cookie, with Vary whether they hold or not', async () => {
    const one = await site('/ /de/ 302 Language=de\n/a.txt /page.html 200! Cookie=beta\n')
    const german = await get(one, '/', { headers: { 'accept-language': 'de-CH, en;q=0.5' } })
    expect([german.status, german.headers.location, german.headers.vary]).toEqual([
      302,
      '/de/',
      'Accept-Language',
    ])
    const other = await get(one, '/', { headers: { 'accept-language': 'fr' } })
    expect([other.status, other.headers.vary]).toEqual([200, expect.stringContaining('Accept-Language')])
    expect(other.headers['cache-control']).toStartWith('public')
    const beta = await get(one, '/a.txt', { headers: { cookie: 'beta=' } })
    expect([beta.text, beta.headers.vary]).toEqual(['a page', expect.stringContaining('Cookie')])
    const plain = await get(one, '/a.txt')
    expect([plain.text, plain.headers['cache-control']]).toEqual([
      'text of a',
      'private, max-age=300, must-revalidate',
    ])
    expect(plain.headers.vary).toContain('Cookie')
    const known = await get(one, '/a.txt', { headers: { 'if-none-match': plain.headers.etag ?? '' } })
    expect([known.status, known.headers['cache-control'], known.headers.vary]).toEqual([
      304,
      plain.headers['cache-control'],
      plain.headers.vary,
    ])
  })

  test('Role is that of the visitor; anonymous and /public/ have none', async () => {
    const one = await site(
      '/who /a.txt 200 Role=viewer\n/who /page.html 200 Role=admin\n/boss /a.txt 200 Role=admin\n',
    )
    const viewer = await seedMember(fixture.app, one.projectId, 'viewer')
    const guest = await seedMember(fixture.app, one.projectId, 'guest')
    const as = async (email: string, path: string, host = one.host) => {
      const cookie = await fixture.app.cookieOf(email, host)
      return (await fixture.send(path, { host, headers: { cookie } })).text
    }
    expect(await as(viewer, '/who')).toBe('text of a')
    expect(await as(viewer, '/boss')).toBe('none here')
    expect(await as(guest, '/who')).toBe('none here')
    expect((await get(one, '/who')).text).toBe('none here')
    const key = seedKey(fixture.app, one.projectId)
    expect((await get(one, '/who', { headers: { 'x-api-key': key } })).text).toBe('text of a')
    const below = `/public/acme/routed${count}/production/who`
    const cookie = await fixture.app.cookieOf(SEED_OWNER, 'admin.sites.test')
    expect((await get(admin, below, { headers: { cookie } })).text).toBe('none here')
    expect(
      (await get(admin, `/repo/acme/routed${count}/alias/production/who`, { headers: { cookie } })).text,
    ).toBe('text of a')
  })
})

describe('a private site', () => {
  test('answers before a line can be seen', async () => {
    const one = await site(
      '/a.txt /b\n/x /page.html 200!\n/y 410\n',
      '/*\n  Cache-Control: public, s-maxage=9, max-age=5\n  CDN-Cache-Control: max-age=9\n  ! Vary\n  X-A: b\n',
      {},
      false,
    )
    for (const path of ['/a.txt', '/x', '/y', '/page.html']) {
      const { status, headers } = await get(one, path)
      expect([status, headers.location, headers['x-a']]).toEqual([
        (await get(one, '/nothing')).status,
        undefined,
        undefined,
      ])
    }
    const cookie = await fixture.app.cookieOf(SEED_OWNER, one.host)
    const led = await get(one, '/a.txt', { headers: { cookie } })
    expect([led.headers.location, led.headers['cache-control'], led.headers.vary]).toEqual([
      '/b',
      'private, max-age=0, must-revalidate',
      'Cookie',
    ])
    for (let round = 0; round < 2; round++) {
      const { headers } = await get(one, '/page.html', { headers: { cookie } })
      expect([headers['cache-control'], headers['cdn-cache-control'], headers['x-a']]).toEqual([
        'private, max-age=5',
        undefined,
        'b',
      ])
      expect(headers.vary).toContain('Cookie')
    }
  })
})

describe('_headers', () => {
  const HEADERS = `/*
  X-Frame-Options: DENY
  Cache-Control: public, max-age=60
  Vary: X-Kind
/a.txt
  X-Frame-Options: SAMEORIGIN
  ! X-Content-Type-Options
  ! Cache-Control
  Content-Type: text/x-own
/docs/:page
  Link: </:page>; rel=canonical
`
  let one: Site
  beforeAll(async () => {
    one = await site('/moved /b\n/rewritten /a.txt 200\n', HEADERS, { 'docs/x,y.html': 'doc' })
  })

  test('apply to 200, 206, 304, HEAD and 404 pages, the known address, too', async () => {
    const etag = (await get(one, '/page.html')).headers.etag ?? ''
    const asked: [Sent, number][] = [
      [{}, 200],
      [{}, 200],
      [{ method: 'HEAD' }, 200],
      [{ headers: { range: 'bytes=0-1' } }, 206],
      [{ headers: { 'if-none-match': etag } }, 304],
    ]
    for (const [sent, status] of asked) {
      const answer = await get(one, '/page.html', sent)
      expect([
        answer.status,
        answer.headers['x-frame-options'],
        answer.headers['cache-control'],
        answer.headers.vary,
      ]).toEqual([status, 'DENY', 'public, max-age=60', 'X-Kind'])
    }
    const missing = await get(one, '/missing')
    expect([missing.status, missing.headers['x-frame-options'], missing.headers['cache-control']]).toEqual([
      404,
      'DENY',
      'no-store',
    ])
  })

  test('let no shared cache keep a page that says something is not there', async () => {
    const shared = ['CDN-Cache-Control', 'Cloudflare-CDN-Cache-Control', 'Surrogate-Control']
    const headers = `/*\n${shared.map((name) => `  ${name}: max-age=60`).join('\n')}\n`
    const kept = await site('/away /gone.html 410\n/lost /gone.html 404\n', headers)
    for (const path of ['/missing', '/lost', '/away']) {
      const answer = await get(kept, path)
      const seenNames = shared.filter((name) => name.toLowerCase() in answer.headers)
      expect([path, answer.headers['cache-control'], seenNames]).toEqual([path, 'no-store', []])
    }
    expect((await get(kept, '/a.txt')).headers['cdn-cache-control']).toBe('max-age=60')
  })

  test('are joined and removed, by the path asked for', async () => {
    const { headers } = await get(one, '/a.txt')
    expect(headers['x-frame-options']).toBe('DENY, SAMEORIGIN')
    expect(headers['x-content-type-options']).toBeUndefined()
    expect(headers['cache-control']).toBeUndefined()
    expect(headers['content-type']).toBe('text/x-own')
    const rewritten = await get(one, '/rewritten')
    expect([
      rewritten.text,
      rewritten.headers['x-frame-options'],
      rewritten.headers['cache-control'],
    ]).toEqual(['text of a', 'DENY', 'public, max-age=60'])
    expect((await get(one, '/docs/x%2Cy')).headers['link']).toBe('</x%2Cy>; rel=canonical')
  })

  test('do not apply to redirects, the service, 405, 412 and 416', async () => {
    const none: [string, Sent][] = [
      ['/moved', {}],
      ['/folder', {}],
      ['/page.html', { method: 'POST' }],
      ['/page.html', { headers: { 'if-match': '"no"' } }],
      ['/page.html', { headers: { range: 'bytes=99999-' } }],
      ['/api/health', {}],
    ]
    for (const [path, sent] of none)
      expect((await get(one, path, sent)).headers['x-frame-options']).toBeUndefined()
  })

  test('on the admin host the policy of the service stands, and that of the site is sent besides', async () => {
    const two = await site(
      '/in /page\n',
      `/*
  Content-Security-Policy: default-src 'self'
  Access-Control-Allow-Origin: https://evil.example
  Strict-Transport-Security: max-age=9
  ! X-Content-Type-Options
  Cross-Origin-Resource-Policy: cross-origin
`,
    )
    const below = `/repo/acme/routed${count}/alias/production`
    const { headers } = await get(admin, `${below}/a.txt`)
    expect(headers['content-security-policy']).toMatch(/^sandbox .*, default-src 'self'$/)
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['strict-transport-security']).toBeUndefined()
    expect(headers['cross-origin-resource-policy']).toBeUndefined()
    expect((await get(two, '/a.txt')).headers['content-security-policy']).toBe("default-src 'self'")
    const led = await get(admin, `${below}/in`)
    expect([led.status, led.headers.location]).toEqual([301, `${below}/page`])
    const navigation = { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' }
    const sent = await get(admin, `${below}/in`, { headers: navigation })
    expect([sent.status, sent.headers.location]).toEqual([302, expect.stringContaining(`${two.host}`)])
    const bySha = await get(admin, `/repo/acme/routed${count}/${two.commit}/in`)
    expect(bySha.headers.location).toBe(`/repo/acme/routed${count}/${two.commit}/page`)
  })
})

test('a traffic split chooses the alias, whose files and lines then answer', async () => {
  const one = await site('/old /stable\n', '/*\n  Cache-Control: public, s-maxage=9\n')
  const canary = { 'index.html': 'canary', _redirects: '/old /canary\n', _headers: '' }
  const more = { owner: 'acme', repo: `routed${count}`, sha: 'c'.repeat(40), alias: 'canary', files: canary }
  await seedDeployment(fixture.app, more)
  const hostname = `split${count}.sites.test`
  const domain = { projectId: one.projectId, hostname, alias: 'production' }
  const made = await ask(fixture.app, 'POST', '/api/domains', { as: SEED_OWNER, json: domain })
  const split = {
    weights: [{ alias: 'production', weight: 100 }],
    rules: [{ type: 'header', key: 'x-lane', value: 'c', alias: 'canary' }],
    sticky: false,
    stickySeconds: 60,
  }
  const path = `/api/domains/${String(made.body['id'])}/traffic`
  expect((await ask(fixture.app, 'PUT', path, { as: SEED_OWNER, json: split })).status).toBe(200)
  const stable = await get({ host: hostname }, '/old')
  expect([stable.headers.location, stable.headers['cache-control']]).toEqual([
    '/stable',
    'private, max-age=0, must-revalidate',
  ])
  const canaried = await get({ host: hostname }, '/old', { headers: { 'x-lane': 'c' } })
  expect([canaried.headers.location, canaried.headers['x-variant']]).toEqual(['/canary', 'canary'])
  expect((await get({ host: hostname }, '/a.txt')).headers['cache-control']).toBe('private')
})

test('a hashed file of an earlier deployment comes before lines that are not forced, with the headers of now', async () => {
  const one = await site('/* /index.html 200\n', '', { 'assets/app-3f2a9c1d.js': 'old script' })
  const files = {
    'index.html': 'new',
    _redirects: '/* /index.html 200\n',
    _headers: '/assets/*\n  X-A: now\n',
  }
  const two = await seedDeployment(fixture.app, {
    owner: 'acme',
    repo: `routed${count}`,
    sha: 'b'.repeat(40),
    files,
  })
  const json = { deploymentId: two.deploymentId }
  await ask(fixture.app, 'PATCH', `/api/aliases/${one.aliasId}`, { as: SEED_OWNER, json })
  const script = await get(one, '/assets/app-3f2a9c1d.js')
  expect([script.status, script.text, script.headers['x-a']]).toEqual([200, 'old script', 'now'])
  expect((await get(one, '/assets/app-00000000.js')).status).toBe(404)
  expect((await get(one, '/elsewhere')).text).toBe('new')
})

describe('explain', () => {
  const explain = async (one: Site, path: string, headers: string[] = []) => {
    const url = encodeURIComponent(`http://${one.host}${path}`)
    const more = headers.map((text) => `&header=${encodeURIComponent(text)}`).join('')
    const answer = await ask(fixture.app, 'GET', `/api/explain?url=${url}${more}`, { as: SEED_OWNER })
    const { steps = [], outcome } = answer.body as {
      steps?: { step: string; detail?: Record<string, unknown> }[]
      outcome: { kind: string; status: number; target: string; headers: Record<string, string> }
    }
    const of = (name: string) => steps.filter(({ step }) => step === name).map(({ detail }) => detail)
    return { status: answer.status, outcome, redirects: of('redirect'), headers: of('headers') }
  }

  test('shows each line whose source takes the path, and what reads a header', async () => {
    const one = await site(
      '/a.txt id=1 /q\n/a.txt /de 302 Language=de\n/other /x\n/a.txt /none.html 200!\n/* /index.html 200\n/a.txt /last\n',
      '/*\n  X-A: b\n/a.txt\n  ! X-A\n  Cache-Control: no-cache\n',
    )
    const german = await explain(one, '/a.txt', ['Accept-Language: de, en;q=0.1'])
    expect(german.redirects.map((detail) => [detail?.['line'], detail?.['reason']])).toEqual([
      [1, 'query'],
      [2, 'match'],
      [4, 'not_reached'],
      [5, 'not_reached'],
      [6, 'not_reached'],
    ])
    expect(german.redirects[1]).toEqual({
      file: '_redirects',
      line: 2,
      source: '/a.txt',
      target: '/de',
      status: 302,
      matched: true,
      reason: 'match',
    })
    expect([german.outcome.status, german.outcome.headers['location'], german.headers]).toEqual([
      302,
      '/de',
      [],
    ])
  })

  test('shows the lines that set and removed headers, and agrees with the answer', async () => {
    const one = await site(
      '/a.txt /none.html 200!\n/* /index.html 200\n',
      '/*\n  X-A: b\n/a.txt\n  ! X-A\n  Cache-Control: no-cache\n',
    )
    const { outcome, headers, redirects } = await explain(one, '/a.txt')
    expect(redirects.map((detail) => detail?.['reason'])).toEqual(['target', 'not_reached'])
    expect(headers).toEqual([
      expect.objectContaining({
        set: [
          { line: 2, name: 'x-a' },
          { line: 5, name: 'cache-control' },
        ],
        unset: [{ line: 4, name: 'x-a' }],
      }),
    ])
    const served = await get(one, '/a.txt', { headers: { accept: 'text/html' } })
    expect(outcome.headers['cache-control']).toBe(served.headers['cache-control'] ?? '')
    expect(outcome.status).toBe(served.status)
  })

  test('sends nothing to a backend, and takes no credentials', async () => {
    const one = await site(`/x/* ${backendUrl()}/v1/:splat 200\n`)
    seen.length = 0
    const { outcome } = await explain(one, '/x/a?b=1')
    expect([outcome.kind, outcome.target, seen.length]).toEqual(['forward', `${backendUrl()}/v1/a?b=1`, 0])
    for (const header of [
      'Authorization: x',
      'X-API-Key: x',
      'Cookie: sAccessToken=x',
      'nonsense',
      'A: b\u00fc',
    ])
      expect((await explain(one, '/x/a', [header])).status).toBe(400)
  })
})

describe('the files themselves', () => {
  test('are served at no address, in no folder, by no rewrite', async () => {
    const one = await site('/r /_redirects 200\n/h /docs/_headers 200!\n/m /_headers 404\n', '', {
      'docs/_headers': '/*\n  X-A: b',
      'docs/_redirects': '/q /w',
    })
    const rule = { proxyType: 'internal_rewrite', pathPattern: '/ruled', targetUrl: '/_headers' }
    await ask(fixture.app, 'POST', `/api/proxy-rules/project/${one.projectId}`, {
      as: SEED_OWNER,
      json: rule,
    })
    for (const path of [
      '/_redirects',
      '/_headers',
      '/%5Fheaders',
      '/docs/_headers',
      '/docs/_redirects',
      '/r',
      '/h',
      '/m',
      '/ruled',
    ])
      expect([path, (await get(one, path)).status]).toEqual([path, 404])
    expect((await get(admin, `/repo/acme/routed${count}/${one.commit}/_headers`)).status).toBe(404)
    expect((await get(one, '/docs/q')).status).toBe(404)
  })

  test('are missing for an app and for a line that takes everything', async () => {
    const files = { 'index.html': 'app', _headers: '/*\n  X-A: b', 'docs/_headers': '/*\n  X-A: c' }
    for (const [repo, redirects] of [
      ['spa-by-itself', '/old /new\n'],
      ['spa-by-line', '/* /index.html 200\n'],
    ] as const) {
      const { aliasHost } = await seedDeployment(fixture.app, {
        owner: 'acme',
        repo,
        sha: 'c'.repeat(40),
        alias: 'production',
        files: { ...files, _redirects: redirects },
        isPublic: true,
      })
      const host = { host: aliasHost ?? '' }
      expect((await get(host, '/any')).text).toBe('app')
      for (const path of ['/_redirects', '/_headers', '/docs/_headers', '/docs/%5Fheaders'])
        expect([path, (await get(host, path)).status]).toEqual([path, 404])
    }
  })

  test('belong to the folder that a host serves, and move with the alias', async () => {
    const one = await site('/old /first\n', '', {
      'dist/_redirects': '/old /dist\n',
      'dist/index.html': 'dist',
    })
    expect((await get(one, '/old')).headers.location).toBe('/first')
    const two = await seedDeployment(fixture.app, {
      owner: 'acme',
      repo: `routed${count}`,
      sha: 'd'.repeat(40),
      files: { 'index.html': 'x', _redirects: '/old /second\n' },
    })
    const move = (json: Record<string, unknown>) =>
      ask(fixture.app, 'PATCH', `/api/aliases/${one.aliasId}`, { as: SEED_OWNER, json })
    expect((await move({ deploymentId: two.deploymentId })).status).toBe(200)
    expect((await get(one, '/old')).headers.location).toBe('/second')
    expect((await move({ deploymentId: one.deploymentId })).status).toBe(200)
    expect((await get(one, '/old')).headers.location).toBe('/first')
    const domain = {
      projectId: one.projectId,
      hostname: `dist${count}.sites.test`,
      alias: 'production',
      pathPrefix: '/dist',
    }
    const made = await ask(fixture.app, 'POST', '/api/domains', { as: SEED_OWNER, json: domain })
    expect(made.status).toBe(201)
    expect((await get({ host: domain.hostname }, '/old')).headers.location).toBe('/dist')
    expect((await get(admin, `/repo/acme/routed${count}/${one.commit}/old`)).headers.location).toEndWith(
      '/first',
    )
  })
})
