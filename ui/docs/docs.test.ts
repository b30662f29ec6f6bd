import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { allHelp } from '../../src/cli/help.ts'
import { serveCommand } from '../../src/cli/serve.ts'
import { provideCommandHelp } from '../../src/modules/docs/command-help.ts'
import { contentsOf, documentNames, listDocuments } from '../../src/modules/docs/service.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { HELP_TOPICS, helpHref } from '../frame/help.ts'
import { type Browser, browserOf } from '../testing/browser.ts'

const FOLDER = join(import.meta.dir, '../../docs')

let app: TestApp
let browser: Browser
beforeAll(async () => {
  provideCommandHelp(() => allHelp({ serve: () => serveCommand }))
  // Nobody has set this server up, and nobody is signed in.
  app = await testApp()
  browser = browserOf(app)
})
afterAll(() => app.close())

const textOf = async (path: string): Promise<string> => {
  const answer = await browser.open(path)
  expect(`${path} ${answer.status}`).toBe(`${path} 200`)
  return answer.text()
}
const all = (page: string, pattern: RegExp): string[] =>
  [...page.matchAll(pattern)].map(([, one = '']) => one)

describe('the documents', () => {
  test('are all in the executable, and listed with their contents', async () => {
    const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md') && !file.startsWith('decisions'))
      .map((file) => file.slice(0, -'.md'.length))
    expect([...documentNames].sort()).toEqual([...files, 'cli'].sort())
    const list = await textOf('/docs')
    expect(list).toContain('<h1>Documents</h1>')
    for (const name of documentNames) expect(list).toContain(`href="/docs/${name}"`)
    expect(list).toContain('href="/docs/operating#backup-restore-check"')
  })

  test('every link, anchor and picture of every page leads somewhere', async () => {
    const names = ['', ...documentNames.map((name) => `/${name}`)]
    const pages = new Map<string, string>(
      await Promise.all(names.map(async (name) => [`/docs${name}`, await textOf(`/docs${name}`)] as const)),
    )
    const broken: string[] = []
    for (const [path, page] of pages) {
      const ids = all(page, /\sid="([^"]+)"/g)
      if (new Set(ids).size !== ids.length) broken.push(`${path} has an id twice`)
      for (const href of all(page, /(?:href|src)="([^"]+)"/g)) {
        if (/^(https?|mailto):|^\/_svc\//.test(href) || href === '/') continue
        const { pathname, hash, search } = new URL(href, `http://localhost${path}`)
        const target = pages.get(pathname)
        const isThere =
          hash === ''
            ? target !== undefined || (await app.call('GET', pathname + search)).status === 200
            : target?.includes(` id="${decodeURIComponent(hash.slice(1))}"`) === true
        if (!isThere) broken.push(`${path} → ${href}`)
      }
    }
    expect(broken).toEqual([])
  })

  test('links to other files of the repository lead to files', async () => {
    for (const { name, source } of await listDocuments())
      for (const href of all(source, /\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
        if (/^(https?|mailto):/.test(href)) continue
        expect(() => statSync(join(FOLDER, name, '..', href))).not.toThrow()
      }
  })

  test.each(documentNames)('%s has one heading, "On this page", and its source', async (name) => {
    const page = await textOf(`/docs/${name}`)
    expect(all(page, /<(h1)[ >]/g)).toHaveLength(1)
    expect(page).toContain('On this page')
    const inside = all(page, /<h2 id="([^"]+)"/g)
    const listed = page.slice(page.indexOf('id="on-this-page"'), page.indexOf('id="all-documents"'))
    expect(all(listed, /href="#([^"]+)"/g).map(decodeURIComponent)).toEqual(inside)
    const source = await app.call('GET', `/docs/${name}.md`)
    expect(source.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    if (name !== 'cli') expect(await source.text()).toBe(readFileSync(join(FOLDER, `${name}.md`), 'utf8'))
  })

  test('those over 150 lines list their contents at the top', async () => {
    for (const document of await listDocuments()) {
      if (document.source.split('\n').length <= 150 || document.name === 'cli') continue
      const top = document.source.slice(0, document.source.indexOf('\n## '))
      for (const { id } of contentsOf(document)) expect(top).toContain(`](#${id})`)
    }
  })

  test('cli is what svc help and svc help COMMAND print', async () => {
    const page = await textOf('/docs/cli')
    expect(page).toContain('<h2 id="svc-serve">svc serve</h2>')
    const source = await (await app.call('GET', '/docs/cli.md')).text()
    expect(source).toContain(serveCommand.usage.trimEnd())
    expect(source).toContain('svc help COMMAND explains one of them.')
    const names = all(serveCommand.usage, /^ {2}([A-Z_]+) /gm)
    expect(names.slice(0, 5)).toEqual(['PORT', 'HOST', 'DATA_DIR', 'BASE_DOMAIN', 'TLS'])
  })

  test('the paragraph behind each "Help" is there', async () => {
    const page = await textOf('/docs/admin')
    expect(all(page, /<h2 id="([^"]+)"/g)).toEqual([...HELP_TOPICS])
    expect(helpHref('api-keys')).toBe('/docs/admin#api-keys')
  })

  test('markup in a document is text', async () => {
    const page = await textOf('/docs/members')
    expect(page).toContain('&lt;svc-auth&gt;&lt;/svc-auth&gt;')
    expect(page).not.toContain('<svc-auth>')
  })

  test('are not sent again while they are the same', async () => {
    for (const path of [
      '/docs',
      '/docs/start',
      '/docs/start.md',
      '/docs/search.json?q=backup',
      '/docs/images/floors.svg',
    ]) {
      const etag = (await browser.open(path)).headers.get('etag') ?? ''
      expect(etag).toMatch(/^"[0-9a-f]{16}"$/)
      const again = await browser.open(path, { headers: { 'if-none-match': etag } })
      expect([again.status, await again.text()]).toEqual([304, ''])
    }
  })

  test.each([
    '/docs/nowhere',
    '/docs/nowhere.md',
    '/docs/constructor',
    '/docs/__proto__',
    '/docs/..%2f..%2fpackage.json',
    '/docs/%2e%2e%2fREADME',
    '/docs/images/..%2f..%2fpackage.json',
    '/docs/start%00',
    '/docs/%ff',
  ])('%s is not found', async (path) => {
    const answer = await browser.open(path)
    expect(answer.status).toBe(404)
    expect(answer.headers.get('content-type')).toStartWith('text/html')
  })

  test('are on the admin host alone', async () => {
    expect((await browser.open('/docs', { host: 'nobody.localhost' })).status).toBe(404)
    expect((await app.call('POST', '/docs/start')).status).toBe(405)
  })
})

