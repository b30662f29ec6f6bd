import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { ask } from '../testing/ask.ts'
import { SEED_OWNER, seedDeployment } from '../testing/seed.ts'
import { type TestApp, testApp } from '../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')
const OLD_PAGE = latin1(
  `<!doctype html><meta charset="iso-8859-1"><p>Gr\u00fc\u00dfe ${'wort '.repeat(1000)}`,
)

let count = 0
async function site(files: Record<string, string | Uint8Array>, more: { basePath?: string } = {}) {
  count += 1
  const sha = count.toString(16).padStart(40, 'a')
  const names = { owner: 'acme', repo: `types${count}`, sha, alias: 'production', withVariants: true }
  const seeded = await seedDeployment(app, { ...names, files, ...more })
  return { ...seeded, aliasHost: seeded.aliasHost ?? '', repo: names.repo, sha }
}

const get = (host: string, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  app.call(method, path, { host, headers })
const typeOf = async (host: string, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  (await get(host, path, headers, method)).headers.get('content-type')

/** As in a data directory of the version before: nobody has looked at the bytes. */
const forgetTraits = () => app.ctx.db.sqlite.run('UPDATE blobs SET traits = NULL, is_brotli = NULL')
const traitsKnown = (content: Uint8Array): unknown =>
  app.ctx.db.sqlite
    .query('SELECT traits IS NOT NULL AS traits, is_brotli AS brotli FROM blobs WHERE sha256 = ?')
    .get(Bun.SHA256.hash(content, 'hex'))

const files = {
  'index.html': OLD_PAGE,
  '404.html': latin1('<p>Sch\u00f6n, aber nicht da'),
  'about.html': OLD_PAGE,
  'new.html': '<p>Grüße',
  'feed.xml': latin1('<?xml version="1.0" encoding="iso-8859-1"?><a>\u00fc</a>'),
  'style.css': latin1('@charset "iso-8859-1"; /* \u00fc */'),
  LICENSE: 'Frei für alle',
  COPYING: latin1('frei f\u00fcr alle'),
  'apple-app-site-association': '{"applinks": {}}',
  '.well-known/webfinger': '{"subject": "a"}',
  'no-bytes.html': '',
  'broken.html': Uint8Array.of(0xff),
  'logo.png': Uint8Array.of(0x89, 0x50),
}

describe.each([
  ['as published', false],
  ['as of the version before', true],
])('charset only where it is true, %s', (_name, isOld) => {
  let host = ''
  let at = { repo: '', sha: '' }
  beforeAll(async () => {
    const { aliasHost, repo, sha } = await site(files)
    host = aliasHost
    at = { repo, sha }
    if (isOld) forgetTraits()
  })

  const rows: [path: string, type: string][] = [
    ['/', 'text/html'],
    ['/about', 'text/html'],
    ['/about.html', 'text/html'],
    ['/nothing', 'text/html'],
    ['/new', 'text/html; charset=utf-8'],
    ['/feed.xml', 'application/xml'],
    ['/style.css', 'text/css'],
    ['/LICENSE', 'text/plain; charset=utf-8'],
    ['/COPYING', 'application/octet-stream'],
    ['/apple-app-site-association', 'application/json; charset=utf-8'],
    ['/.well-known/webfinger', 'application/jrd+json; charset=utf-8'],
    ['/no-bytes.html', 'text/html; charset=utf-8'],
    ['/broken.html', 'text/html'],
    ['/logo.png', 'image/png'],
  ]
  test.each(rows)('%s', async (path, type) => {
    for (const coding of ['identity', 'br', 'zstd', 'gzip'])
      expect([coding, await typeOf(host, path, { 'accept-encoding': coding })]).toEqual([coding, type])
    expect(await typeOf(host, path, {}, 'HEAD')).toBe(type)
    const whole = await get(host, path)
    expect(whole.headers.get('x-content-type-options')).toBe('nosniff')
    if (path === '/nothing' || path === '/no-bytes.html') return
    expect(await typeOf(host, path, { range: 'bytes=0-0' })).toBe(type)
    const again = await get(host, path, { 'if-none-match': whole.headers.get('etag') ?? '' })
    expect([again.status, again.headers.get('content-type')]).toEqual([304, type])
    const mount = `/public/acme/${at.repo}`
    expect(await typeOf('localhost', `${mount}/production${path}`)).toBe(type)
    expect(await typeOf('localhost', `${mount}/${at.sha}${path}`)).toBe(type)
  })
})

test('the page of an app, and what a rewrite answers, have the type of their bytes', async () => {
  const { aliasHost, projectId } = await site({ 'index.html': OLD_PAGE, 'a/note.txt': latin1('\u00fc') })
  const accept = { accept: 'text/html' }
  expect(await typeOf(aliasHost, '/some/address', accept)).toBe('text/html')
  const rule = { pathPattern: '/r/*', proxyType: 'internal_rewrite', targetUrl: '/a/note.txt' }
  const made = await ask(app, 'POST', `/api/proxy-rules/project/${projectId}`, { as: SEED_OWNER, json: rule })
  expect(made.status).toBe(201)
  expect(await typeOf(aliasHost, '/r/x')).toBe('text/plain')
})

test('what is found out of a content of before is stored with it, once', async () => {
  const content = latin1('<p>\u00fc once')
  const { aliasHost } = await site({ 'index.html': content })
  expect(traitsKnown(content)).toEqual({ traits: 1, brotli: null })
  forgetTraits()
  expect(traitsKnown(content)).toEqual({ traits: 0, brotli: null })
  expect(await typeOf(aliasHost, '/')).toBe('text/html')
  // The manifest of before still knows what it found at first; a new one has to look.
  app.ctx.db.sqlite.run('UPDATE deployments SET version = version + 1')
  expect(await typeOf(aliasHost, '/?new')).toBe('text/html')
  expect(traitsKnown(content)).toEqual({ traits: 1, brotli: null })
})

test('records have the same types, of contents of before too', async () => {
  const { deploymentId } = await site(files)
  const types = async () => {
    const { body } = await ask(app, 'GET', `/api/deployments/${deploymentId}/files?limit=100`, {
      as: SEED_OWNER,
    })
    const rows = body['data'] as { path: string; mimeType: string }[]
    return Object.fromEntries(rows.map(({ path, mimeType }) => [path, mimeType]))
  }
  const expected = {
    'index.html': 'text/html',
    LICENSE: 'text/plain',
    COPYING: 'application/octet-stream',
    'apple-app-site-association': 'application/json',
    '.well-known/webfinger': 'application/jrd+json',
  }
  expect(await types()).toMatchObject(expected)
  forgetTraits()
  expect(await types()).toMatchObject(expected)
})

const script = `let a = 1;${'b();'.repeat(1000)}`

describe.each([
  ['as published', false],
  ['as of the version before', true],
])('files that are stored compressed, %s', (_name, isOld) => {
  const gz = gzipSync(script)
  const br = brotliCompressSync(script)
  let host = ''
  beforeAll(async () => {
    const { aliasHost } = await site({
      'Build/a.js.gz': gz,
      'Build/a.wasm.br': br,
      'Build/a.data.gz': gz,
      'Build/a.symbols.json.br': br,
      'logo.svgz': gzipSync('<svg/>'),
      'plain.svgz': '<svg/>',
      'both.js': script,
      'both.js.gz': gz,
      'page.js.gz.html': 'a page',
      'page.js.gz': gz,
      'lies.js.gz': script,
      'lies.wasm.br': Uint8Array.of(0, 1, 2, 3),
      'text.js.br': script,
      'cut.js.br': br.subarray(0, br.length - 2),
      'more.js.br': Buffer.concat([br, Buffer.from('more')]),
      'a.tar.gz': gz,
      'a.css.gz': gz,
    })
    host = aliasHost
    if (isOld) forgetTraits()
  })

  const rows: [path: string, type: string, coding: string | null][] = [
    ['/Build/a.js.gz', 'text/javascript', 'gzip'],
    ['/Build/a.wasm.br', 'application/wasm', 'br'],
    ['/Build/a.data.gz', 'application/octet-stream', 'gzip'],
    ['/Build/a.symbols.json.br', 'application/json', 'br'],
    ['/logo.svgz', 'image/svg+xml', 'gzip'],
    ['/plain.svgz', 'image/svg+xml; charset=utf-8', null],
    ['/both.js.gz', 'application/gzip', null],
    ['/page.js.gz', 'text/javascript', 'gzip'],
    ['/lies.js.gz', 'application/gzip', null],
    ['/lies.wasm.br', 'application/octet-stream', null],
    ['/text.js.br', 'text/plain; charset=utf-8', null],
    ['/cut.js.br', 'application/octet-stream', null],
    ['/more.js.br', 'application/octet-stream', null],
    ['/a.tar.gz', 'application/gzip', null],
    ['/a.css.gz', 'application/gzip', null],
  ]
  test.each(rows)('%s is %s, %p', async (path, type, coding) => {
    const whole = await get(host, path)
    const etag = whole.headers.get('etag') ?? ''
    const asked: [Record<string, string>, string][] = [
      [{}, 'GET'],
      [{ 'accept-encoding': 'identity' }, 'GET'],
      [{ 'accept-encoding': 'br, gzip, zstd' }, 'GET'],
      [{ 'accept-encoding': 'br;q=0, gzip;q=0' }, 'HEAD'],
      [{ range: 'bytes=0-0' }, 'GET'],
    ]
    for (const [headers, method] of asked) {
      const answer = await get(host, path, headers, method)
      expect([answer.headers.get('content-type'), answer.headers.get('content-encoding')]).toEqual([
        type,
        coding,
      ])
      expect(answer.headers.get('vary')).toBe(coding === null ? null : 'Accept-Encoding')
      expect(answer.headers.get('etag')).toBe(etag)
    }
    const again = await get(host, path, { 'if-none-match': etag })
    expect([again.status, again.headers.get('vary')]).toEqual([
      304,
      coding === null ? null : 'Accept-Encoding',
    ])
  })

  test('their bytes are those that were published', async () => {
    const answer = await get(host, '/Build/a.js.gz', { 'accept-encoding': 'br' })
    expect(Buffer.from(await answer.arrayBuffer()).equals(gz)).toBe(true)
  })
})

test('a long brotli file is known by its beginning', async () => {
  const long = brotliCompressSync(crypto.getRandomValues(Buffer.alloc(60_000)))
  const noise = Buffer.concat(Array.from({ length: 10 }, () => crypto.getRandomValues(Buffer.alloc(60_000))))
  const stream = brotliCompressSync(noise)
  expect(stream.length).toBeGreaterThan(512 * 1024)
  const bomb = brotliCompressSync(Buffer.alloc(50_000_000))
  const { aliasHost } = await site({
    'a.wasm.br': stream,
    'b.wasm.br': long,
    'c.wasm.br': bomb,
    'd.wasm.br': noise,
  })
  const codings = await Promise.all(
    ['a', 'b', 'c', 'd'].map(async (name) =>
      (await get(aliasHost, `/${name}.wasm.br`)).headers.get('content-encoding'),
    ),
  )
  expect(codings).toEqual(['br', 'br', 'br', null])
})

test('a content of before that cannot be read has no charset, and stays unknown', async () => {
  const content = '<p>lost'
  const { aliasHost } = await site({ 'index.html': content })
  forgetTraits()
  app.ctx.db.sqlite
    .query('UPDATE blobs SET pack = ? WHERE sha256 = ?')
    .run('gone', Bun.SHA256.hash(content, 'hex'))
  app.ctx.db.sqlite.run('UPDATE deployments SET version = version + 1')
  await get(aliasHost, '/?lost', {}, 'HEAD').catch(() => undefined)
  expect(traitsKnown(Buffer.from(content))).toEqual({ traits: 0, brotli: null })
})

/** One word each in the scripts of the world, and signs that none has. */
const NAMES = `
Grüße Ελληνικά Русский Հայերեն עברית العربية ܣܘܪܝܝܐ ދިވެހި हिन्दी বাংলা ਪੰਜਾਬੀ ગુજરાતી ଓଡ଼ିଆ தமிழ் తెలుగు ಕನ್ನಡ മലയാളം
සිංහල ไทย ລາວ བོད་ཡིག မြန်မာ ქართული 한국어 አማርኛ ᏣᎳᎩ ᐃᓄᒃᑎᑐᑦ ᚠᚢᚦ ខ្មែរ ᠮᠣᠩᠭᠣᠯ ひらがな カタカナ 漢字 ꆈꌠꉙ 𐌲𐌿𐍄 𐤀𐤁 𝔘𝔫𝔦 😀👩‍👩‍👧 ∑√ ½
`
test('a name in every script has its type and is found', async () => {
  const names = NAMES.trim()
    .split(/\s+/)
    .map((name) => name.normalize('NFC'))
  const { aliasHost } = await site(Object.fromEntries(names.map((name) => [`${name}.html`, `<p>${name}`])))
  for (const name of names) {
    const answer = await get(aliasHost, `/${encodeURIComponent(name)}.html`)
    expect([name, answer.status, answer.headers.get('content-type')]).toEqual([
      name,
      200,
      'text/html; charset=utf-8',
    ])
    expect(answer.headers.get('cache-control')).toContain('max-age=0')
  }
})

test('50,000 names that all look like hashes: kept for a year, and for a week once they are gone', async () => {
  const nameOf = (i: number) =>
    `assets/part-${((i * 2654435761) >>> 0).toString(16).padStart(8, '0')}a1b2c3d4.js`
  const names = Array.from({ length: 50_000 }, (_, i) => nameOf(i))
  const { aliasHost, repo } = await site({
    'index.html': 'old',
    ...Object.fromEntries(names.map((name) => [name, 'part()'])),
  })
  const some = names.filter((_, i) => i % 2500 === 0)
  const seen = async () =>
    Promise.all(
      some.map(async (name) => {
        const { status, headers } = await get(aliasHost, `/${name}`)
        return [status, headers.get('cache-control')]
      }),
    )
  const immutable = some.map(() => [200, 'public, max-age=31536000, immutable'])
  expect(await seen()).toEqual(immutable)
  app.advance(1000)
  const next = {
    owner: 'acme',
    repo,
    sha: 'e'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'new' },
  }
  await seedDeployment(app, next)
  expect(await seen()).toEqual(immutable)
  for (let i = 0; i < 500; i++) expect((await get(aliasHost, `/${nameOf(i + 50_000)}`)).status).toBe(404)
}, 60_000)
