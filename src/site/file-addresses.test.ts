import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type FilesWorld, filesWorld } from '../modules/files/files.fixture.ts'
import { deleteFiles, findFile, keepFile, registerFile, stageFile } from '../modules/files/service.ts'
import { fileToken, type UploadFacts, uploadToken } from '../modules/files/tokens.ts'
import { rawConnection, sendRaw } from '../testing/raw-client.ts'
import { seedDeployment } from '../testing/seed.ts'
import { listening } from '../testing/test-app.ts'
import { until } from '../testing/until.ts'

/** contract 14.4. */

const ADMIN = 'localhost'
const SITE = 'production--docs--acme.localhost'
const PRIVATE = 'live--plans--acme.localhost'

let world: FilesWorld
let plansId: string
beforeAll(async () => {
  world = await filesWorld({ PROJECT_FILES_BYTES: '5000000', MAX_UPLOAD_BYTES: '4000000', LOG_LEVEL: 'info' })
  const files = { 'index.html': 'home', '_svc/uploads': 'a file', '_svc/files/a': 'a file' }
  plansId = (
    await seedDeployment(world.app, {
      ...{ owner: 'acme', repo: 'plans', sha: 'b'.repeat(40), alias: 'live', files },
      isPublic: false,
    })
  ).projectId
})
afterAll(() => world.close())

const upload = (more: Partial<UploadFacts> = {}): string =>
  uploadToken(world.app.ctx, {
    ...{ projectId: world.projectId, path: 'in/a.png', endsAt: world.app.ctx.now() + 60_000 },
    ...{ maxBytes: 1000, types: null },
    ...more,
  })
type Sent = { host?: string; type?: string; length?: string | null; headers?: Record<string, string> }
const put = (token: string, body: string, { host = SITE, type, length, headers }: Sent = {}) =>
  world.app.call('PUT', `/_svc/uploads?token=${token}`, {
    host,
    body,
    headers: {
      ...(length === null ? {} : { 'content-length': length ?? String(Buffer.byteLength(body)) }),
      ...(type === undefined ? {} : { 'content-type': type }),
      ...headers,
    },
  })
const link = (path: string, more: { endsAt?: number; filename?: string; projectId?: string } = {}): string =>
  fileToken(world.app.ctx, {
    ...{ projectId: world.projectId, path, endsAt: world.app.ctx.now() + 60_000, filename: null },
    ...more,
  })
const get = (token: string, { host = SITE, headers = {}, method = 'GET', name = 'x' } = {}) =>
  world.app.call(method, `/_svc/files/${name}?token=${token}`, { host, headers })
const errorOf = async (answer: Response | Promise<Response>) => {
  const { status, headers, ...rest } = await answer
  void rest
  const { error } = (await (await answer).json()) as { error: string }
  expect(headers.get('cache-control')).toBe('no-store')
  return [status, error]
}
const leftovers = () =>
  readdirSync(join(world.app.ctx.config.dataDir, 'tmp')).filter((name) => /^blob-/.test(name))

