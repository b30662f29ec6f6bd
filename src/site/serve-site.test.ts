import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DAY_MS } from '../domain/durations.ts'
import { ask } from '../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../testing/seed.ts'
import { NOON, type TestApp, testApp } from '../testing/test-app.ts'

const text = (length: number, seed = 'abc ') => seed.repeat(Math.ceil(length / seed.length)).slice(0, length)

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

const get = (host: string, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  app.call(method, path, { host, headers })

/** Creates a site in a new project and returns its alias host. */
let count = 0
async function site(
  files: Record<string, string | Uint8Array>,
  more: { basePath?: string; withVariants?: boolean } = {},
) {
  count += 1
  const seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: `site${count}`,
    sha: count.toString(16).padStart(40, 'a'),
    alias: 'production',
    files,
    ...more,
  })
  return { ...seeded, aliasHost: seeded.aliasHost ?? '' }
}

describe('clean URLs', () => {
  const files = {
    'index.html': 'root',
    'about.html': 'about',
    'docs/index.html': 'docs',
    'both.html': 'both page',
    'both/index.html': 'both folder',
    plain: 'no extension',
    'a b/ü.html': 'umlaut',
    '404.html': 'root 404',
    'docs/404.html': 'docs 404',
    'a%20b.txt': 'written with a percent sign',
    'a b.txt': 'written with a space',
    'all of 100%.txt': 'one percent sign',
  }
  let host = ''
  beforeAll(async () => {
    host = (await site(files)).aliasHost
  })

  const rows: [path: string, status: number, body: string][] = [
    ['/', 200, 'root'],
    ['/index.html', 200, 'root'],
    ['/?q=1', 200, 'root'],
    ['/about', 200, 'about'],
    ['/about.html', 200, 'about'],
    ['/about/', 404, 'root 404'],
    ['/docs/', 200, 'docs'],
    ['/docs/index.html', 200, 'docs'],
    ['/docs/index', 200, 'docs'],
    ['/both', 200, 'both page'],
    ['/both/', 200, 'both folder'],
    ['/plain', 200, 'no extension'],
    ['/a%20b/%C3%BC', 200, 'umlaut'],
    ['/a%20b/u%CC%88.html', 200, 'umlaut'],
    ['/%61bout', 200, 'about'],
    ['/nothing', 404, 'root 404'],
    ['/docs/nothing/deep', 404, 'docs 404'],
    ['/docs/', 200, 'docs'],
    ['/docsx/nothing', 404, 'root 404'],
    ['/docs%2Findex.html', 404, 'root 404'],
    ['/docs/%2e%2e/about.html', 200, 'about'],
    ['/docs/..%2fabout.html', 404, 'docs 404'],
    ['/about.html%00', 404, 'root 404'],
    ['/a%20b.txt', 200, 'written with a space'],
    ['/a%2520b.txt', 200, 'written with a percent sign'],
    ['/all%20of%20100%25.txt', 200, 'one percent sign'],
    ['/%', 404, 'root 404'],
    ['/%ff', 404, 'root 404'],
    ['//about', 404, 'root 404'],
    ['/About', 404, 'root 404'],
  ]
  test.each(rows)('%s is %p', async (path, status, body) => {
    const answer = await get(host, path)
    expect([answer.status, await answer.text()]).toEqual([status, body])
  })

  test('a path longer than any stored one still finds the nearest page', async () => {
    const answer = await get(host, `/docs${'/a'.repeat(4000)}`)
    expect([answer.status, await answer.text()]).toEqual([404, 'docs 404'])
  })

  const redirects: [path: string, location: string][] = [
    ['/docs', '/docs/'],
    ['/docs?a=1&b=%20', '/docs/?a=1&b=%20'],
    ['/a%20b', '404'],
  ]
  test.each(redirects)('%s redirects to %s', async (path, location) => {
    const answer = await get(host, path)
    if (location === '404') expect(answer.status).toBe(404)
    else expect([answer.status, answer.headers.get('location')]).toEqual([308, location])
  })

  test('an error page is not cached', async () => {
    const answer = await get(host, '/nothing')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  })
})

