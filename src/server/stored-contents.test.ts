import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createOperatorKey } from '../modules/api-keys/service.ts'
import { openStage } from '../modules/deployments/blob-queries.ts'
import { findProblems } from '../modules/deployments/check.ts'
import { archive, tar } from '../modules/deployments/upload/upload.fixture.ts'
import { scheduleVariants, waitForVariants } from '../modules/deployments/variants.ts'
import { resumeReports, waitForReports } from '../modules/reports/service.ts'
import { randomBytes } from '../platform/chunks.fixture.ts'
import { type ContentsApp, contentsApp } from '../testing/contents-app.ts'
import { seedDeployment } from '../testing/seed.ts'
import { listening } from '../testing/test-app.ts'

/** Everything that reads contents, on a machine that has none of them. */

const HOST = 'production--site--acme.localhost'
const MIB = 2 ** 20
const LARGE = randomBytes(5 * MIB + 11, 7)
const sha256 = (bytes: Uint8Array | string) => Bun.SHA256.hash(bytes, 'hex')
const SHA = 'a'.repeat(40)
const FILES = {
  'index.html': '<h1>Hi</h1>',
  '404.html': '<h1>Nothing</h1>',
  'app.js': 'let a = 1; '.repeat(500),
  'video.mp4': LARGE,
  notes: 'plain text without a type',
  _redirects: '/old /index.html 200\n/gone /404.html 410\n',
  'docs/_headers': '/*\n  X-Docs: yes\n',
  'docs/page.html': '<a href="/nowhere">x</a>',
}

let app: ContentsApp
let server: ReturnType<typeof listening>
let deploymentId: string
let key: string
beforeAll(async () => {
  app = await contentsApp({}, { timeoutMs: 2_000 })
  await app.addUser('root@example.com', 'admin')
  ;({ deploymentId } = await seedDeployment(app, {
    owner: 'acme',
    repo: 'site',
    sha: SHA,
    alias: 'production',
    files: FILES,
    withVariants: true,
  }))
  key = createOperatorKey(app.ctx, { name: 'ci', repository: null })
  server = listening(app)
})
afterAll(async () => {
  await server.stop(true)
  app.close()
})
beforeEach(() => {
  app.store.fault = () => undefined
  app.forget()
  app.store.requests.length = 0
})

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: { host: HOST, 'accept-encoding': 'identity', ...headers },
    decompress: false,
    redirect: 'manual',
  })
const bytesOf = async (answer: Response) => new Uint8Array(await answer.arrayBuffer())

describe('a site', () => {
  test.each(Object.keys(FILES).filter((name) => !/_|404/.test(name)))('sends %s', async (name) => {
    const content = Buffer.from(FILES[name as keyof typeof FILES])
    const answer = await ask(`/${name}`)
    expect(answer.status).toBe(200)
    expect(sha256(await bytesOf(answer))).toBe(sha256(content))
    app.forget()
    const head = await ask(`/${name}`, {}, 'HEAD')
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(content.length)])
    expect(head.headers.get('content-type')).toBe(answer.headers.get('content-type') ?? '')
  })

  test('sends a compressed form', async () => {
    const answer = await ask('/app.js', { 'accept-encoding': 'gzip' })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(Buffer.from(Bun.gunzipSync(await bytesOf(answer))).toString()).toBe(FILES['app.js'])
  })

  test.each([
    ['/old', 200, FILES['index.html']],
    ['/gone', 410, FILES['404.html']],
    ['/nothing/here', 404, FILES['404.html']],
    ['/docs/page', 200, FILES['docs/page.html']],
  ])('%s is %i', async (path, status, text) => {
    const answer = await ask(path)
    expect([answer.status, await answer.text()]).toEqual([status, text])
  })

  test('a path form, with its sandbox, and a navigation to it', async () => {
    const path = `/public/acme/site/production/index.html`
    const answer = await ask(path, { host: 'localhost' })
    expect([answer.status, await answer.text()]).toEqual([200, FILES['index.html']])
    expect(answer.headers.get('content-security-policy')).toContain('sandbox')
    app.forget()
    const navigation = { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate', accept: 'text/html' }
    expect((await ask(path, { host: 'localhost', ...navigation })).status).toBe(302)
  })

  test('a range fetches no more than its blocks', async () => {
    const answer = await ask('/video.mp4', { range: `bytes=${3 * MIB - 5}-${3 * MIB + 4}` })
    expect(answer.status).toBe(206)
    expect(answer.headers.get('content-length')).toBe('10')
    expect(answer.headers.get('content-range')).toBe(`bytes ${3 * MIB - 5}-${3 * MIB + 4}/${LARGE.length}`)
    expect(await bytesOf(answer)).toEqual(new Uint8Array(LARGE.slice(3 * MIB - 5, 3 * MIB + 5)))
    expect(app.store.requests.map(({ headers }) => headers.get('range')).sort()).toEqual([
      `bytes=${2 * MIB}-${3 * MIB - 1}`,
      `bytes=${3 * MIB}-${4 * MIB - 1}`,
    ])
  })

  test.each([
    ['to the end', `bytes=${MIB}-`, LARGE.slice(MIB)],
    ['the last bytes', 'bytes=-7', LARGE.slice(-7)],
  ])('a range: %s', async (_, range, content) => {
    const answer = await ask('/video.mp4', { range })
    expect(answer.status).toBe(206)
    expect(sha256(await bytesOf(answer))).toBe(sha256(content))
  })

  test('several ranges', async () => {
    const answer = await ask('/video.mp4', { range: `bytes=0-3,${4 * MIB}-${4 * MIB + 2}` })
    expect(answer.status).toBe(206)
    const text = Buffer.from(await bytesOf(answer))
    expect(text.includes(LARGE.slice(0, 4))).toBe(true)
    expect(text.includes(LARGE.slice(4 * MIB, 4 * MIB + 3))).toBe(true)
  })

  test('a condition that holds asks nobody', async () => {
    const etag = (await ask('/app.js')).headers.get('etag') ?? ''
    app.forget()
    app.store.fault = () => ({ status: 500 })
    expect((await ask('/app.js', { 'if-none-match': etag })).status).toBe(304)
  })

  test('of before svc knew types by bytes', async () => {
    app.ctx.db.sqlite.run('UPDATE blobs SET traits = NULL')
    app.ctx.db.sqlite.run('UPDATE deployments SET revision = revision + 1')
    const answer = await ask('/notes')
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await answer.text()).toBe(FILES.notes)
  })
})