describe('the upload address', () => {
  test('stores the bytes, on the site, another one by its own token and the admin host', async () => {
    const answer = await put(upload(), 'picture', { type: 'image/png; x=y' })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      storageKey: 'acme/docs/uploads/in/a.png',
      size: 7,
      contentType: 'image/png',
    })
    const sha256 = Bun.SHA256.hash('picture', 'hex')
    expect(answer.headers.get('etag')).toBe(`"${sha256.slice(0, 32)}"`)
    expect(findFile(world.app.ctx, world.projectId, 'in/a.png')).toMatchObject({
      sha256,
      isRegistered: false,
    })
    expect((await put(upload(), 'again', { host: ADMIN })).status).toBe(200)
    // Nobody is signed in, and the site is private and has a file of this path.
    expect((await put(upload({ projectId: plansId }), 'x', { host: PRIVATE })).status).toBe(200)
    expect((await put(upload({ path: 'in/empty.png' }), '')).status).toBe(200)
  })

  test('is not for other methods, other sites, other purposes, or another time', async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PATCH']) {
      const answer = await world.app.call(method, `/_svc/uploads?token=${upload()}`, { host: SITE })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'PUT'])
    }
    expect((await put('', 'x')).status).toBe(400)
    const bare = await world.app.call('PUT', '/_svc/uploads', { host: SITE, body: 'x' })
    expect(bare.status).toBe(400)
    const invalid = [403, 'UPLOAD_URL_INVALID']
    const token = upload()
    for (const bad of [token.slice(0, -1), `${token}A`, 'x', 'a.b', link('in/a.png'), token.toUpperCase()])
      expect(await errorOf(put(bad, 'x'))).toEqual(invalid)
    expect(await errorOf(put(token, 'x', { host: PRIVATE }))).toEqual(invalid)
    expect(await errorOf(put(upload({ projectId: 'gone' }), 'x', { host: ADMIN }))).toEqual(invalid)
    const { now } = world.app.ctx
    for (const endsAt of [now(), now() - 1000])
      expect(await errorOf(put(upload({ endsAt }), 'x'))).toEqual([403, 'UPLOAD_URL_EXPIRED'])
  })

  test.each([
    [{}, { length: null }, 411, 'Length Required'],
    [{}, { headers: { 'transfer-encoding': 'chunked' } }, 411, 'Length Required'],
    [{ maxBytes: 3 }, {}, 413, 'FILE_TOO_LARGE'],
    [{ maxBytes: 9e15 }, { length: '4000001' }, 413, 'FILE_TOO_LARGE'],
    [{ maxBytes: 3, types: ['image/*'] }, {}, 413, 'FILE_TOO_LARGE'],
    [{ types: ['image/*'] }, { type: 'text/html' }, 415, 'INVALID_MIME_TYPE'],
    [{ types: ['image/*'], path: 'in/x.html' }, { type: 'image/png' }, 415, 'INVALID_MIME_TYPE'],
    [{ types: ['image/*'] }, { type: 'application/octet-stream' }, 415, 'INVALID_MIME_TYPE'],
    [{}, { length: '3' }, 400, 'Bad Request'],
    [{}, { length: '5' }, 400, 'Bad Request'],
  ] satisfies [Partial<UploadFacts>, Sent, number, string][])(
    '%j with %j: %d %s, and nothing is kept',
    async (facts, sent, status, error) => {
      const at = { path: 'refused/a.png', ...facts }
      expect(await errorOf(put(upload(at), 'four', sent))).toEqual([status, error])
      expect(findFile(world.app.ctx, world.projectId, at.path)).toBeUndefined()
      expect(leftovers()).toEqual([])
    },
  )

  test('a full project is refused before the body is read', async () => {
    const { ctx } = world.app
    const large = Buffer.alloc(3_000_000, 'x')
    await world.put('full/a', large)
    const token = upload({ path: 'full/b', maxBytes: 4_000_000 })
    expect(await errorOf(put(token, 'never', { length: '2500000' }))).toEqual([413, 'PROJECT_FILES_FULL'])
    const quota = { as: 'root@example.com', json: { bytes: 3_100_000 } }
    await world.app.addUser('root@example.com', 'admin')
    await world.app.call('PUT', `/api/projects/${world.projectId}/quota`, quota)
    expect(await errorOf(put(token, 'never', { length: '1000000' }))).toEqual([413, 'QUOTA_EXCEEDED'])
    await world.app.call('PUT', `/api/projects/${world.projectId}/quota`, { ...quota, json: { bytes: null } })
    expect(findFile(ctx, world.projectId, 'full/b')).toBeUndefined()
    await deleteFiles(ctx, world.projectId, { folder: 'full' })
  })

  test('of two at once the later to end stays, whole; a record of the path ends all addresses of before', async () => {
    const { ctx } = world.app
    const token = upload({ path: 'race/a' })
    const answers = await Promise.all([put(token, 'first'), put(token, 'the second')])
    const sizes = await Promise.all(answers.map(async (one) => ((await one.json()) as { size: number }).size))
    expect(sizes).toEqual([5, 10])
    const file = findFile(ctx, world.projectId, 'race/a')
    expect(sizes).toContain(file?.size ?? -1)
    if (file === undefined) throw new Error('It was stored')
    registerFile(ctx, file, () => null)
    expect(await errorOf(put(token, 'exchanged'))).toEqual([409, 'UPLOAD_URL_SPENT'])
    expect(findFile(ctx, world.projectId, 'race/a')).toMatchObject({
      sha256: file.sha256,
      isRegistered: true,
    })
    expect((await put(upload({ path: 'race/a' }), 'newer')).status).toBe(200)
    expect(findFile(ctx, world.projectId, 'race/a')).toMatchObject({ size: 5, isRegistered: false })
  })

  test('a PUT that began before the record was made does not exchange the file', async () => {
    const { ctx } = world.app
    const token = upload({ path: 'late/a' })
    await put(token, 'looked at')
    const file = findFile(ctx, world.projectId, 'late/a')
    if (file === undefined) throw new Error('It was stored')
    const gate = Promise.withResolvers<void>()
    const body = new ReadableStream({
      async pull(controller) {
        await gate.promise
        controller.enqueue(Buffer.from('exchanged'))
        controller.close()
      },
    })
    const late = world.app.call('PUT', `/_svc/uploads?token=${token}`, {
      host: SITE,
      body,
      headers: { 'content-length': '9' },
    })
    registerFile(ctx, file, () => null)
    gate.resolve()
    expect(await errorOf(late)).toEqual([409, 'UPLOAD_URL_SPENT'])
    expect(findFile(ctx, world.projectId, 'late/a')?.sha256).toBe(file.sha256)
  })

  test('a body that ends early keeps nothing; Expect: 100-continue is let on', async () => {
    const server = listening(world.app)
    const head = (path: string, length: number, more = '') =>
      `PUT /_svc/uploads?token=${upload({ path, maxBytes: 3_000_000 })} HTTP/1.1\r\nHost: ${SITE}\r\n` +
      `Content-Length: ${length}\r\n${more}\r\n`
    try {
      const port = server.port ?? 0
      const cut = await rawConnection({ port })
      cut.write(head('cut/a', 1_500_000))
      cut.write('x'.repeat(1_200_000))
      await until('the beginning of the body', () => leftovers().length === 1)
      cut.end()
      const whole = await sendRaw({ port }, [head('cut/b', 4, 'Expect: 100-continue\r\n'), 'four'])
      expect([100, 200]).toContain(whole.status)
    } finally {
      await server.stop(true)
    }
    await until('what was cut off to go', () => leftovers().length === 0)
    expect(findFile(world.app.ctx, world.projectId, 'cut/a')).toBeUndefined()
  })
})

