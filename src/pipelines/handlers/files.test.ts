import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readFileToken, readUploadToken } from '../../modules/files/tokens.ts'
import { type PipelineApp, pipelineApp, type RunOptions, step } from '../../testing/pipeline-app.ts'
import { storedFiles, storeFile } from '../../testing/stored-files.ts'
import { NOON } from '../../testing/test-app.ts'
import { waitForWork } from '../track-work.ts'

/** The handlers for files that are there, or will be. `file-upload.test.ts` has those that come with a form. */
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
let app: PipelineApp
let schemaId: string

beforeAll(async () => {
  app = await pipelineApp()
  schemaId = app.addSchema('uploads', [
    ...['filename', 'storage_path', 'content_type', 'url', 'sub_dir', 'original_name'].map((name) => ({
      name,
      type: 'text' as const,
    })),
    { name: 'size', type: 'integer', unique: true },
  ])
})
afterEach(() => {
  for (const table of ['records', 'record_uniques', 'project_files', 'spent_uploads'])
    app.ctx.db.sqlite.run(`DELETE FROM ${table}`)
})
afterAll(() => app.close())

type Answered = { status: number; body: Record<string, unknown> & { data: Record<string, unknown> } }
const run = async (
  handler: string,
  config: Record<string, unknown>,
  options: RunOptions = { json: {} },
): Promise<Answered> => (await app.answer([step('s', handler, config)], options)) as Answered
const refused = ({ status, body }: Answered) => [status, body['error']]
const store = (path: string, more: Parameters<typeof storeFile>[3] = {}) =>
  storeFile(app, app.projectId, path, more)
const paths = () => storedFiles(app).map(({ path }) => path)

/** Post steps begin when the answer is on its way. */
async function afterAnswer(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  await waitForWork(app.ctx, 5000)
}

/** What no path may be, however it comes. */
const BAD_PATHS = [
  '..',
  'a/../b',
  './a',
  'a//b',
  'a/./b',
  'a\\b',
  'a\u0000b',
  'a\nb',
  ' / ',
  `${'x/'.repeat(520)}x`,
]

describe('presigned_upload', () => {
  const tokenOf = (body: Answered['body']) =>
    readUploadToken(
      app.ctx,
      new URL(String(body.data['uploadUrl']), 'http://x').searchParams.get('token') ?? '',
    )

  test('an address for a file of its own', async () => {
    const config = { subDir: 'videos', maxFileSize: 2000, allowedMimeTypes: ['video/*'], dateBucket: true }
    const { body } = await run('presigned_upload', config, { json: { filename: 'our hut.mp4' } })
    const { uploadUrl, storageKey, publicPath, storedFilename, ...others } = body.data
    expect(others).toEqual({
      originalName: 'our hut.mp4',
      expiresIn: 3600,
      expiresAt: '2026-11-20T13:00:00.000Z',
      maxFileSize: 2000,
      allowedMimeTypes: ['video/*'],
    })
    expect(storedFilename).toMatch(new RegExp(`^${UUID}-our_hut\\.mp4$`))
    expect(storageKey).toBe(`acme/site/uploads/videos/2026-11-20/${storedFilename}`)
    expect(publicPath).toBe(`/api/uploads/videos/2026-11-20/${storedFilename}`)
    expect(String(uploadUrl)).toStartWith('/_svc/uploads?token=')
    expect(tokenOf(body)).toMatchObject({
      projectId: app.projectId,
      path: `videos/2026-11-20/${storedFilename}`,
      endsAt: NOON + 3_600_000,
      maxBytes: 2000,
      types: ['video/*'],
    })
    expect(storedFiles(app)).toEqual([])
  })

  test('what is not configured is null, and bounded all the same', async () => {
    const config = { subDir: 'videos', expiresIn: 86_400, filename: 'input.name' }
    const { body } = await run('presigned_upload', config, { json: { name: 'a.mp4' } })
    expect(body.data).toMatchObject({ expiresIn: 3600, maxFileSize: null, allowedMimeTypes: null })
    expect(tokenOf(body)).toMatchObject({ maxBytes: 104_857_600, types: null })
  })

  test.each([
    [{ path: 'Design Docs/doc.md' }, 'sites/1/Design Docs/doc.md', 'doc.md'],
    [{ path: '/a..b/', filename: 'Doc.md' }, 'sites/1/a..b', 'Doc.md'],
    [{ path: 'u\u0308.md' }, 'sites/1/ü.md', 'ü.md'],
  ])('verbatim %j', async (json, path, originalName) => {
    const config = { subDir: '/sites/1/', keyStrategy: 'verbatim' }
    const { body } = await run('presigned_upload', config, { json })
    const key = `acme/site/uploads/${path}`
    expect(body.data).toMatchObject({ storageKey: key, originalName })
    expect(tokenOf(body)).toMatchObject({ path })
  })

  test.each<[Record<string, unknown>, Record<string, unknown>, string]>([
    [{ subDir: 'a' }, {}, 'MISSING_FILENAME'],
    [{ subDir: 'a', filename: 'input.nothing' }, { filename: 'a' }, 'MISSING_FILENAME'],
    [{ subDir: 'a', keyStrategy: 'verbatim' }, { filename: 'a' }, 'MISSING_KEY'],
    [{ subDir: 'input.a', keyStrategy: 'verbatim' }, { path: 'a' }, 'INVALID_PATH'],
    [{ subDir: 'a', expiresIn: 0 }, { filename: 'a' }, 'Bad Request'],
  ])('%j with %j is 400 %s', async (config, json, error) => {
    expect(refused(await run('presigned_upload', config, { json }))).toEqual([400, error])
  })

  test.each(BAD_PATHS)('%j is no folder and no key', async (path) => {
    const folder = { subDir: 'input.path', filename: 'a' }
    const key = { subDir: 'a', keyStrategy: 'verbatim' }
    for (const config of [folder, key])
      expect(refused(await run('presigned_upload', config, { json: { path } }))[0]).toBe(400)
  })
})