describe('single-page apps', () => {
  const html = { accept: 'text/html,*/*' }
  const rows: [
    name: string,
    isSpa: boolean | null,
    own404: boolean,
    path: string,
    headers: Record<string, string>,
    method: string,
    status: number,
  ][] = [
    ['by default', null, false, '/deep/link', html, 'GET', 200],
    ['by default, HEAD', null, false, '/deep/link', html, 'HEAD', 200],
    ['not with a 404.html', null, true, '/deep/link', html, 'GET', 404],
    ['switched on over a 404.html', true, true, '/deep/link', html, 'GET', 200],
    ['switched off', false, false, '/deep/link', html, 'GET', 404],
    ['not for a script', true, false, '/assets/missing.js', html, 'GET', 404],
    ['not if the dot is encoded', true, false, '/assets/missing%2Ejs', html, 'GET', 404],
    [
      'not for requests that do not accept HTML',
      true,
      false,
      '/deep/link',
      { accept: 'application/json' },
      'GET',
      404,
    ],
    ['for */*', true, false, '/deep/link', { accept: '*/*' }, 'GET', 200],
    ['not if HTML is refused', true, false, '/deep/link', { accept: 'text/html;q=0, */*' }, 'GET', 404],
    [
      'for HTML of any other weight',
      true,
      false,
      '/deep/link',
      { accept: '*/*, text/html;q=0.1' },
      'GET',
      200,
    ],
    ['without Accept', true, false, '/deep/link', {}, 'GET', 200],
    ['a dot in a folder name is not an extension', true, false, '/v1.2/link', html, 'GET', 200],
    ['not for POST', true, false, '/deep/link', html, 'POST', 405],
  ]
  test.each(rows)('%s', async (_name, isSpa, own404, path, headers, method, status) => {
    const { aliasHost, projectId } = await site({
      'index.html': 'app',
      ...(own404 ? { '404.html': 'mine' } : {}),
    })
    if (isSpa !== null)
      await app.call('PATCH', `/api/projects/${projectId}`, { as: SEED_OWNER, json: { isSpa } })
    const answer = await get(aliasHost, path, headers, method)
    expect(answer.status).toBe(status)
    if (status === 200) expect(await answer.text()).toBe('app')
  })

  test('a missing script is never HTML, not even when a browser navigates to it', async () => {
    const { aliasHost } = await site({ 'index.html': 'app', 'assets/404.html': 'nothing here' })
    for (const path of ['/assets/missing.js', '/missing.mjs?v=1', '/missing%2Ejs']) {
      const answer = await get(aliasHost, path, html)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        404,
        'application/json;charset=utf-8',
      ])
    }
  })

  test('the alias overrides the project', async () => {
    const { aliasHost, aliasId } = await site({ 'index.html': 'app' })
    await app.call('PATCH', `/api/aliases/${aliasId}`, { as: SEED_OWNER, json: { isSpa: false } })
    expect((await get(aliasHost, '/deep', html)).status).toBe(404)
  })
})

