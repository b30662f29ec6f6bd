import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { zip } from '../../../platform/archive/zip.fixture.ts'
import { SEED_OWNER, seedDeployment } from '../../../testing/seed.ts'
import { type TestApp, testApp } from '../../../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
  await seedDeployment(app, { owner: 'acme', repo: 'web', sha: 'f'.repeat(40), files: { 'index.html': 'x' } })
})
afterAll(() => app.close())
let count = 0
let sha = ''
beforeEach(() => {
  count += 1
  sha = count.toString(16).padStart(40, '0')
})

type Files = Record<string, string | Uint8Array<ArrayBuffer>>

function formOf(files: Files, fields: Record<string, string> = {}): FormData {
  const form = new FormData()
  const all = { repository: 'acme/web', commitSha: sha, ...fields }
  for (const [name, value] of Object.entries(all)) form.append(name, value)
  for (const [path, content] of Object.entries(files)) {
    form.append('files', new Blob([content]), path.split('/').at(-1))
  }
  form.append('filePaths', JSON.stringify(Object.keys(files)))
  return form
}

const upload = (files: Files, fields: Record<string, string> = {}) =>
  app.call('POST', '/api/deployments', { as: SEED_OWNER, body: formOf(files, fields) })

async function published(files: Files, fields: Record<string, string> = {}) {
  const answer = await upload(files, fields)
  expect(answer.status).toBe(201)
  return (await answer.json()) as { deployment: { id: string }; routing: unknown }
}

const routingOf = async (id: string, query = '') =>
  (await app.call('GET', `/api/deployments/${id}/routing${query}`, { as: SEED_OWNER })).json()

test('the answer of an upload counts what is in force and names what is not', async () => {
  const { routing } = await published({
    'index.html': 'x',
    _redirects: '/old /new\n/bad\n/gone/* 410\n',
    _headers: '/*\n  X-A: b\n  ETag: "x"\n',
  })
  expect(routing).toEqual({
    redirects: 2,
    headers: 1,
    refused: 2,
    problems: [
      { file: '_redirects', line: 2, message: expect.stringContaining('no target') },
      { file: '_headers', line: 3, message: expect.stringContaining('etag') },
    ],
  })
})

test('what is in force is shown with its defaults', async () => {
  const { deployment } = await published({
    'index.html': 'x',
    _redirects:
      '/a id=:id tag=new /b/:id\n/app/* 200!\n/gone 410\n/p /q 302 role=viewer Language=de,fr\n/x https://b.test/ 308\n',
    _headers: '/blog/:slug\n  Link: </:slug>\n  ! X-Content-Type-Options\n',
  })
  const line = (number: number, more: object) => ({
    line: number,
    query: {},
    force: false,
    conditions: {},
    ...more,
  })
  expect(await routingOf(deployment.id)).toEqual({
    folder: '',
    redirects: [
      line(1, { source: '/a', query: { id: ':id', tag: 'new' }, target: '/b/:id', status: 301 }),
      line(2, { source: '/app/*', target: '/:splat', status: 200, force: true }),
      line(3, { source: '/gone', target: null, status: 410 }),
      line(4, {
        source: '/p',
        target: '/q',
        status: 302,
        conditions: { Role: ['viewer'], Language: ['de', 'fr'] },
      }),
      line(5, { source: '/x', target: 'https://b.test/', status: 308 }),
    ],
    headers: [
      {
        line: 1,
        path: '/blog/:slug',
        set: [{ name: 'link', value: '</:slug>' }],
        unset: ['x-content-type-options'],
      },
    ],
    problems: [],
  })
})

test('every folder has its own; the base path is the default', async () => {
  const { deployment, routing } = await published(
    { 'dist/index.html': 'x', 'dist/_redirects': '/a /b\nbad', _redirects: '/c /d\n/e /f' },
    { basePath: 'dist' },
  )
  expect(routing).toMatchObject({
    redirects: 1,
    refused: 1,
    problems: [{ file: 'dist/_redirects', line: 2 }],
  })
  expect(await routingOf(deployment.id)).toMatchObject({ folder: '/dist', redirects: [{ source: '/a' }] })
  for (const folder of ['', '/'])
    expect(await routingOf(deployment.id, `?folder=${folder}`)).toMatchObject({
      folder: '',
      redirects: [{ source: '/c' }, { source: '/e' }],
    })
  expect(await routingOf(deployment.id, '?folder=dist')).toMatchObject({ folder: '/dist' })
  expect(await routingOf(deployment.id, '?folder=none')).toEqual({
    folder: '/none',
    redirects: [],
    headers: [],
    problems: [],
  })
})

