import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { SEED_OWNER, type Seeded, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { type Fields, type Files, UPLOADS, upload } from '../releases/releases.fixture.ts'
import type { ReportView } from './model.ts'
import { resumeReports, waitForReports } from './service.ts'

/** The report of an upload, with the real router. contract 13 §7. */
let app: TestApp
let seeded: Seeded
beforeAll(async () => {
  app = await testApp()
  seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'web',
    sha: 'f'.repeat(40),
    alias: 'production',
    files: { 'index.html': 'old', 'same.html': 'same', 'gone.html': 'gone' },
  })
  await resumeReports(app.ctx)
})
afterAll(() => app.close())

let count = 0
let alias = ''
beforeEach(() => {
  alias = `site-${count}`
})
const nextSha = (): string => {
  count += 1
  return count.toString(16).padStart(40, '0')
}

const publish = async (files: Files, fields: Fields = {}, by = upload): Promise<string> => {
  const { status, body } = await by(app, files, { commitSha: nextSha(), alias, ...fields })
  expect({ status, error: body.message ?? '' }).toEqual({ status: 201, error: '' })
  return body.deploymentId ?? body.deployment?.id ?? ''
}

const get = (id: string, as: typeof SEED_OWNER | null = SEED_OWNER) =>
  ask(app, 'GET', `/api/deployments/${id}/report`, as === null ? {} : { as })

async function reportOf(id: string): Promise<ReportView> {
  await waitForReports(app.ctx)
  const { status, body } = await get(id)
  expect(status).toBe(200)
  return body as unknown as ReportView
}

const told = ({ findings }: ReportView): string[] =>
  findings.map(({ kind, file, line, target }) => [kind, file, line, target].join(' '))

test('without a named alias it is compared with what production showed', async () => {
  const { status, body } = await upload(
    app,
    { 'index.html': 'new', 'same.html': 'same', 'more.html': 'more' },
    { commitSha: nextSha() },
  )
  expect(status).toBe(201)
  const id = body.deploymentId ?? body.deployment?.id ?? ''
  expect(await reportOf(id)).toMatchObject({
    deploymentId: id,
    status: 'complete',
    comparedWith: { alias: 'production', deploymentId: seeded.deploymentId, commitSha: 'f'.repeat(40) },
    files: { added: 1, changed: 1, removed: 1, unchanged: 1 },
    paths: [
      { kind: 'changed', path: 'index.html' },
      { kind: 'added', path: 'more.html' },
      { kind: 'removed', path: 'gone.html' },
    ],
    findings: [],
    kinds: {},
    truncated: false,
    completedAt: expect.any(String),
  })
})

test('with an alias that showed nothing, with what it showed before, and at most 200 paths', async () => {
  const many = Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`p${at}.html`, 'x']))
  const first = await reportOf(await publish({ 'index.html': 'a', ...many }))
  expect([first.comparedWith, first.files.added, first.paths.length]).toEqual([null, 251, 200])
  const second = await reportOf(await publish({ 'index.html': 'b' }))
  expect(second.comparedWith).toMatchObject({ alias, deploymentId: first.deploymentId })
  expect(second.files).toEqual({ added: 0, changed: 1, removed: 250, unchanged: 0 })
})

test('links are asked of the router: pages, rules, proxy lines, clean addresses and own hosts answer', async () => {
  const page = [
    '<a href="/none"></a><a href="/about"></a><a href="about.html#x"></a><a href="/old"></a>',
    '<a href="/api-like/x"></a><a href="mailto:a@b.c"></a><a href="https://else.example.com/none"></a>',
    '<img src="no.png?v=1&amp;w=2"><script src="//cdn.example.com/a.js"></script>',
    '<img src="http://cdn.example.com/a.png"><a href="http://cdn.example.com/"></a>',
    '<!-- <a href="/comment"> --><a href="/none"></a>',
  ].join('\n')
  const report = await reportOf(
    await publish({
      'index.html': page,
      '404.html': 'x',
      'about.html': 'x',
      'style.css': 'a { b: url(none.png) }\n@import "about.html";',
      _redirects: '/old /about\n/api-like/* https://api.example.com/:splat 200\n',
    }),
  )
  expect(told(report)).toEqual([
    'link-missing index.html 1 /none',
    'asset-missing index.html 3 /no.png?v=1&w=2',
    'mixed-content index.html 4 http://cdn.example.com/a.png',
    'asset-missing style.css 1 /none.png',
  ])
  expect(report.kinds).toEqual({ 'link-missing': 1, 'asset-missing': 2, 'mixed-content': 1 })
  expect(report.findings.every(({ severity }) => severity === 'warning')).toBe(true)
})

