import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { waitForVariants } from '../deployments/variants.ts'
import { type Fields, type Files, UPLOADS, upload, withWebSite } from '../releases/releases.fixture.ts'
import type { ReportView } from './model.ts'
import { resumeReports, stopReports, waitForReports } from './service.ts'

/** What a deploy report says. contract 13 §7. */
const site = withWebSite({ 'index.html': 'old' })
const { call, nextSha } = site
beforeAll(() => resumeReports(site.app.ctx))
afterAll(() => stopReports(site.app.ctx))

type Sent = { fields?: Fields; by?: typeof upload }

async function publish(files: Files, { fields = {}, by = upload }: Sent = {}): Promise<string> {
  const { body } = await by(site.app, files, { commitSha: nextSha(), alias: site.alias, ...fields })
  return body.deploymentId ?? body.deployment?.id ?? ''
}

async function reportOf(id: string): Promise<ReportView> {
  await waitForReports(site.app.ctx)
  const { body } = await call('GET', `/api/deployments/${id}/report`)
  return body as unknown as ReportView
}

const told = ({ findings }: ReportView): string[] =>
  findings.map(({ kind, file, line, target }) =>
    [kind, file, line, target].filter((part) => part !== null).join(' '),
  )

const reported = async (files: Files, sent?: Sent): Promise<string[]> =>
  told(await reportOf(await publish(files, sent)))

/** A site with a page for missing addresses, so that nothing else stands in for them. */
const SITE: Files = { 'index.html': 'x', '404.html': 'y' }

describe.each(Object.entries(UPLOADS))('by %s', (_, by) => {
  test('the answer says where the report is', async () => {
    const { body } = await by(site.app, SITE, { commitSha: nextSha(), alias: site.alias })
    const id = body.deploymentId ?? body.deployment?.id
    expect((body as { report?: unknown }).report).toEqual({
      status: 'running',
      url: `http://localhost:3000/api/deployments/${id}/report`,
      pageUrl: `http://localhost:3000/projects/${site.seeded.projectId}/deployments/${id}/report`,
    })
  })

  test('what the sender left out is told', async () => {
    const fields = { leftOut: '.env' }
    expect(await reported(SITE, { by, fields })).toEqual(['secret-left-out .env'])
  })
})

test('what the service leaves out is told', async () => {
  const files = { ...SITE, 'node_modules/a.js': 'x', 'dist/.git/config': 'x', '.well-known/x': 'x' }
  expect(await reported(files)).toEqual(['secret-left-out dist/.git/config', 'left-out node_modules/a.js'])
})

describe('compared', () => {
  test('with nothing, all files are new', async () => {
    const report = await reportOf(await publish(SITE))
    expect(report).toMatchObject({
      status: 'complete',
      comparedWith: null,
      files: { added: 2, changed: 0, removed: 0, unchanged: 0 },
      paths: [
        { kind: 'added', path: '404.html' },
        { kind: 'added', path: 'index.html' },
      ],
      findings: [],
      kinds: {},
      truncated: false,
    })
    expect(Date.parse(report.completedAt ?? '')).not.toBeNaN()
  })

  test('with what the named alias showed just before', async () => {
    const named = site.alias
    const before = await publish({ ...SITE, 'a.css': 'a', 'b.css': 'b' })
    const after = await publish({ ...SITE, 'a.css': 'changed', 'c.css': 'c' }, { fields: { alias: named } })
    const report = await reportOf(after)
    expect(report.comparedWith).toMatchObject({ alias: named, deploymentId: before })
    expect(report.files).toEqual({ added: 1, changed: 1, removed: 1, unchanged: 2 })
    expect(report.paths).toEqual([
      { kind: 'changed', path: 'a.css' },
      { kind: 'added', path: 'c.css' },
      { kind: 'removed', path: 'b.css' },
    ])
  })

  test('with production where no alias is named', async () => {
    const production = await publish(SITE, { fields: { alias: 'production' } })
    const report = await reportOf(await publish({ ...SITE, 'a.css': 'a' }, { fields: { alias: '' } }))
    expect(report.comparedWith).toMatchObject({ alias: 'production', deploymentId: production })
    expect(report.files).toEqual({ added: 1, changed: 0, removed: 0, unchanged: 2 })
  })

  test('the first two hundred paths are named', async () => {
    const files = Object.fromEntries(Array.from({ length: 210 }, (_, at) => [`f${at}.txt`, 'x']))
    const report = await reportOf(await publish({ ...SITE, ...files }))
    expect(report.files.added).toBe(212)
    expect(report.paths).toHaveLength(200)
  })
})