describe('register_upload', () => {
  const ID = '0b6ad0a5-6d3f-4a8b-9c59-1f2f3c4d5e6f'
  const PATH = `videos/${ID}-a.mp4`
  const KEY = `acme/site/uploads/${PATH}`
  const config = () => ({ schemaId, subDir: 'videos' })
  const register = (
    more: Record<string, unknown> = {},
    json: Record<string, unknown> = { storageKey: KEY },
  ) => run('register_upload', { ...config(), ...more }, { json })

  test('makes the record of what came', async () => {
    await store(PATH, { type: 'video/mp4' })
    const { status, body } = await register({}, { storageKey: KEY, originalName: 'Our hut.mp4' })
    const shown = {
      filename: `${ID}-a.mp4`,
      url: `/api/uploads/${PATH}`,
      storage_path: KEY,
      content_type: 'video/mp4',
      size: 9,
      original_name: 'Our hut.mp4',
    }
    expect([status, body.data]).toEqual([200, { id: body.data['id'], ...shown }])
    expect(app.stored(schemaId)).toEqual([{ ...shown, sub_dir: 'videos' }])
    expect(storedFiles(app)).toMatchObject([{ path: PATH, isRegistered: true }])
  })

  test('without a name for people it is the one of the key', async () => {
    await store(PATH)
    expect((await register()).body.data).toMatchObject({ original_name: 'a.mp4' })
  })

  test('a record that is refused leaves the file as it was', async () => {
    await store(PATH)
    await store('videos/b.mp4')
    expect((await register()).status).toBe(200)
    expect((await register({}, { storageKey: 'acme/site/uploads/videos/b.mp4' })).status).toBe(409)
    expect(storedFiles(app)).toMatchObject([
      { isRegistered: true },
      { path: 'videos/b.mp4', isRegistered: false },
    ])
  })

  test.each<[Record<string, unknown>, [number, string]]>([
    [{ maxFileSize: 8 }, [413, 'FILE_TOO_LARGE']],
    [{ allowedMimeTypes: ['video/*'] }, [415, 'INVALID_MIME_TYPE']],
  ])('what breaks %j is deleted', async (limit, error) => {
    await store(PATH)
    expect(refused(await register({ ...limit, deleteOnViolation: false }))).toEqual(error)
    expect(paths()).toEqual([PATH])
    expect(refused(await register(limit))).toEqual(error)
    expect(paths()).toEqual([])
    expect(app.stored(schemaId)).toEqual([])
  })

  test.each<[Record<string, unknown>, [number, string]]>([
    [{}, [400, 'MISSING_STORAGE_KEY']],
    [{ storageKey: 7 }, [400, 'MISSING_STORAGE_KEY']],
    [{ storageKey: KEY }, [404, 'UPLOAD_NOT_FOUND']],
    ...[
      'acme/site/uploads/photos/a.mp4',
      'acme/site/uploads/videos2/a.mp4',
      'acme/site/uploads/videos',
      'acme/site/uploads/videos/../photos/a.mp4',
      'acme/site/uploads/videos//a.mp4',
      'acme/other/uploads/videos/a.mp4',
      'acme/site2/uploads/videos/a.mp4',
      'videos/a.mp4',
      '/api/uploads/videos/a.mp4',
    ].map((storageKey): [Record<string, unknown>, [number, string]] => [
      { storageKey },
      [400, 'INVALID_STORAGE_KEY'],
    ]),
  ])('%j is %j', async (json, error) => {
    await store('photos/a.mp4')
    expect(refused(await register({}, json))).toEqual(error)
  })
})