describe('searching', () => {
  type Result = { page: string; heading: string; href: string; excerpt: string }
  const found = async (query: string): Promise<Result[]> => {
    const answer = await app.call('GET', `/docs/search.json?q=${encodeURIComponent(query)}`)
    expect(answer.status).toBe(200)
    return (await answer.json()).results
  }

  test.each([
    ['backup restore check', '/docs/operating#backup-restore-check'],
    ['BACKUP store', '/docs/operating#backups-in-an-object-store'],
    ['verifying signature', '/docs/webhooks#verifying-the-signature'],
    ['rotating', '/docs/operating#rotating-secrets'],
    ['_redirects', '/docs/sites#_redirects'],
  ])('%s: the best is %s', async (query, href) => {
    expect((await found(query))[0]?.href).toBe(href)
  })

  test('finds sections that have every word, at most 20', async () => {
    const results = await found('the server')
    expect(results).toHaveLength(20)
    for (const { page, heading, excerpt } of await found('litestream restore'))
      expect(`${page} ${heading} ${excerpt}`).toMatch(/litestream|restore/i)
    expect(await found('litestream zebra')).toEqual([])
    expect(await found('  ')).toEqual([])
  })

  test.each([
    ['10,000 characters', 'backup '.repeat(1429), true],
    ['10,000 letters', 'x'.repeat(10_000), false],
    ['many different words', Array.from({ length: 3000 }, (_, at) => at.toString(36)).join(' '), false],
    ['markup', '<script>alert(1)</script>', false],
    ['what a pattern would be', '(a+)+$ [ \\', false],
  ])('%s do no harm', async (_what, query, isFound) => {
    expect((await found(query)).length > 0).toBe(isFound)
    const page = await textOf(`/docs?q=${encodeURIComponent(query)}`)
    expect(page).not.toContain('<script>alert')
    expect(page).toContain(isFound ? 'Found ' : 'Nothing found')
  })

  test('as a page has the same results', async () => {
    const page = await textOf('/docs?q=rotating+secrets')
    expect(page).toContain('type="search"')
    for (const { href } of await found('rotating secrets')) expect(page).toContain(`href="${href}"`)
  })
})