describe('methods and headers', () => {
  let host = ''
  beforeAll(async () => {
    host = (
      await site({
        'index.html': '<p>hi</p>',
        'app-3f2a9c1b.js': 'x',
        'logo.png': 'png',
        'style.css': 'css',
        'empty.txt': '',
      })
    ).aliasHost
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is not for files', async (method) => {
    const answer = await get(host, '/index.html', {}, method)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect(await answer.json()).toMatchObject({ statusCode: 405, error: 'Method Not Allowed' })
  })

  const cached: [path: string, type: string, cacheControl: string][] = [
    ['/', 'text/html; charset=utf-8', 'public, max-age=0, must-revalidate'],
    ['/app-3f2a9c1b.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/logo.png', 'image/png', 'public, max-age=300, must-revalidate'],
    ['/style.css', 'text/css; charset=utf-8', 'public, max-age=300, must-revalidate'],
  ]
  test.each(cached)('%s', async (path, type, cacheControl) => {
    const { headers } = await get(host, path)
    expect(headers.get('content-type')).toBe(type)
    expect(headers.get('cache-control')).toBe(cacheControl)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('accept-ranges')).toBe('bytes')
    expect(headers.get('etag')).toMatch(/^"[^"]+"$/)
    expect(headers.get('last-modified')).toBe(new Date(NOON).toUTCString())
    expect(headers.get('x-svc-commit')).toMatch(/^a+[0-9a-f]+$/)
    expect(headers.get('vary')).toBeNull()
  })

  test('an empty file is a file', async () => {
    const answer = await get(host, '/empty.txt')
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })
})

describe('conditions and ranges', () => {
  const body = '0123456789'
  const date = new Date(NOON).toUTCString()
  const earlier = new Date(NOON - 10_000).toUTCString()
  let host = ''
  let etag = ''
  beforeAll(async () => {
    host = (await site({ 'f.txt': body })).aliasHost
    etag = (await get(host, '/f.txt')).headers.get('etag') ?? ''
  })

  const conditions: [name: string, headers: () => Record<string, string>, status: number][] = [
    ['If-None-Match that matches', () => ({ 'if-none-match': etag }), 304],
    ['in a list', () => ({ 'if-none-match': `"x", ${etag}` }), 304],
    ['weak', () => ({ 'if-none-match': `W/${etag}` }), 304],
    ['any', () => ({ 'if-none-match': '*' }), 304],
    ['another', () => ({ 'if-none-match': '"x"' }), 200],
    [
      'another, though not modified since',
      () => ({ 'if-none-match': '"x"', 'if-modified-since': date }),
      200,
    ],
    ['If-Modified-Since of the same second', () => ({ 'if-modified-since': date }), 304],
    ['before', () => ({ 'if-modified-since': earlier }), 200],
    ['If-Match that matches', () => ({ 'if-match': etag }), 200],
    ['If-Match, weak', () => ({ 'if-match': `W/${etag}` }), 412],
    ['If-Match of another', () => ({ 'if-match': '"x"' }), 412],
    ['If-Unmodified-Since before', () => ({ 'if-unmodified-since': earlier }), 412],
  ]
  test.each(conditions)('%s', async (_name, headers, status) => {
    const answer = await get(host, '/f.txt', headers())
    expect(answer.status).toBe(status)
    if (status === 304) expect(answer.headers.get('etag')).toBe(etag)
    if (status === 304) expect(await answer.text()).toBe('')
  })

  const ranges: [
    name: string,
    headers: () => Record<string, string>,
    status: number,
    body: string,
    range: string | null,
  ][] = [
    ['first bytes', () => ({ range: 'bytes=0-2' }), 206, '012', 'bytes 0-2/10'],
    ['last bytes', () => ({ range: 'bytes=-3' }), 206, '789', 'bytes 7-9/10'],
    ['from', () => ({ range: 'bytes=8-' }), 206, '89', 'bytes 8-9/10'],
    ['past the end', () => ({ range: 'bytes=5-99' }), 206, '56789', 'bytes 5-9/10'],
    ['outside', () => ({ range: 'bytes=10-' }), 416, '', 'bytes */10'],
    ['nonsense', () => ({ range: 'bytes=z' }), 200, body, null],
    ['another unit', () => ({ range: 'lines=1-2' }), 200, body, null],
    ['If-Range with the tag', () => ({ range: 'bytes=0-1', 'if-range': etag }), 206, '01', 'bytes 0-1/10'],
    ['If-Range with another', () => ({ range: 'bytes=0-1', 'if-range': '"x"' }), 200, body, null],
    ['If-Range with the date', () => ({ range: 'bytes=0-1', 'if-range': date }), 206, '01', 'bytes 0-1/10'],
    ['If-Range with an older date', () => ({ range: 'bytes=0-1', 'if-range': earlier }), 200, body, null],
  ]
  test.each(ranges)('%s', async (_name, headers, status, expected, range) => {
    const answer = await get(host, '/f.txt', headers())
    expect([answer.status, answer.headers.get('content-range')]).toEqual([status, range])
    if (status !== 416) expect(await answer.text()).toBe(expected)
  })

  test('several ranges arrive as parts', async () => {
    const answer = await get(host, '/f.txt', { range: 'bytes=0-1,8-' })
    const boundary = /^multipart\/byteranges; boundary=(\S+)$/.exec(
      answer.headers.get('content-type') ?? '',
    )?.[1]
    const sent = await answer.text()
    expect(answer.status).toBe(206)
    expect(sent).toBe(
      [
        `\r\n--${boundary}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Range: bytes 0-1/10\r\n\r\n01`,
        `\r\n--${boundary}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Range: bytes 8-9/10\r\n\r\n89`,
        `\r\n--${boundary}--\r\n`,
      ].join(''),
    )
    expect(answer.headers.get('content-length')).toBe(String(sent.length))
  })

  test('HEAD ignores ranges', async () => {
    const answer = await get(host, '/f.txt', { range: 'bytes=0-1' }, 'HEAD')
    expect(answer.status).toBe(200)
  })
})