describe('file_serve_handler', () => {
  const get = (path: string, config: Record<string, unknown> = { subDir: 'photos' }, more: RunOptions = {}) =>
    app.run([step('s', 'file_serve_handler', config)], { method: 'GET', path, ...more })

  test('what is behind the folder in the address', async () => {
    await store('photos/2026/a.png')
    const answer = await get('/api/uploads/photos/2026/a.png')
    expect([answer.status, await answer.text()]).toEqual([200, 'the bytes'])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'private, max-age=3600',
      vary: 'Cookie',
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      'last-modified': 'Fri, 20 Nov 2026 12:00:00 GMT',
    })
    const etag = answer.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"/)
    const asked = (headers: Record<string, string>) =>
      get('/api/uploads/photos/2026/a.png', undefined, { headers })
    expect((await asked({ 'if-none-match': etag })).status).toBe(304)
    const part = await asked({ range: 'bytes=4-' })
    expect([part.status, await part.text()]).toEqual([206, 'bytes'])
    expect((await asked({ range: 'bytes=99-' })).status).toBe(416)
    expect((await asked({ 'service-worker': 'script' })).status).toBe(403)
  })

  test('the file that an expression names, kept as the rule says', async () => {
    await store('photos/a.png')
    const config = { key: 'photos/{{request.query.name}}', cacheability: 'public', cacheMaxAge: 60 }
    const answer = await get('/api/picture?name=a.png', config)
    expect([answer.status, answer.headers.get('cache-control'), answer.headers.get('vary')]).toEqual([
      200,
      'public, max-age=60',
      null,
    ])
  })

  test.each([
    ['photos/a b.png', 'a%20b.png'],
    ['photos/a%20b.png', 'a%2520b.png'],
    ['photos/ü.png', '%C3%BC.png'],
    ['photos/ü.png', 'u%CC%88.png'],
    ['photos/a..b', 'a..b'],
  ])('%s is at %s', async (stored, asked) => {
    await store(stored)
    expect((await get(`/api/uploads/photos/${asked}`)).status).toBe(200)
  })

  test.each([
    'photos/missing.png',
    'photos/',
    'photos',
    'photos2/a.png',
    'private/a.png',
    'photos/../private/a.png',
    'photos/%2e%2e/private/a.png',
    'photos/..%2fprivate%2fa.png',
    'photos/%252e%252e/private/a.png',
    'photos/..%5cprivate%5ca.png',
    'photos//a.png',
    'photos/.%2fa.png',
    'photos/a.png/',
    'photos/a.png%20',
    'photos/a.png%00',
    'photos/%zz',
    `photos/${'a'.repeat(2000)}`,
  ])('%s is not there', async (path) => {
    for (const one of ['private/a.png', 'photos2/a.png', 'photos/a.png']) await store(one)
    const answer = await get(`/api/uploads/${path}`)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([404, 'no-store'])
    expect(await answer.json()).toMatchObject({ error: 'FILE_NOT_FOUND', step: 's' })
  })

  test.each([...BAD_PATHS, '', null])('no file has the key %j', async (path) => {
    const config = { key: 'input.path' }
    expect(refused(await run('file_serve_handler', config, { json: { path } }))).toEqual([
      404,
      'FILE_NOT_FOUND',
    ])
  })

  test.each<[string, Record<string, unknown>, string | null, string | null]>([
    ['a.html', {}, 'text/html', 'sandbox'],
    ['a.svg', {}, 'image/svg+xml', 'sandbox'],
    ['a.js', {}, 'text/plain', null],
    ['a.html', { allowScripts: true }, 'text/html', 'sandbox allow-scripts'],
    ['a.js', { allowScripts: 'true' }, 'text/javascript', 'sandbox allow-scripts'],
  ])('%s with %j', async (name, config, type, policy) => {
    await store(`photos/${name}`)
    const { headers } = await get(`/api/uploads/photos/${name}`, { subDir: 'photos', ...config })
    expect(headers.get('content-type')?.split(';')[0] ?? null).toBe(type)
    expect(headers.get('content-security-policy')?.split(' allow-forms')[0] ?? null).toBe(policy)
  })

  test('the file of another project is not there', async () => {
    await storeFile(app, app.addProject('second'), 'photos/a.png')
    expect((await get('/api/uploads/photos/a.png')).status).toBe(404)
  })

  test('it ends the run, and post steps do not run', async () => {
    await store('photos/a.png')
    const steps = [step('s', 'file_serve_handler', { key: 'photos/a.png' }), step('next', 'response_handler')]
    const postSteps = [step('late', 'data_create', { schemaId, fields: {} })]
    const answer = await app.run({ steps, postSteps }, { method: 'GET' })
    expect(await answer.text()).toBe('the bytes')
    await afterAnswer()
    expect(app.stored(schemaId)).toEqual([])
  })
})