test('a file that is no UTF-8, or too large, is not used at all', async () => {
  const latin = await published({ _redirects: Uint8Array.of(0x2f, 0x61, 0x20, 0x2f, 0xe9, 0x0a) })
  expect(latin.routing).toMatchObject({
    redirects: 0,
    refused: 1,
    problems: [{ file: '_redirects', line: 0 }],
  })
  sha = sha.replace(/^0/, '1')
  const large = await published({ _headers: '#'.repeat(5 * 1024 * 1024 + 1), _redirects: '\ufeff/a /b\r\n' })
  expect(large.routing).toMatchObject({
    redirects: 1,
    headers: 0,
    refused: 1,
    problems: [{ file: '_headers', line: 0 }],
  })
})

test('an upload to the same commit and a deleted file compile again', async () => {
  const { deployment } = await published({ 'index.html': 'x', _redirects: '/a /b' })
  const more = await published({ _headers: '/*\n  X-A: b', _redirects: '/a /b\n/c /d' })
  expect(more.routing).toMatchObject({ redirects: 2, headers: 1 })
  const id = more.deployment.id
  const { id: asset } = app.ctx.db.sqlite
    .query<{ id: string }, [string]>("SELECT id FROM assets WHERE deployment_id = ? AND path = '_redirects'")
    .get(id) as { id: string }
  expect((await app.call('DELETE', `/api/assets/${asset}`, { as: SEED_OWNER })).status).toBe(204)
  expect(await routingOf(id)).toMatchObject({ redirects: [], headers: [{ path: '/*' }] })
  expect(deployment.id).toBeString()
})

test('a password line in any folder refuses the publish, and nothing is kept', async () => {
  const files = { 'index.html': 'x', 'docs/_headers': '# locked\n/private/*\n  basic-auth: ann:secret\n' }
  const answer = await upload(files, { alias: 'locked' })
  expect(answer.status).toBe(400)
  const body = (await answer.json()) as { error: string; message: string }
  expect(body.error).toBe('HEADERS_BASIC_AUTH')
  expect(body.message).toContain('docs/_headers:3')
  expect(body.message).toContain('private')
  expect(body.message).not.toContain('secret')
  const rows = app.ctx.db.sqlite.query('SELECT 1 FROM deployments WHERE commit_sha = ?').all(sha)
  expect(rows).toEqual([])
})

test('lines that would fetch from this machine or its network are refused', async () => {
  const hosts = ['localhost', 'a.localhost', '127.0.0.1', '127.1', '[::1]', '10.1.2.3', '169.254.169.254']
  const text = [
    ...hosts.map((host, n) => `/${n}/* https://${host}/:splat 200`),
    '/ok/* https://b.example/:splat 200',
  ]
  const { routing } = await published({ _redirects: text.join('\n') })
  expect(routing).toMatchObject({ redirects: 1, refused: hosts.length })
})

test('all four uploads answer with routing', async () => {
  const files = { 'index.html': 'x', _redirects: '/a /b' }
  const counts = { redirects: 1, headers: 0, refused: 0, problems: [] }
  const assets = await app.call('POST', '/api/assets/upload', { as: SEED_OWNER, body: formOf(files) })
  expect([assets.status, await assets.json()]).toEqual([201, expect.objectContaining({ routing: counts })])
  sha = sha.replace(/^0/, '2')
  const body = JSON.stringify({
    owner: 'acme',
    repo: 'web',
    commitSha: sha,
    files: Object.entries(files).map(([path, text]) => ({
      path,
      sha256: Bun.SHA256.hash(text, 'hex'),
      size: text.length,
    })),
  })
  const begun = await app.call('POST', '/api/deployments/manifest', {
    as: SEED_OWNER,
    body,
    headers: { 'content-type': 'application/json' },
  })
  const slot = (await begun.json()) as { uploadId: string; missing: string[] }
  // Its contents are stored already, so the archive is empty.
  const sent = await app.call('PUT', `/api/deployments/manifest/${slot.uploadId}`, {
    as: SEED_OWNER,
    body: new Uint8Array(1024),
    headers: { 'content-type': 'application/x-tar' },
  })
  expect([sent.status, await sent.json()]).toEqual([201, expect.objectContaining({ routing: counts })])
  sha = sha.replace(/^2/, '3')
  const form = new FormData()
  form.append('repository', 'acme/web')
  form.append('commitSha', sha)
  form.append('file', new Blob([Uint8Array.from(zip(files))]), 'site.zip')
  const zipped = await app.call('POST', '/api/deployments/zip', { as: SEED_OWNER, body: form })
  const answer = { published: false, routing: counts }
  expect([zipped.status, await zipped.json()]).toEqual([201, expect.objectContaining(answer)])
})
