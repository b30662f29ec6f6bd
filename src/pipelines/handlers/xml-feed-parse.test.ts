import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PipelineApp, pipelineApp, step } from '../../testing/pipeline-app.ts'
import { createTestCa } from '../../testing/test-ca.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-feeds-'))
const asked: string[] = []
let app: PipelineApp
let backend: Bun.Server<undefined>

const MIB = 1024 * 1024
const rss = (items: string, head = '<?xml version="1.0"?>') =>
  `${head}<rss version="2.0"><channel><title>Ünï</title>${items}</channel></rss>`
const item = (title: string, more = '') => `<item><title>${title}</title><link>/${title}</link>${more}</item>`
const latin1 = (text: string) => Buffer.from(text, 'latin1')
const utf16 = (text: string, isBig = false) => {
  const bytes = Buffer.from(text, 'utf16le')
  return isBig ? bytes.swap16() : bytes
}

/** 200 MB, of which as much is made as is asked for. */
function endless(): ReadableStream<Uint8Array> {
  const piece = Buffer.from(item('x'.repeat(4000)).repeat(16))
  let left = (200 * MIB) / piece.length
  return new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.from('<rss><channel>')),
    pull(controller) {
      left -= 1
      if (left < 0) controller.close()
      else controller.enqueue(piece)
    },
  })
}

type Served = { body: BodyInit; type?: string; headers?: Record<string, string>; status?: number }
const SERVED: Readonly<Record<string, () => Served | Promise<Served>>> = {
  '/good': () => ({ body: rss(item('one') + item('two')) }),
  '/latin1': () => ({ body: latin1(rss(item('Zürich'), '<?xml version="1.0" encoding="ISO-8859-1"?>')) }),
  '/header': () => ({
    body: latin1(rss(item('Zürich'), '<?xml version="1.0" encoding="UTF-8"?>')),
    type: 'text/xml; charset=iso-8859-1',
  }),
  '/utf16': () => ({
    body: utf16(`\ufeff${rss(item('Zürich'), '<?xml version="1.0" encoding="UTF-16"?>')}`),
  }),
  '/utf16be': () => ({ body: utf16(rss(item('Zürich')), true), type: 'application/xml' }),
  '/mark': () => ({ body: `\ufeff${rss(item('Zürich'))}`, type: 'text/xml; charset=iso-8859-1' }),
  '/odd-charset': () => ({ body: rss(item('a')), type: 'text/xml; charset=klingon' }),
  '/bomb': () => ({ body: rss(item('&a;'), '<!DOCTYPE rss [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>') }),
  '/external': () => ({
    body: rss(item('&a;'), '<!DOCTYPE rss [<!ENTITY a SYSTEM "https://backend.test/secret">]>'),
  }),
  '/page': () => ({ body: '<html><body>hi</body></html>' }),
  '/text': () => ({ body: 'hello' }),
  '/empty': () => ({ body: '' }),
  '/huge': () => ({ body: endless() }),
  '/gone': () => ({ body: 'no', status: 404 }),
  '/gzip': () => ({ body: 'x', headers: { 'content-encoding': 'gzip' } }),
  '/slow': async () => {
    await Bun.sleep(5000)
    return { body: rss(item('late')) }
  },
  '/large': () => ({ body: rss(item('a', `<description>${'x'.repeat(7 * MIB)}</description>`)) }),
  '/away': () => ({
    body: '',
    status: 302,
    headers: { location: 'https://169.254.169.254/latest/meta-data/' },
  }),
  '/plain': () => ({
    body: '',
    status: 302,
    headers: { location: `http://backend.test:${backend.port}/good` },
  }),
  '/round': () => ({ body: '', status: 301, headers: { location: '/round' } }),
}

beforeAll(async () => {
  const ca = createTestCa()
  writeFileSync(join(folder, 'ca.pem'), ca.pem)
  backend = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: ca.issue({ names: ['backend.test'] }),
    async fetch(request) {
      const { pathname } = new URL(request.url)
      asked.push(pathname)
      const [, hops] = /^\/hop(\d)$/.exec(pathname) ?? []
      if (hops !== undefined)
        return new Response(null, {
          status: 307,
          headers: { location: hops === '1' ? '/good' : `/hop${Number(hops) - 1}` },
        })
      const { body = '', type = 'text/xml', headers = {}, status = 200 } = (await SERVED[pathname]?.()) ?? {}
      return new Response(body, { status, headers: { 'content-type': type, ...headers } })
    },
  })
  app = await pipelineApp({
    PROXY_ALLOWED_TARGETS: 'backend.test',
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
  })
})
afterAll(async () => {
  await backend.stop(true)
  app.close()
  rmSync(folder, { recursive: true })
})

const at = (path: string) => `https://backend.test:${backend.port}${path}`
type Source = { source: string; ok: boolean; count: number; error?: string }
type Output = {
  entries: Record<string, unknown>[]
  sources: Source[]
  totalEntries: number
  okCount: number
  errorCount: number
}
const ask = (config: Record<string, unknown>, json: unknown = {}) =>
  app.answer([step('feed', 'xml_feed_parse', config)], { json })
async function parse(config: Record<string, unknown>, json: unknown = {}): Promise<Output> {
  const { status, body } = await ask(config, json)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return (body as { data: Output }).data
}