test('files that are added to a deployment renew its report', async () => {
  const commitSha = nextSha()
  const fields = { commitSha, alias: '' }
  const first = await publish({ ...SITE, 'a.html': '<a href="/b">' }, { fields })
  expect(told(await reportOf(first))).toEqual(['link-missing a.html 1 /b'])
  const second = await publish({ 'b.html': 'x' }, { fields: { ...fields, append: 'true' } })
  expect(second).toBe(first)
  expect(told(await reportOf(first))).toEqual([])
})

test('bytes are known once the files are compressed', async () => {
  const id = await publish({ ...SITE, 'a.txt': 'abc '.repeat(2000) })
  await waitForVariants(site.app.ctx)
  const { bytes } = await reportOf(id)
  expect(bytes.identity).toBe(8002)
  for (const sent of [bytes.br, bytes.zstd, bytes.gzip]) {
    expect(sent).toBeGreaterThan(0)
    expect(sent).toBeLessThan(1000)
  }
})

describe('lines of _redirects', () => {
  const lines = (text: string, more: Files = {}) => reported({ ...SITE, ...more, _redirects: text })

  test.each<[string, string, string[]]>([
    ['refused', '/a /b 999', ['redirect-refused _redirects 1']],
    [
      'in a loop',
      '/a /b 302\n/b /a 302',
      [
        'redirect-loop _redirects 1 /a',
        'redirect-loop _redirects 2 /b',
        'redirect-chain _redirects 1 /b',
        'redirect-chain _redirects 2 /a',
      ],
    ],
    ['to nothing', '/a /b', ['redirect-target-missing _redirects 1 /b']],
    ['to a page', '/a /404', []],
    ['to a file that is not there', '/a /b.html 200', ['redirect-target-missing _redirects 1 /b.html']],
    ['to another host', '/a https://other.example/', []],
    ['to the service', '/a /api/health', []],
  ])('%s', async (_, text, expected) => {
    expect(await lines(text)).toEqual(expected)
  })

  test('in a loop with a clean address', async () => {
    await call('PATCH', `/api/projects/${site.seeded.projectId}`, { htmlHandling: 'drop-trailing-slash' })
    expect(await lines('/about /about/ 301', { 'about.html': 'x' })).toEqual([
      'redirect-loop _redirects 1 /about',
      'redirect-hides-file _redirects 1 /about',
    ])
    await call('PATCH', `/api/projects/${site.seeded.projectId}`, { htmlHandling: null })
  })
})