test('a single-page app answers every link but those to scripts', async () => {
  const html = '<a href="/any/thing"></a><script src="/no.js"></script>'
  const report = await reportOf(await publish({ '200.html': html, 'index.html': 'x' }))
  expect(told(report)).toEqual(['asset-missing 200.html 1 /no.js'])
})

test('with a base path: what the host does not show is not read, and addresses are those of the host', async () => {
  const files = {
    'dist/index.html': '<a href="/a"></a><a href="/b"></a>',
    'dist/a.html': 'x',
    'dist/404.html': 'x',
    'b.html': '<a href=/no>',
  }
  const report = await reportOf(await publish(files, { basePath: '/dist' }))
  expect(told(report)).toEqual(['link-missing dist/index.html 1 /b'])
})

test('lines: refused, loop, chain, missing target, hidden file', async () => {
  const text = '/l1 /l2\n/l2 /l1\n/x /none\n/docs/* /index.html\n/y /z 299\n'
  const report = await reportOf(
    await publish({
      'index.html': 'x',
      '404.html': 'x',
      'docs/a.html': 'x',
      _redirects: text,
      _headers: 'X-A: b\n',
    }),
  )
  expect(report.routing).toMatchObject({ redirects: 4, headers: 0, refused: 2 })
  expect(told(report).toSorted()).toEqual([
    'header-refused _headers 1 ',
    'redirect-chain _redirects 1 /l2',
    'redirect-chain _redirects 2 /l1',
    'redirect-hides-file _redirects 4 /docs/a.html',
    'redirect-loop _redirects 1 /l1',
    'redirect-loop _redirects 2 /l2',
    'redirect-refused _redirects 5 ',
    'redirect-target-missing _redirects 3 /none',
  ])
  expect(report.findings.slice(0, 4).every(({ severity }) => severity === 'error')).toBe(true)
})

test('100 of a kind are told, all are counted', async () => {
  const links = Array.from({ length: 150 }, (_, at) => `<a href="/none-${at}">`).join('')
  const report = await reportOf(await publish({ 'index.html': links, '404.html': 'x' }))
  expect([report.findings.length, report.kinds]).toEqual([100, { 'link-missing': 150 }])
})

test.each(Object.entries(UPLOADS))(
  'left out, by %s: told by name, without what it holds',
  async (kind, by) => {
    const isNamed = kind === 'manifest'
    const files = {
      'index.html': 'x',
      ...(isNamed ? {} : { '.env': 'TOKEN=hunter2', 'node_modules/a.js': 'x' }),
    }
    const leftOut = ['.env', 'node_modules/a.js']
    const fields = isNamed ? { leftOut: leftOut as unknown as string } : {}
    const report = await reportOf(await publish(files, fields, by))
    expect(told(report).toSorted()).toEqual(['left-out node_modules/a.js  ', 'secret-left-out .env  '])
    expect(JSON.stringify(report)).not.toContain('hunter2')
  },
)

test('a private key is an error, and its text is not told', async () => {
  const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nsecret-text\n'
  const report = await reportOf(await publish({ 'index.html': 'x', 'notes.txt': key, 'a/id_rsa': 'x' }))
  expect(told(report)).toEqual(['secret-published a/id_rsa  ', 'secret-published notes.txt  '])
  expect(JSON.stringify(report)).not.toContain('secret-text')
})

test('a stranger, an unknown deployment and one that is deleted have none: 404', async () => {
  const id = await publish({ 'index.html': 'x' })
  await reportOf(id)
  expect((await get('nothing')).status).toBe(404)
  expect([401, 404]).toContain((await get(id, null)).status)
  const other = await publish({ 'index.html': 'y' })
  expect((await ask(app, 'DELETE', `/api/deployments/${id}`, { as: SEED_OWNER })).status).toBe(204)
  expect((await get(id)).status).toBe(404)
  expect(await reportOf(other)).toMatchObject({ status: 'complete' })
})
