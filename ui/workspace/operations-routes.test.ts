import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { endTails } from '../../src/modules/logs/tail.ts'
import { type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { storeApp } from '../../src/testing/store-app.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
let site: Seeded
let projectAdmin: string

const PERSON = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  site = await seedDeployment(app, {
    owner: 'acme',
    repo: 'website',
    sha: 'c0ffee1234567890',
    alias: 'production',
    isPublic: true,
    files: { 'index.html': '<h1>Hello</h1>', '404.html': 'gone' },
  })
  projectAdmin = await seedMember(app, site.projectId, 'admin')
  for (const path of ['/', '/', '/missing-page'])
    await browser.open(path, { host: site.aliasHost ?? '', headers: { 'user-agent': PERSON } })
})
afterAll(() => app.close())

async function read(path: string, as = ADMIN): Promise<string> {
  const answer = await browser.open(path, { as })
  expect(answer.status).toBe(200)
  return answer.text()
}

describe('analytics', () => {
  test.each(['', '?days=1', '?days=90', '?days=all'])(
    'of a project show what visitors did, %p',
    async (query) => {
      const html = await read(`/projects/${site.projectId}/analytics${query}`, projectAdmin)
      expect(html).toMatch(/<dt>Views<\/dt><dd>[1-9]/)
      expect(html).toContain('/missing-page')
    },
  )

  test('of the workspace link to those of its projects', async () => {
    expect(await read('/admin/analytics')).toContain(`href="/projects/${site.projectId}/analytics"`)
  })
})

describe('requests', () => {
  const searches: [query: string, isFound: boolean][] = [
    ['', true],
    ['?status=404', true],
    ['?status=5xx', false],
    [`?host=nobody.example`, false],
  ]
  test.each(searches)('are searched by %p', async (query, isFound) => {
    expect((await read(`/admin/logs${query}`)).includes('<code>GET /missing-page</code>')).toBe(isFound)
  })

  test('new requests are followed from the newest one on, even if none was found', async () => {
    const html = await read('/admin/logs?path=/not-asked-yet')
    const [, from = ''] = html.match(/data-tail="(\d+)"/) ?? []
    expect(html).toContain('Nothing found')
    await browser.open('/not-asked-yet', { host: site.aliasHost ?? '' })
    const tail = await app.call('GET', `/api/logs/tail?after=${from}`, { as: ADMIN })
    endTails(app.ctx)
    const paths = [...(await tail.text()).matchAll(/"path":"([^"]*)"/g)].map(([, path]) => path)
    expect(paths).toContain('/not-asked-yet')
    expect(paths).not.toContain('/missing-page')
  })

  test('an invalid search is refused in place', async () => {
    const answer = await browser.open('/admin/logs?status=many', { as: ADMIN })
    const said = '<p class="field-error" id="status-error">Give a status such as 404'
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(said)])
    const other = await browser.open('/admin/logs?bots=some', { as: ADMIN })
    expect([other.status, await other.text()]).toEqual([400, expect.stringContaining('true or false')])
  })
})

test('storage shows what each project uses', async () => {
  const html = await read('/admin/storage')
  expect(html).toContain('acme/website')
  expect(html).toMatch(/<progress [^>]*id="used"/)
})

describe('machines', () => {
  test('without an object store say what one would give', async () => {
    const html = await read('/admin/machines')
    expect(html).toContain('No object store')
    expect(html).toContain('docs/scaling.md')
    expect(html).not.toContain('class="notice notice-warn"')
  })

  test('of an object store are shown with what is wrong', async () => {
    const stored = await storeApp({ MACHINE_NAME: 'one', CDN_KIND: 'varnish', CDN_URL: 'http://127.0.0.1:1' })
    await stored.addUser(ADMIN, 'admin')
    const html = await (await browserOf(stored).open('/admin/machines', { as: ADMIN })).text()
    expect(html).toContain('No stand-by follows one as far as it can know')
    expect(html).toContain('s3://bucket')
    expect(html).toContain('<code>varnish</code>')
    stored.close()
  })
})

describe('backups', () => {
  test('explain how to set them up, and are refused until then', async () => {
    const html = await read('/admin/backups')
    expect(html).toContain('Backups are not set up')
    // The command works from any folder.
    expect(html).toContain(`svc backup FILE --data-dir ${resolve(app.ctx.config.dataDir)}<`)
    const answer = await browser.submit('/admin/backups', { intent: 'make' }, { as: ADMIN })
    expect([answer.status, (await answer.text()).includes('No folder is set for backups')]).toEqual([
      409,
      true,
    ])
  })

  test('are listed with their schedule', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-backups-'))
    const planned = await testApp({ BACKUP_DIR: folder })
    await planned.addUser(ADMIN, 'admin')
    const html = await (await browserOf(planned).open('/admin/backups', { as: ADMIN })).text()
    expect(html).toContain(folder)
    expect(html).toContain('Back up now')
    planned.close()
    rmSync(folder, { recursive: true })
  })
})