describe('signed_url', () => {
  const HOST = { headers: { host: 'site.test' } }
  const sign = async (config: Record<string, unknown>) => run('signed_url', config, { json: {}, ...HOST })
  const linkOf = ({ body }: Answered) => new URL(String(body.data['url']))

  test.each([
    ['acme/site/uploads/videos/a b.mp4', 'videos/a b.mp4', 'a%20b.mp4'],
    ['/api/uploads/videos/a%20b.mp4', 'videos/a b.mp4', 'a%20b.mp4'],
    ['/api/uploads/a.mp4', 'a.mp4', 'a.mp4'],
  ])('%s', async (path, signed, shown) => {
    const link = linkOf(await sign({ path }))
    expect([link.origin, link.pathname]).toEqual(['http://site.test', `/_svc/files/${shown}`])
    expect(readFileToken(app.ctx, link.searchParams.get('token') ?? '')).toEqual({
      projectId: app.projectId,
      path: signed,
      endsAt: NOON + 3_600_000,
      filename: null,
    })
  })

  test.each([
    ['Our hut.mp4', 'Our hut.mp4'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\x\\a.mp4', 'a.mp4'],
    ['"a\r\nb".mp4', 'ab.mp4'],
    ['n'.repeat(300), 'n'.repeat(200)],
    ['a/', null],
    ['', null],
  ])('the download %j is called %p', async (filename, called) => {
    const answered = await run(
      'signed_url',
      { path: 'acme/site/uploads/a', filename: 'input.f' },
      { json: { f: filename }, ...HOST },
    )
    const token = linkOf(answered).searchParams.get('token') ?? ''
    expect(readFileToken(app.ctx, token)).toMatchObject({ filename: called })
  })

  test('lasts a week at most', async () => {
    const link = linkOf(await sign({ path: 'acme/site/uploads/a', expiresIn: 9_999_999 }))
    expect(readFileToken(app.ctx, link.searchParams.get('token') ?? '')).toMatchObject({
      endsAt: NOON + 604_800_000,
    })
  })

  test('names the host that the visitor sees', async () => {
    const answered = await run(
      'signed_url',
      { path: 'acme/site/uploads/a' },
      { json: {}, headers: { host: 'Www.Example.org:8443' } },
    )
    expect(linkOf(answered).host).toBe('www.example.org:8443')
  })

  test('a post step names the host of the request', async () => {
    const postSteps = [
      step('link', 'signed_url', { path: 'acme/site/uploads/a' }),
      step('kept', 'data_create', { schemaId, fields: { url: 'steps.link.url' } }),
    ]
    await app.run({ steps: [], postSteps }, { headers: { host: 'www.example.org' } })
    await afterAnswer()
    expect(app.stored(schemaId)).toMatchObject([
      { url: expect.stringMatching(/^http:\/\/www\.example\.org\/_svc\/files\/a\?token=/) },
    ])
  })

  test.each([
    'acme/other/uploads/a',
    'acme/site/uploads/../x',
    'acme/site/uploads/',
    'other',
    '/api/uploads/',
    '/api/uploads/a%2f..%2fb',
    'https://example.org/api/uploads/a',
    'input.nothing',
  ])('%s is no file of the project', async (path) => {
    expect(refused(await sign({ path }))).toEqual([400, 'INVALID_PATH'])
  })
})

describe('file_delete', () => {
  const remove = (config: Record<string, unknown>, json: Record<string, unknown> = {}) =>
    run('file_delete', config, { json })
  const files = async (...all: string[]) => {
    for (const path of all) await store(path)
  }

  test.each<[Record<string, unknown>, number, string[]]>([
    [{ prefix: 'videos/1' }, 2, ['videos/1', 'videos/10/a', 'x']],
    [{ prefix: '/videos/1/' }, 2, ['videos/1', 'videos/10/a', 'x']],
    [{ prefix: 'acme/site/uploads/videos' }, 4, ['x']],
    [{ prefix: 'nothing' }, 0, ['videos/1', 'videos/1/a', 'videos/1/b/c', 'videos/10/a', 'x']],
    [{ key: 'videos/1/a' }, 1, ['videos/1', 'videos/1/b/c', 'videos/10/a', 'x']],
    [{ key: 'acme/site/uploads/x' }, 1, ['videos/1', 'videos/1/a', 'videos/1/b/c', 'videos/10/a']],
    [{ key: 'acme/other/uploads/x' }, 0, ['videos/1', 'videos/1/a', 'videos/1/b/c', 'videos/10/a', 'x']],
    [{ key: 'videos' }, 0, ['videos/1', 'videos/1/a', 'videos/1/b/c', 'videos/10/a', 'x']],
  ])('%j', async (config, deleted, left) => {
    await files('videos/1', 'videos/1/a', 'videos/1/b/c', 'videos/10/a', 'x')
    expect((await remove({ ...config, dryRun: true })).body.data).toEqual({
      deleted,
      ...config,
      dryRun: true,
    })
    expect(paths()).toHaveLength(5)
    expect((await remove(config)).body.data).toEqual({ deleted, ...config, dryRun: false })
    expect(paths()).toEqual(left)
  })

  test('a list goes as a whole, or not at all', async () => {
    await files('a', 'b', 'c')
    const keys = ['a', 'acme/site/uploads/b', 'gone']
    expect(refused(await remove({ keys: 'input.keys' }, { keys: [...keys, 'a/../c'] }))).toEqual([
      400,
      'INVALID_PATH',
    ])
    expect(refused(await remove({ keys: 'input.keys' }, { keys: [...keys, null] }))).toEqual([
      400,
      'INVALID_PATH',
    ])
    expect(paths()).toEqual(['a', 'b', 'c'])
    expect((await remove({ keys: 'input.keys' }, { keys })).body.data).toEqual({
      deleted: 2,
      keys,
      dryRun: false,
    })
    expect(paths()).toEqual(['c'])
  })

  test('an empty list deletes nothing, and neither does one that is missing', async () => {
    await files('a')
    for (const keys of [[], null])
      expect((await remove({ keys: 'input.keys' }, { keys })).body.data).toMatchObject({ deleted: 0 })
    expect((await remove({ keys: 'input.keys' }, { keys: 'a' })).status).toBe(400)
    expect(paths()).toEqual(['a'])
  })

  test.each([...BAD_PATHS, '', '/', null])('%j selects nothing', async (path) => {
    await files('a')
    for (const selector of ['prefix', 'key'])
      expect(refused(await remove({ [selector]: 'input.path' }, { path }))).toEqual([400, 'INVALID_PATH'])
    expect(paths()).toEqual(['a'])
  })

  test('the files of other projects stay', async () => {
    const other = app.addProject('other')
    await storeFile(app, other, 'a')
    await files('a')
    expect((await remove({ prefix: 'a' })).body.data).toMatchObject({ deleted: 0 })
    expect((await remove({ key: 'a' })).body.data).toMatchObject({ deleted: 1 })
    expect(paths()).toEqual(['a'])
  })
})
