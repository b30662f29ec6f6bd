import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FORM_TYPE, formBody, formPart } from '../../testing/form-body.ts'
import { type PipelineApp, pipelineApp, step } from '../../testing/pipeline-app.ts'
import { contentsOnDisk, storedFiles } from '../../testing/stored-files.ts'
import { createTestCa } from '../../testing/test-ca.ts'
import type { PipelineStep } from '../language/model.ts'
import { formFileOf } from '../uploaded-file.ts'

const MIB = 1024 * 1024
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/
const folder = mkdtempSync(join(tmpdir(), 'svc-upload-'))
let app: PipelineApp
let backend: Bun.Server<undefined>
let schemaId: string
let before: string[]

beforeAll(async () => {
  const ca = createTestCa()
  writeFileSync(join(folder, 'ca.pem'), ca.pem)
  backend = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: ca.issue({ names: ['backend.test'] }),
    fetch: standIn,
  })
  app = await pipelineApp({
    PROXY_ALLOWED_TARGETS: 'backend.test',
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    PROJECT_FILES_BYTES: `${24 * MIB}`,
    MAX_UPLOAD_BYTES: `${64 * MIB}`,
  })
  schemaId = app.addSchema('uploads', [
    ...['filename', 'storage_path', 'content_type', 'url', 'sub_dir', 'original_name', 'by'].map((name) => ({
      name,
      type: 'text' as const,
    })),
    { name: 'size', type: 'integer' },
    { name: 'slot', type: 'string', unique: true },
  ])
})
beforeEach(() => {
  before = contentsOnDisk(app)
})
afterEach(() => {
  app.ctx.db.sqlite.run('DELETE FROM records')
  app.ctx.db.sqlite.run('DELETE FROM record_uniques')
  app.ctx.db.sqlite.run('DELETE FROM project_files')
})
afterAll(async () => {
  await backend.stop(true)
  app.close()
  rmSync(folder, { recursive: true })
})

function standIn(request: Request): Response {
  const { pathname } = new URL(request.url)
  const [, word = '', count] = pathname.split('/')
  if (word === 'hop') {
    const next = Number(count) === 0 ? '/photo.png' : `/hop/${Number(count) - 1}`
    return new Response(null, { status: 302, headers: { location: next } })
  }
  if (word === 'plain') return Response.redirect('http://backend.test/photo.png', 302)
  if (word === 'inside') return Response.redirect('https://169.254.169.254/latest', 302)
  if (word === 'missing') return new Response('no', { status: 404 })
  if (word === 'cut') return new Response(cutOff(), { headers: { 'content-type': 'image/png' } })
  if (word === 'large') return new Response('x'.repeat(2000))
  return new Response('a picture', { headers: { 'content-type': 'image/png' } })
}

/** Ends the connection amid the body. */
const cutOff = () =>
  new ReadableStream({
    async pull(controller) {
      controller.enqueue(Buffer.from('half a pic'))
      await Bun.sleep(1)
      controller.error(new Error('cut off'))
    },
  })

const upload = (config: Record<string, unknown> = {}) => [
  step('up', 'file_upload_handler', { schemaId, subDir: 'photos', ...config }),
]
type Answered = { status: number; body: Record<string, unknown> & { data: Record<string, unknown> } }
const send = async (
  config: Record<string, unknown>,
  ...parts: Parameters<typeof formBody>
): Promise<Answered> =>
  (await app.answer(upload(config), { body: formBody(...parts), headers: FORM_TYPE })) as Answered
const PHOTO = { name: 'file', filename: 'photo.png', type: 'image/png', body: 'a picture' }

/** Neither a file, nor a record, nor bytes on the disk. */
function nothingIsKept(): void {
  expect(storedFiles(app)).toEqual([])
  expect(app.stored(schemaId)).toEqual([])
  expect(contentsOnDisk(app)).toEqual(before)
}