test('a list of feeds is read in its order; a bad one has an error and fails nothing', async () => {
  const urls = [at('/gone'), at('/good'), at('/text'), at('/latin1')]
  const output = await parse({ urls: 'request.body' }, urls)
  const sources = [
    { source: urls[0], ok: false, count: 0, error: 'The source answered 404' },
    { source: urls[1], ok: true, count: 2 },
    { source: urls[2], ok: false, count: 0, error: 'The feed is no XML' },
    { source: urls[3], ok: true, count: 1 },
  ]
  expect(output).toMatchObject({ sources, totalEntries: 3, okCount: 2, errorCount: 2 })
  expect(output.entries.map(({ source, title }) => [source, title])).toEqual([
    [urls[1], 'one'],
    [urls[1], 'two'],
    [urls[3], 'Zürich'],
  ])
  expect(output.entries[0]).toEqual({
    source: urls[1],
    guid: at('/one'),
    title: 'one',
    link: at('/one'),
    enclosures: [],
    extensions: {},
  })
})

test.each(['/latin1', '/header', '/utf16', '/utf16be', '/mark'])(
  'the encoding of %s is found',
  async (path) => {
    const { entries } = await parse({ urls: at(path) })
    expect(entries.map(({ title }) => title)).toEqual(['Zürich'])
  },
)

describe('a source that is not well', () => {
  const blocked = 'The source could not be reached'
  test.each([
    ['/bomb', 'The feed has a document type with declarations of its own'],
    ['/external', 'The feed has a document type with declarations of its own'],
    ['/page', 'The feed is no feed: it begins with <html>'],
    ['/empty', 'The feed is no XML'],
    ['/odd-charset', 'The feed is in the encoding "klingon", which is not known'],
    ['/huge', 'The feed is larger than 10485760 bytes (10 MiB)'],
    ['/gzip', 'The source sent a compressed answer, which was not asked for'],
    ['/away', blocked],
    ['/plain', blocked],
    ['/round', 'The source sent an answer that cannot be read'],
    ['/hop6', 'The source sent an answer that cannot be read'],
  ])('%s', async (path, error) => {
    const { sources, entries } = await parse({ urls: at(path) })
    expect([sources, entries]).toEqual([[{ source: at(path), ok: false, count: 0, error }], []])
    expect(asked).not.toContain('/secret')
  })

  test.each([
    ['http://example.com/feed', 'The source must be an https address'],
    ['no address', 'The source must be an https address'],
    ['https://127.0.0.1/feed', blocked],
    ['https://169.254.169.254/', blocked],
    ['https://[::1]/', blocked],
  ])('%s', async (url, error) => {
    const { sources } = await parse({ urls: 'request.body.url' }, { url })
    expect(sources).toEqual([{ source: url, ok: false, count: 0, error }])
  })

  test('a slow one', async () => {
    const { sources } = await parse({ urls: [at('/slow'), at('/good')], timeoutMs: 1000 })
    expect(sources).toMatchObject([
      { ok: false, error: 'The source did not answer in time' },
      { ok: true, count: 2 },
    ])
  })
})

test('five redirects are followed', async () => {
  expect((await parse({ urls: at('/hop5') })).sources).toEqual([{ source: at('/hop5'), ok: true, count: 2 }])
})

test('16 MiB of entries have room, one after the other, and what has none is an error of its source', async () => {
  const urls = [at('/large'), at('/large'), at('/large'), at('/good')]
  const { sources } = await parse({ urls, concurrency: 1 })
  expect(sources.map(({ ok, count }) => [ok, count])).toEqual([
    [true, 1],
    [false, 0],
    [false, 0],
    [true, 2],
  ])
  expect(sources[1]?.error).toContain('16 MiB')
})

test('the text of a feed is read as it is, with its title as the source', async () => {
  const { entries, sources } = await parse({ xml: 'request.body.xml' }, { xml: rss(item('one')) })
  expect(sources).toEqual([{ source: 'inline-xml', ok: true, count: 1 }])
  expect(entries).toEqual([
    { source: 'Ünï', title: 'one', link: '/one', guid: '/one', enclosures: [], extensions: {} },
  ])
  const bad = await parse({ xml: 'request.body.xml' }, {})
  expect(bad.sources).toEqual([{ source: 'inline-xml', ok: false, count: 0, error: 'The feed is no XML' }])
})

test.each([
  ['null is no address', null, 200],
  ['a number is none', 5, 400],
  ['nor in a list', ['https://example.com/', 5], 400],
  ['501 are too many', Array.from({ length: 501 }, () => 'https://example.com/'), 400],
])('%s', async (_, urls, expected) => {
  const { status, body } = await ask({ urls: 'request.body.urls' }, { urls })
  expect(status).toBe(expected)
  if (status === 200)
    expect(body).toMatchObject({
      data: { entries: [], sources: [], totalEntries: 0, okCount: 0, errorCount: 0 },
    })
})

test('entries are what the next step sees, and are stored by it once', async () => {
  const schemaId = app.addSchema('items', [
    { name: 'guid', type: 'string', unique: true },
    { name: 'title', type: 'string' },
  ])
  const steps = [
    step('feed', 'xml_feed_parse', { urls: [at('/good'), at('/gone')] }),
    step('kept', 'data_upsert_many', {
      schemaId: '$schema:items',
      items: 'steps.feed.entries',
      map: { title: 'steps.item.title' },
      dedupField: 'guid',
      dedupKey: ['steps.item.guid', 'steps.item.link'],
    }),
  ]
  for (const inserted of [2, 0])
    expect(await app.answer(steps)).toMatchObject({ status: 200, body: { data: { inserted, total: 2 } } })
  expect(app.stored(schemaId)).toEqual([
    { guid: at('/two'), title: 'two' },
    { guid: at('/one'), title: 'one' },
  ])
})