describe('the address of a file', () => {
  beforeAll(async () => {
    await world.put('out/a b.txt', 'some text', 'text/plain')
  })

  test('shows it to whoever has the link, as the private file that it is', async () => {
    const answer = await get(link('out/a b.txt'), { name: 'anything.exe' })
    expect([answer.status, await answer.text()]).toEqual([200, 'some text'])
    expect(Object.fromEntries(answer.headers)).toEqual({
      'accept-ranges': 'bytes',
      'cache-control': 'private, max-age=60',
      'content-length': '9',
      'content-type': 'text/plain; charset=utf-8',
      etag: `"${Bun.SHA256.hash('some text', 'hex').slice(0, 32)}"`,
      'last-modified': 'Fri, 20 Nov 2026 12:00:00 GMT',
      vary: 'Cookie',
      'x-content-type-options': 'nosniff',
    })
    for (const host of [ADMIN, SITE]) expect((await get(link('out/a b.txt'), { host })).status).toBe(200)
    const long = await get(link('out/a b.txt', { endsAt: world.app.ctx.now() + 86_400_000 }))
    expect(long.headers.get('cache-control')).toBe('private, max-age=3600')
  })

  test('has the conditions and ranges of a site’s file', async () => {
    const token = link('out/a b.txt')
    const etag = (await get(token)).headers.get('etag') ?? ''
    const seen = async (headers: Record<string, string>, method = 'GET') => {
      const answer = await get(token, { headers, method })
      return [answer.status, await answer.text()]
    }
    expect(await seen({ 'if-none-match': etag })).toEqual([304, ''])
    expect(await seen({ range: 'bytes=5-' })).toEqual([206, 'text'])
    expect(await seen({ range: 'bytes=5-', 'if-range': '"other"' })).toEqual([200, 'some text'])
    expect((await seen({ range: 'bytes=99-' }))[0]).toBe(416)
    expect((await seen({ 'if-match': '"other"' }))[0]).toBe(412)
    expect(await seen({ 'accept-encoding': 'gzip' })).toEqual([200, 'some text'])
    const head = await get(token, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe('9')
    const post = await get(token, { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('downloads under the name that it has', async () => {
    const answer = await get(link('out/a b.txt', { filename: 'Bericht Ü.txt' }))
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="Bericht _.txt"; filename*=UTF-8''Bericht%20%C3%9C.txt`,
    )
  })

  test('ends, and is for its file on its site alone', async () => {
    const token = link('out/a b.txt')
    for (const bad of ['', 'x', token.slice(1), `${token}=`, upload({ path: 'out/a b.txt' })])
      expect(await errorOf(get(bad))).toEqual([403, 'FILE_URL_INVALID'])
    expect(await errorOf(get(token, { host: PRIVATE }))).toEqual([403, 'FILE_URL_INVALID'])
    const { now } = world.app.ctx
    for (const endsAt of [now(), now() - 1000])
      expect(await errorOf(get(link('out/a b.txt', { endsAt })))).toEqual([403, 'FILE_URL_EXPIRED'])
    expect(await errorOf(get(link('out/none.txt')))).toEqual([404, 'FILE_NOT_FOUND'])
    expect(await errorOf(get(link('a', { projectId: 'gone' }), { host: ADMIN }))).toEqual([
      404,
      'FILE_NOT_FOUND',
    ])
    for (const path of [
      '/_svc/files',
      '/_svc/files/',
      '/_svc/files/a/b',
      '/_svc/%66iles/a',
      '/_svc/uploads/',
    ])
      expect((await world.app.call('GET', `${path}?token=${token}`, { host: SITE })).status).toBe(404)
  })

  test('a reader in progress gets the old bytes whole while the file is replaced', async () => {
    const old = Buffer.alloc(2_500_000, 'old ')
    await world.put('replaced/a', old)
    const reading = await get(link('replaced/a'))
    await world.put('replaced/a', 'new')
    expect(Buffer.from(await reading.arrayBuffer()).equals(old)).toBe(true)
    expect(await (await get(link('replaced/a'))).text()).toBe('new')
  })

  test.each([
    ['a.html', null, 'text/html; charset=utf-8', 'sandbox'],
    ['a.svg', 'image/png', 'image/svg+xml; charset=utf-8', 'sandbox'],
    ['a.xhtml', null, 'application/xhtml+xml; charset=utf-8', 'sandbox'],
    ['a.xml', null, 'application/xml; charset=utf-8', 'sandbox'],
    ['a.js', 'image/png', 'text/plain; charset=utf-8', null],
    ['a.mjs', null, 'text/plain; charset=utf-8', null],
    ['a.wasm', null, 'application/octet-stream', null],
    ['a.png', 'text/html', 'image/png', null],
    ['a', 'image/png', 'image/png', null],
    ['a', null, 'application/octet-stream', null],
    ['a', 'text/html', 'application/octet-stream', null],
    ['a.unknown-ending', 'image/svg+xml', 'application/octet-stream', null],
    ['a', 'multipart/x-mixed-replace', 'application/octet-stream', null],
    ['a', 'text/javascript', 'application/octet-stream', null],
  ])('%s, declared as %s, is sent as %s with %s', async (name, declared, type, policy) => {
    await world.put(`types/${name}`, 'text', declared ?? 'application/octet-stream')
    const { headers } = await get(link(`types/${name}`))
    expect([headers.get('content-type'), headers.get('content-security-policy')]).toEqual([type, policy])
    const worker = get(link(`types/${name}`), { headers: { 'service-worker': 'script' } })
    expect((await worker).status).toBe(403)
  })
})

test('no log has a token, nor has an error', async () => {
  const token = upload()
  await put(token, 'x')
  const refused = await (await put(`${token}x`, 'x')).text()
  await get(link('out/a b.txt'))
  const { ctx, lines } = world.app
  const { projectId } = world
  const staged = await stageFile(ctx, projectId, (async function* () {})(), { maxBytes: 1 })
  await keepFile(ctx, { projectId, path: 'lost', contentType: 'a/b', isRegistered: false }, staged)
  ctx.db.sqlite.run("UPDATE blobs SET pack = 'none' WHERE size_bytes = 0")
  expect((await get(link('lost'))).status).toBe(500)
  const all = `${lines.join('\n')}${refused}`
  expect(all).toContain('/_svc/uploads')
  expect(all).toContain('/_svc/files/x')
  expect(all).not.toContain('token')
})