describe('what is stored', () => {
  test('file, record and output', async () => {
    const { status, body } = await send(
      { extraFields: { by: 'input.by', nowhere: 'x' }, dateBucket: true },
      { name: 'by', body: 'Ines' },
      { ...PHOTO, filename: 'our hut.png' },
    )
    expect(status).toBe(200)
    const { id, url } = body.data as { id: string; url: string }
    expect(body.data).toEqual({
      id,
      filename: 'our_hut.png',
      url,
      storage_path: url.replace('/api/', 'acme/site/'),
      content_type: 'image/png',
      size: 9,
      original_name: 'our hut.png',
    })
    expect(url).toMatch(new RegExp(`^/api/uploads/photos/2026-11-20/${UUID.source}-our_hut\\.png$`))
    const { id: _, ...shown } = body.data
    expect(app.stored(schemaId)).toEqual([{ ...shown, sub_dir: 'photos', by: 'Ines', slot: null }])
    expect(storedFiles(app)).toEqual([
      { path: url.slice('/api/uploads/'.length), size: 9, contentType: 'image/png', isRegistered: true },
    ])
  })

  test.each([
    ['C:\\\\pictures\\\\a.png', 'C__pictures_a.png', 'C:\\pictures\\a.png'],
    ['../../etc/passwd', '.._.._etc_passwd', '../../etc/passwd'],
    ['a\\"b.png', 'a_b.png', 'a"b.png'],
    ['a%0D%0Ab.png', 'a__b.png', 'a\r\nb.png'],
    ['übermut.png', '_bermut.png', 'übermut.png'],
    [`${'n'.repeat(300)}.png`, `${'n'.repeat(146)}.png`, `${'n'.repeat(300)}.png`],
  ])('%s', async (sent, filename, original) => {
    const { body } = await send({}, { ...PHOTO, filename: sent })
    expect(body.data).toMatchObject({ filename, original_name: original })
    expect(String(body.data['url'])).toEndWith(`-${filename}`)
  })

  test('steps see of the file what they saw before', async () => {
    const steps = [...upload(), step('seen', 'function_handler', { code: SEEN })]
    const { body } = await app.answer(steps, { body: formBody(PHOTO), headers: FORM_TYPE })
    expect(body).toEqual({
      success: true,
      data: { file: { filename: 'photo.png', contentType: 'image/png', size: 9 } },
    })
  })

  test('of two files called file the first', async () => {
    const { body } = await send({}, PHOTO, { ...PHOTO, filename: 'other.png', body: 'another' })
    expect(body.data).toMatchObject({ filename: 'photo.png', size: 9 })
    expect(storedFiles(app)).toHaveLength(1)
  })

  test.each([
    ['small', 'a picture'],
    ['large', 'a picture'.repeat(200_000)],
  ])('a second step stores the same %s file once more, by its own configuration', async (_, body) => {
    const other = (config = {}) =>
      step('other', 'file_upload_handler', { schemaId, subDir: 'copies', ...config })
    const form = { body: formBody({ ...PHOTO, body }), headers: FORM_TYPE }
    const both = (await app.answer([...upload(), other()], form)) as Answered
    expect(storedFiles(app)).toMatchObject([
      { path: expect.stringMatching(/^copies\//), size: body.length, isRegistered: true },
      { path: expect.stringMatching(/^photos\//), size: body.length, isRegistered: true },
    ])
    expect(app.stored(schemaId)).toHaveLength(2)
    expect(both.status).toBe(200)
    const [copy] = storedFiles(app)
    const served = await app.run([step('s', 'file_serve_handler', { key: copy?.path })], { method: 'GET' })
    expect(await served.text()).toBe(body)
    const refused = (await app.answer([...upload(), other({ maxFileSize: 1 })], form)) as Answered
    expect([refused.status, refused.body['error'], refused.body['step']]).toEqual([
      413,
      'FILE_TOO_LARGE',
      'other',
    ])
    expect(storedFiles(app)).toHaveLength(3)
  })

  test('an empty file is a file', async () => {
    const { body } = await send({}, { ...PHOTO, body: '' })
    expect(body.data).toMatchObject({ size: 0 })
  })
})

const SEEN = 'const handler = ({ request }) => request.body'

describe('what is refused leaves nothing', () => {
  test.each<[string, Record<string, unknown>, Parameters<typeof formBody>, number, string]>([
    ['no file', {}, [{ name: 'text', body: 'x' }], 400, 'NO_FILE'],
    ['a form whose file was left out', {}, [{ ...PHOTO, filename: '', body: '' }], 400, 'NO_FILE'],
    ['a file of another name', {}, [{ ...PHOTO, name: 'picture' }], 400, 'NO_FILE'],
    ['a field called file', {}, [{ name: 'file', body: 'x' }], 400, 'NO_FILE'],
    ['a byte too many', { maxFileSize: 8 }, [PHOTO], 413, 'FILE_TOO_LARGE'],
    ['another type', { allowedMimeTypes: ['image/jpeg'] }, [PHOTO], 415, 'INVALID_MIME_TYPE'],
    [
      'a page that is declared a picture',
      { allowedMimeTypes: ['image/*'] },
      [{ ...PHOTO, filename: 'x.html' }],
      415,
      'INVALID_MIME_TYPE',
    ],
    [
      'a page that is declared nothing',
      { allowedMimeTypes: ['image/*'] },
      [{ name: 'file', filename: 'x.html', body: 'x' }],
      415,
      'INVALID_MIME_TYPE',
    ],
    ['a folder that leads out', { subDir: 'a/../b' }, [PHOTO], 400, 'INVALID_PATH'],
    ['a folder of nothing', { subDir: 'input.folder' }, [PHOTO], 400, 'INVALID_PATH'],
    ['a record that is wrong', { extraFields: { size: 'many' } }, [PHOTO], 400, 'Bad Request'],
    [
      'a record that is too large',
      { extraFields: { by: 'input.by' } },
      [{ name: 'by', body: 'x'.repeat(2 * MIB) }, PHOTO],
      413,
      'RECORD_TOO_LARGE',
    ],
  ])('%s', async (_what, config, parts, status, error) => {
    const { status: answered, body } = await send(config, ...parts)
    expect([answered, body['error']]).toEqual([status, error])
    nothingIsKept()
  })

  test('a record that is there already', async () => {
    const config = { extraFields: { slot: 'one' } }
    expect((await send(config, PHOTO)).status).toBe(200)
    const held = contentsOnDisk(app)
    expect((await send(config, { ...PHOTO, body: 'another' })).status).toBe(409)
    expect([storedFiles(app).length, app.stored(schemaId).length]).toEqual([1, 1])
    expect(contentsOnDisk(app)).toEqual(held)
  })

  test('a file over the quota, and the server goes on', async () => {
    const large = { ...PHOTO, body: Buffer.alloc(13 * MIB, 1) }
    const config = { maxFileSize: 20 * MIB }
    expect((await send(config, large)).status).toBe(200)
    const { status, body } = await send(config, { ...large, body: Buffer.alloc(13 * MIB, 2) })
    expect([status, body['error']]).toEqual([413, 'PROJECT_FILES_FULL'])
    expect([storedFiles(app).length, app.stored(schemaId).length]).toEqual([1, 1])
    expect((await send(config, PHOTO)).status).toBe(200)
  })

  test('a file while too little disk is free', async () => {
    const full = await pipelineApp({ MIN_FREE_DISK: '1000t' })
    const steps = [
      step('up', 'file_upload_handler', { schemaId: full.addSchema('uploads', []), subDir: 'a' }),
    ]
    const answered = await full.answer(steps, { body: formBody(PHOTO), headers: FORM_TYPE })
    expect(answered).toMatchObject({ status: 507, body: { error: 'DISK_LOW' } })
    expect([storedFiles(full), contentsOnDisk(full)]).toEqual([[], []])
    full.close()
  })

  test('a step that does not run takes no file', async () => {
    const steps = [...upload({ condition: 'false' }), step('seen', 'function_handler', { code: SEEN })]
    const { body } = await app.answer(steps, { body: formBody(PHOTO), headers: FORM_TYPE })
    expect(body).toMatchObject({ data: { file: { size: 9 } } })
    nothingIsKept()
  })
})

describe('bodies', () => {
  const filled = (bytes: number) => Buffer.alloc(bytes, 'x')

  test('a form may be as large as its file and 10 MiB, of which the file takes no memory', async () => {
    const { usedBytes } = app.ctx.bodies
    const { status } = await send({ maxFileSize: 12 * MIB }, { ...PHOTO, body: filled(11 * MIB) })
    expect(status).toBe(200)
    expect(app.ctx.bodies.usedBytes - usedBytes).toBeLessThan(MIB)
  })

  test('all that is not the file may be 10 MiB, as in a form without one', async () => {
    const other = { ...PHOTO, name: 'other', body: filled(11 * MIB) }
    expect((await send({ maxFileSize: 12 * MIB }, other)).status).toBe(413)
    nothingIsKept()
  })

  test.each<[string, Partial<PipelineStep>, number | null]>([
    ['a step', {}, 10 * MIB],
    ['one with a size', { config: { maxFileSize: 5 } }, 5],
    ['one with a size as a text', { config: { maxFileSize: '5' } }, 5],
    ['one whose size is computed', { config: { maxFileSize: 'input.max' } }, 64 * MIB],
    ['one with more than the server takes', { config: { maxFileSize: 1e12 } }, 64 * MIB],
    ['a step that is turned off', { isEnabled: false }, null],
    ['one that fetches its file', { config: { sourceUrl: 'input.url' } }, null],
    ['another handler', { handlerType: 'form_handler' }, null],
  ])('%s lets a file have so many bytes', (_what, more, bytes) => {
    const steps = [step('up', 'file_upload_handler', {}, more)]
    const rule = { id: 'r', projectId: app.projectId, pathPattern: '/', method: null, debugEnabled: false }
    const file = formFileOf(app.ctx, { ...rule, pipelineConfig: { steps } })
    expect(file?.maxBytes ?? null).toBe(bytes)
  })

  /** A body whose rest never comes; counts what was asked for. */
  function endless(...pieces: Uint8Array[]) {
    const asked = { pieces: 0 }
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          asked.pieces += 1
          const piece = pieces.shift()
          if (piece !== undefined) return controller.enqueue(piece)
          return new Promise<void>(() => {})
        },
      },
      { highWaterMark: 0 },
    )
    return { asked, body }
  }

  test('a file that becomes too large is refused at once', async () => {
    const head = formPart({ ...PHOTO, body: filled(20) }).slice(0, -2)
    const { body } = endless(head, filled(2000))
    const answered = await app.answer(upload({ maxFileSize: 1000 }), { body, headers: FORM_TYPE })
    expect(answered).toMatchObject({ status: 413, body: { error: 'FILE_TOO_LARGE' } })
    nothingIsKept()
  })

  test('a file that the length says is over the quota is refused before it comes', async () => {
    const { asked, body } = endless(formPart({ ...PHOTO, body: filled(20) }).slice(0, -2))
    const headers = { ...FORM_TYPE, 'content-length': String(50 * MIB) }
    const answered = await app.answer(upload({ maxFileSize: 60 * MIB }), { body, headers })
    expect(answered).toMatchObject({ status: 413, body: { error: 'PROJECT_FILES_FULL' } })
    expect(asked.pieces).toBeLessThan(3)
    nothingIsKept()
  })

  test('validators come before the first byte', async () => {
    const { asked, body } = endless(formPart(PHOTO))
    const config = { steps: upload(), validators: [{ type: 'auth_required' }] }
    expect((await app.answer(config, { body, headers: FORM_TYPE })).status).toBe(401)
    expect(asked.pieces).toBe(0)
  })

  test.each<[string, Uint8Array, number]>([
    ['that ends amid the file', formBody(PHOTO).slice(0, -20), 400],
    ['without an end', formPart(PHOTO), 400],
    ['that ends in the headers of a part', formBody(PHOTO).slice(0, 60), 400],
    [
      'of ten thousand parts',
      formBody(PHOTO, ...Array.from({ length: 10_000 }, (_, i) => ({ name: `n${i}`, body: 'x' }))),
      413,
    ],
    ['with a file name in Latin-1', formBody({ ...PHOTO, filename: Buffer.from('über.png', 'latin1') }), 400],
    ['with a field that is no UTF-8', formBody(PHOTO, { name: 'a', body: Buffer.from([0xe9]) }), 400],
  ])('a form %s', async (_what, bytes, status) => {
    const body = new Uint8Array(bytes)
    expect((await app.answer(upload(), { body, headers: FORM_TYPE })).status).toBe(status)
    nothingIsKept()
  })
})

describe('sourceUrl', () => {
  const fetched = (path: string, config: Record<string, unknown> = {}) =>
    app.answer(upload({ sourceUrl: `https://backend.test:${backend.port}${path}`, ...config }))

  test.each(['/photo.png', '/hop/4'])('%s', async (path) => {
    const { status, body } = (await fetched(path)) as Answered
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ filename: 'photo.png', content_type: 'image/png', size: 9 })
    expect(app.stored(schemaId)).toHaveLength(1)
  })

  test.each([
    ['/hop/5', 502, 'SOURCE_FETCH_FAILED'],
    ['/plain', 502, 'SOURCE_FETCH_FAILED'],
    ['/inside', 502, 'SOURCE_FETCH_FAILED'],
    ['/missing', 502, 'SOURCE_FETCH_FAILED'],
    ['/cut', 502, 'SOURCE_FETCH_FAILED'],
    ['/large', 413, 'FILE_TOO_LARGE'],
  ])('%s is %p', async (path, status, error) => {
    expect(await fetched(path, { maxFileSize: 1000 })).toMatchObject({ status, body: { error } })
    nothingIsKept()
  })

  test.each(['http://backend.test/a.png', 'ftp://backend.test/', 'photo', 'https://nowhere.example/a.png'])(
    '%s',
    async (url) => {
      const answered = await app.answer(upload({ sourceUrl: 'input.url' }), { json: { url } })
      expect(answered).toMatchObject({ status: 502, body: { error: 'SOURCE_FETCH_FAILED' } })
    },
  )

  test('the type is what the source says, and the name must fit it', async () => {
    expect(await fetched('/photo.html', { allowedMimeTypes: ['image/*'] })).toMatchObject({
      status: 415,
      body: { error: 'INVALID_MIME_TYPE' },
    })
  })
})