describe('while the store is away', () => {
  const away = () => {
    app.store.fault = () => ({ status: 500 })
  }

  test('what is not here is 503 and kept by nobody; what is here is served', async () => {
    await (await ask('/index.html')).text()
    away()
    expect((await ask('/index.html')).status).toBe(200)
    const answer = await ask('/video.mp4')
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await answer.json()).toMatchObject({ statusCode: 503, error: 'CONTENT_UNREACHABLE' })
    const page = await ask('/video.mp4', { accept: 'text/html' })
    expect([page.status, page.headers.get('retry-after'), page.headers.get('cache-control')]).toEqual([
      503,
      '5',
      'no-store',
    ])
    const ranged = await ask('/video.mp4', { range: 'bytes=0-1' })
    expect(ranged.status).toBe(503)
    const form = await ask('/public/acme/site/production/video.mp4', { host: 'localhost' })
    expect(form.status).toBe(503)
  })

  test('a large file ends before its end, not with other bytes', async () => {
    await Bun.sleep(1_000)
    const answer = await ask('/video.mp4', { range: 'bytes=0-10' })
    expect(answer.status).toBe(206)
    await answer.bytes()
    away()
    const whole = await ask('/video.mp4')
    expect(whole.status).toBe(200)
    const failure = await whole.bytes().catch((error) => error)
    expect(failure).toBeInstanceOf(Error)
  })

  test('nothing is published', async () => {
    away()
    const answer = await publish('b'.repeat(40), { 'x.html': 'new' })
    expect([answer.status, (await answer.json()).error]).toEqual([503, 'STORE_UNREACHABLE'])
    expect(
      app.ctx.db.sqlite.query('SELECT 1 FROM deployments WHERE commit_sha = ?').get('b'.repeat(40)),
    ).toBeNull()
  })
})

async function publish(
  commitSha: string,
  files: Record<string, string>,
  fields: Record<string, string> = {},
) {
  const query = new URLSearchParams({ owner: 'acme', repo: 'site', commitSha, ...fields })
  return app.call('POST', `/api/deployments?${query}`, {
    key,
    ...archive('application/x-tar', await tar(files)),
  })
}