describe('encodings', () => {
  const script = text(4000, 'const a = 1; ')
  let host = ''
  beforeAll(async () => {
    host = (await site({ 'app.js': script, 'small.js': 'x', 'logo.png': text(4000) }, { withVariants: true }))
      .aliasHost
  })

  const rows: [accept: string | null, encoding: string | null][] = [
    [null, null],
    ['identity', null],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['zstd, gzip', 'zstd'],
    ['br;q=0, gzip;q=0.5, zstd;q=0.6', 'zstd'],
    ['deflate', null],
    ['*', 'br'],
  ]
  test.each(rows)('Accept-Encoding %p', async (accept, encoding) => {
    const answer = await get(host, '/app.js', accept === null ? {} : { 'accept-encoding': accept })
    expect(answer.headers.get('content-encoding')).toBe(encoding)
    expect(answer.headers.get('vary')).toBe('Accept-Encoding')
    expect(decode(encoding, new Uint8Array(await answer.arrayBuffer()))).toBe(script)
  })

  test('each encoding has a tag of its own', async () => {
    const tags = new Set<string | null>()
    for (const encoding of ['identity', 'br', 'zstd', 'gzip'])
      tags.add((await get(host, '/app.js', { 'accept-encoding': encoding })).headers.get('etag'))
    expect(tags.size).toBe(4)
  })

  test('a tag of one encoding does not validate another one', async () => {
    const { headers } = await get(host, '/app.js', { 'accept-encoding': 'br' })
    const etag = headers.get('etag') ?? ''
    expect((await get(host, '/app.js', { 'accept-encoding': 'br', 'if-none-match': etag })).status).toBe(304)
    expect((await get(host, '/app.js', { 'if-none-match': etag })).status).toBe(200)
  })

  test('ranges refer to the encoded bytes', async () => {
    const whole = await get(host, '/app.js', { 'accept-encoding': 'gzip' })
    const size = (await whole.arrayBuffer()).byteLength
    const part = await get(host, '/app.js', { 'accept-encoding': 'gzip', range: 'bytes=0-9' })
    expect(part.headers.get('content-range')).toBe(`bytes 0-9/${size}`)
  })

  test.each(['/small.js', '/logo.png'])('%s has one form and no Vary', async (path) => {
    const { headers } = await get(host, path, { 'accept-encoding': 'br' })
    expect([headers.get('content-encoding'), headers.get('vary')]).toEqual([null, null])
  })

  function decode(encoding: string | null, bytes: Uint8Array<ArrayBuffer>): string {
    const decoded =
      encoding === 'br'
        ? require('node:zlib').brotliDecompressSync(bytes)
        : encoding === 'zstd'
          ? Bun.zstdDecompressSync(bytes)
          : encoding === 'gzip'
            ? Bun.gunzipSync(bytes)
            : bytes
    return new TextDecoder().decode(decoded)
  }
})