describe('pages', () => {
  test('of a folder that is served are looked at where they are shown', async () => {
    const files = {
      'dist/index.html': '<a href="/a"><a href="/dist/a"><img src="b.png">',
      'dist/a.html': '<a href="../index.html">',
      'dist/404.html': 'x',
      'index.html': '<a href="/nothing">',
    }
    expect(await reported(files, { fields: { basePath: '/dist' } })).toEqual([
      'link-missing dist/index.html 1 /dist/a',
      'asset-missing dist/index.html 1 /b.png',
    ])
  })

  test('of an app answer every link but not for files', async () => {
    const files = { 'index.html': '<a href="/anything"><script src="/main.js"></script>' }
    expect(await reported(files)).toEqual(['asset-missing index.html 1 /main.js'])
  })

  test('that a rule answers are there', async () => {
    const rule = {
      proxyType: 'external_proxy',
      pathPattern: '/backend/*',
      targetUrl: 'https://other.example/',
    }
    const made = await call('POST', `/api/proxy-rules/project/${site.seeded.projectId}`, rule)
    expect(made.status).toBe(201)
    const files = {
      ...SITE,
      'a.html': '<a href="/backend/x"><a href="/old"><a href="/back">',
      _redirects: '/old /',
    }
    expect(await reported(files)).toEqual(['link-missing a.html 1 /back'])
  })

  test('on the own host by its whole address, and assets without TLS', async () => {
    const host = `${site.alias}--web--acme.localhost:3000`
    const files = { ...SITE, 'a.html': `<a href="http://${host}/b"><img src="http://other.example/x">` }
    expect(await reported(files)).toEqual([
      'link-missing a.html 1 /b',
      'mixed-content a.html 1 http://other.example/x',
    ])
  })

  test('on a domain of the alias', async () => {
    site.app.ctx.db.sqlite.run(
      `INSERT INTO domains (id, project_id, hostname, alias, challenge, verified_by, verified_at, created_at, updated_at)
       VALUES ('d1', ?, 'www.example.org', ?, 'x', 'admin', 1, 1, 1)`,
      [site.seeded.projectId, site.alias],
    )
    const files = {
      ...SITE,
      'a.html': '<a href="http://www.example.org:3000/b"><a href="http://www.example.org:3000/">',
    }
    expect(await reported(files)).toEqual(['link-missing a.html 1 /b'])
  })

  test('of another version are not meant', async () => {
    const first = await publish({ ...SITE, 'a.html': 'x' })
    await reportOf(first)
    expect(await reported({ ...SITE, 'b.html': '<a href="/a">' })).toEqual(['link-missing b.html 1 /a'])
  })
})

test('files that are keys, and clashes', async () => {
  const files = {
    ...SITE,
    'key.txt': '-----BEGIN PRIVATE KEY-----',
    'a.html': 'x',
    'a/index.html': 'y',
    'A.html': 'z',
    'sub/_redirects': '/x /y',
  }
  expect(await reported(files)).toEqual([
    'secret-published key.txt',
    'routing-file-elsewhere sub/_redirects',
    'case-collision a.html /A.html',
    'address-clash a.html /a/index.html',
  ])
})

test('more than a hundred of a kind are counted', async () => {
  const links = Array.from({ length: 130 }, (_, at) => `<a href="/n${at}">`).join('')
  const report = await reportOf(await publish({ ...SITE, 'a.html': links }))
  expect(report.findings).toHaveLength(100)
  expect(report.kinds).toEqual({ 'link-missing': 130 })
})

test('nothing of a content is stored', async () => {
  const id = await publish({ ...SITE, 'key.pem': '-----BEGIN PRIVATE KEY-----\nsecret-bytes' })
  const text = JSON.stringify(await reportOf(id))
  expect(text).toContain('key.pem')
  expect(text).not.toContain('secret-bytes')
})

test('a deployment that is deleted has none, nor one that a stranger asks for', async () => {
  const id = await publish(SITE, { fields: { alias: '' } })
  await reportOf(id)
  await site.app.addUser('stranger@example.com', 'user')
  const asked = await ask(site.app, 'GET', `/api/deployments/${id}/report`, { as: 'stranger@example.com' })
  expect(asked.status).toBe(404)
  expect((await call('DELETE', `/api/deployments/${id}`)).status).toBe(204)
  expect((await call('GET', `/api/deployments/${id}/report`)).status).toBe(404)
  const rows = site.app.ctx.db.sqlite
    .query('SELECT 1 FROM deployment_reports WHERE deployment_id = ?')
    .all(id)
  expect(rows).toEqual([])
})

test('a deployment from before there were reports has none, and says what to do', async () => {
  const id = await publish(SITE)
  await reportOf(id)
  site.app.ctx.db.sqlite.run('DELETE FROM deployment_reports WHERE deployment_id = ?', [id])
  const { status, body } = await call('GET', `/api/deployments/${id}/report`)
  expect([status, body['message']]).toEqual([
    404,
    'The deployment has no report: publish it again to get one',
  ])
})