describe('other readers', () => {
  beforeEach(() => Bun.sleep(1_000))

  test('the page of a file and of a folder', async () => {
    const { projectId, number } = app.ctx.db.sqlite
      .query<{ projectId: string; number: number }, [string]>(
        'SELECT project_id AS projectId, number FROM deployments WHERE id = ?',
      )
      .get(deploymentId) ?? { projectId: '', number: 0 }
    const path = `/projects/${projectId}/deployments/${number}/files`
    const file = await app.call('GET', `${path}?path=docs/page.html`, { as: 'root@example.com' })
    expect(file.status).toBe(200)
    expect(await file.text()).toContain('nowhere')
    const folder = await app.call('GET', path, { as: 'root@example.com' })
    expect(folder.status).toBe(200)
  })

  test('compressed forms of contents that are elsewhere', async () => {
    const more = await seedDeployment(app, {
      owner: 'acme',
      repo: 'other',
      sha: 'c'.repeat(40),
      files: { 'other.js': 'let b = 2; '.repeat(700), 'large.svg': `<svg>${'<g/>'.repeat(400_000)}</svg>` },
    })
    app.forget()
    scheduleVariants(app.ctx, more.deploymentId)
    await waitForVariants(app.ctx)
    const forms = app.ctx.db.sqlite.query<{ n: number }, []>('SELECT count(*) AS n FROM blob_variants').get()
    expect(forms?.n).toBeGreaterThanOrEqual(4)
    expect(app.lines.filter((line) => line.includes('could not be compressed'))).toEqual([])
  })

  test('a report reads pages and looks for secrets', async () => {
    app.forget()
    app.ctx.db.sqlite.run("UPDATE deployment_reports SET status = 'running', made = NULL")
    await resumeReports(app.ctx)
    await waitForReports(app.ctx)
    const row = app.ctx.db.sqlite
      .query<{ status: string; made: string }, [string]>(
        'SELECT status, made FROM deployment_reports WHERE deployment_id = ?',
      )
      .get(deploymentId)
    expect(row?.status).toBe('complete')
    expect(row?.made).toContain('nowhere')
  })

  test('a report waits for the store', async () => {
    app.ctx.db.sqlite.run("UPDATE deployment_reports SET status = 'running', made = NULL")
    app.forget()
    app.store.fault = () => ({ status: 500 })
    await resumeReports(app.ctx)
    await waitForReports(app.ctx)
    const status = () =>
      app.ctx.db.sqlite
        .query<{ status: string }, [string]>('SELECT status FROM deployment_reports WHERE deployment_id = ?')
        .get(deploymentId)?.status
    expect(status()).toBe('running')
    app.store.fault = () => undefined
    await Bun.sleep(1_000)
    await resumeReports(app.ctx)
    await waitForReports(app.ctx)
    expect(status()).toBe('complete')
  })

  test('a publish that keeps routing files of before, and one with a checks file', async () => {
    const files = { 'new.html': 'new', '.svc/checks.yaml': 'checks:\n  - path: /new\n    status: 200\n' }
    const answer = await publish(SHA, files, { basePath: '/new' })
    expect([answer.status, await answer.json()]).toMatchObject([201, {}])
    app.forget()
    expect((await ask('/old')).status).toBe(200)
  })

  test('taking a routing file out', async () => {
    const asset = app.ctx.db.sqlite
      .query<{ id: string }, []>(
        `SELECT a.id FROM assets a JOIN deployments d ON d.id = a.deployment_id
         WHERE a.path = 'docs/_headers' ORDER BY d.version DESC LIMIT 1`,
      )
      .get()
    const answer = await app.call('DELETE', `/api/assets/${asset?.id}`, { as: 'root@example.com' })
    expect(answer.status).toBe(204)
    app.forget()
    expect((await ask('/docs/page')).headers.get('x-docs')).toBeNull()
  })

  test('svc check reads everything, and says that it could not while the store is away', async () => {
    expect(await Array.fromAsync(findProblems(app.ctx))).toEqual([])
    app.forget()
    app.store.fault = () => ({ status: 500 })
    await expect(Array.fromAsync(findProblems(app.ctx))).rejects.toMatchObject({
      code: 'CONTENT_UNREACHABLE',
    })
  })

  test('the storage says how much is in the store and here', async () => {
    const answer = await app.call('GET', '/api/storage', { as: 'root@example.com' })
    const { store, contents, contentBytes } = await answer.json()
    expect(store).toEqual({
      contents,
      bytes: contentBytes,
      cacheBytes: expect.any(Number),
      cacheLimitBytes: 10 * 2 ** 30,
    })
  })
})

test('a large content that two store at once is one row, and the other object is to be removed', async () => {
  const content = randomBytes(2 * MIB, 99)
  const stages = [openStage(app.ctx), openStage(app.ctx)]
  for (const stage of stages) await stage.add(content)
  const sealed = await Promise.all(stages.map((stage) => stage.seal()))
  const { insertBlobs } = await import('../modules/deployments/blob-queries.ts')
  for (const blobs of sealed) insertBlobs(app.ctx, blobs)
  for (const stage of stages) stage.release()
  const removed = app.ctx.db.sqlite.query<{ key: string }, []>('SELECT key FROM removed_objects').all()
  expect(removed).toEqual([{ key: `files/${sha256(content)}-${sealed[1]?.[0]?.object}` }])
})