test('after a rollback a cached copy of the newer deployment is stale, also by its date', async () => {
  const first = await site({ 'page.html': 'first' })
  await app.addUser('mover@example.com', 'admin')
  app.advance(5000)
  const sha = 'c'.repeat(40)
  const younger = {
    owner: 'acme',
    repo: `site${count}`,
    sha,
    alias: 'production',
    files: { 'page.html': 'second' },
  }
  await seedDeployment(app, younger)
  const second = await get(first.aliasHost, '/page.html')
  const since = second.headers.get('last-modified') ?? ''
  expect((await get(first.aliasHost, '/page.html', { 'if-modified-since': since })).status).toBe(304)
  app.advance(5000)
  const list = await ask(app, 'GET', `/api/aliases?projectId=${first.projectId}`, { as: 'mover@example.com' })
  const [alias] = list.body['data'] as { id: string }[]
  const json = { deploymentId: first.deploymentId }
  expect(
    (await ask(app, 'PATCH', `/api/aliases/${alias?.id}`, { as: 'mover@example.com', json })).status,
  ).toBe(200)
  const back = await get(first.aliasHost, '/page.html', { 'if-modified-since': since })
  expect([back.status, await back.text()]).toEqual([200, 'first'])
  const own = back.headers.get('last-modified') ?? ''
  expect((await get(first.aliasHost, '/page.html', { 'if-modified-since': own })).status).toBe(304)
})

test('what was published while the clock was ahead has no date in the future', async () => {
  const { host } = await site({ 'page.html': 'x' })
  app.advance(-60_000)
  const { headers } = await get(host, '/page.html')
  expect(headers.get('last-modified')).toBe(new Date(app.ctx.now()).toUTCString())
})

describe('a deploy under open tabs', () => {
  const old = {
    'index.html': 'old',
    'app-a1aa11b1.js': 'old script',
    'nodes/3.Cckk7-aE.js': 'old part',
    'plain.js': 'old plain',
    'a b/ü-b2bb22c2.css': 'old style',
    'page-d4dd44e4.html': 'old page',
    'IMG_20240102.jpg': 'old photo',
    'report2025.pdf': 'old report',
    '100%-c3cc33d3.txt': 'old percent',
  }
  const moved = async (basePath?: string) => {
    const where = basePath === undefined ? '' : `${basePath.slice(1)}/`
    const rename = (files: Record<string, string>) =>
      Object.fromEntries(Object.entries(files).map(([path, body]) => [where + path, body]))
    const first = await site(rename(old), basePath === undefined ? {} : { basePath })
    app.advance(1000)
    const repo = `site${count}`
    await seedDeployment(app, {
      owner: 'acme',
      repo,
      sha: 'b'.repeat(40),
      alias: 'production',
      files: { 'index.html': 'new' },
    })
    return first
  }

  test('a hashed file of the previous deployment is still served', async () => {
    const { aliasHost } = await moved()
    expect(await (await get(aliasHost, '/')).text()).toBe('new')
    const answer = await get(aliasHost, '/app-a1aa11b1.js')
    expect([answer.status, await answer.text()]).toEqual([200, 'old script'])
    expect(answer.headers.get('x-svc-commit')).toMatch(/^a/)
  })

  test('from the folder that the alias served then', async () => {
    const { aliasHost } = await moved('/dist')
    expect(await (await get(aliasHost, '/app-a1aa11b1.js')).text()).toBe('old script')
  })

  test.each([
    ['/a%20b/%C3%BC-b2bb22c2.css', 'old style'],
    ['/a%20b/u%CC%88-b2bb22c2.css', 'old style'],
    ['/100%25-c3cc33d3.txt', 'old percent'],
  ])('in every encoding of the path: %s', async (path, text) => {
    const { aliasHost } = await moved('/dist')
    const answer = await get(aliasHost, path)
    expect([answer.status, await answer.text()]).toEqual([200, text])
  })

  test('a chunk whose hash looks almost like a word', async () => {
    const { aliasHost } = await moved()
    expect(await (await get(aliasHost, '/nodes/3.Cckk7-aE.js')).text()).toBe('old part')
  })

  test.each(['/plain.js', '/page-d4dd44e4.html', '/page-d4dd44e4', '/IMG_20240102.jpg', '/report2025.pdf'])(
    'a page, and a file without a hash, are gone at once: %s',
    async (path) => {
      const { aliasHost } = await moved()
      expect((await get(aliasHost, path, { accept: 'text/plain' })).status).toBe(404)
    },
  )

  test('not at the deployment host of the new one', async () => {
    const { aliasHost } = await moved()
    expect((await get(aliasHost.replace('production', 'b'.repeat(12)), '/app-a1aa11b1.js')).status).toBe(404)
  })

  test('for seven days after it was replaced', async () => {
    const { aliasHost } = await moved()
    app.advance(7 * DAY_MS - 2000)
    expect((await get(aliasHost, '/app-a1aa11b1.js')).status).toBe(200)
    app.advance(4000)
    expect((await get(aliasHost, '/app-a1aa11b1.js')).status).toBe(404)
  })
})

describe('base path', () => {
  const files = { 'dist/index.html': 'built', 'dist/a.js': 'a', 'README.md': 'readme', 'distant/x.txt': 'x' }
  let hosts: { aliasHost: string; host: string }
  beforeAll(async () => {
    hosts = await site(files, { basePath: '/dist' })
  })

  const rows: [kind: 'aliasHost' | 'host', path: string, status: number][] = [
    ['aliasHost', '/', 200],
    ['aliasHost', '/a.js', 200],
    ['aliasHost', '/README.md', 404],
    ['aliasHost', '/dist/a.js', 404],
    ['aliasHost', '/ant/x.txt', 404],
    ['host', '/', 200],
    ['host', '/README.md', 404],
  ]
  test.each(rows)('%s %s', async (kind, path, status) => {
    expect((await get(hosts[kind], path)).status).toBe(status)
  })
})

describe('hosts', () => {
  test.each([
    'nobody.localhost',
    'a--b--c.localhost',
    'x.production--site1--acme.localhost',
    'example.org',
    '',
  ])('%p shows no site', async (host) => {
    const answer = await app.call('GET', '/', { headers: { accept: 'text/html' }, host: host || 'a.b.c' })
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-type')).toContain('text/html')
  })

  test('are compared without case, port and trailing dot', async () => {
    const { aliasHost } = await site({ 'index.html': 'mine' })
    for (const host of [aliasHost.toUpperCase(), `${aliasHost}:8080`, `${aliasHost}.`])
      expect(await (await get(host, '/')).text()).toBe('mine')
  })

  test('a site never falls through to the admin', async () => {
    const { aliasHost } = await site({ 'index.html': 'mine', '404.html': 'none' })
    expect((await get(aliasHost, '/signin')).status).toBe(404)
    expect((await get(aliasHost, '/repo/acme/site1/alias/production/')).status).toBe(404)
  })

  test('a path below /api that is not a route is a file', async () => {
    const { aliasHost } = await site({ 'api/data.json': '{"mine":1}' })
    expect(await (await get(aliasHost, '/api/data.json')).json()).toEqual({ mine: 1 })
    expect((await get(aliasHost, '/api/health')).headers.get('content-type')).toContain('application/json')
  })
})
