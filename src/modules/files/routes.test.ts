import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { ask } from '../../testing/ask.ts'
import { SEED_OWNER } from '../../testing/seed.ts'
import { type FilesWorld, filesWorld } from './files.fixture.ts'
import { deleteFiles } from './service.ts'

let world: FilesWorld
beforeAll(async () => {
  world = await filesWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  const { ctx } = world.app
  const paths = ctx.db.sqlite.query<{ path: string }, []>('SELECT path FROM project_files').all()
  await deleteFiles(ctx, world.projectId, { paths: paths.map(({ path }) => path) })
})

const api = (method: string, path: string) =>
  ask(world.app, method, `/api/projects/${world.projectId}/files${path}`, { as: SEED_OWNER })
const pathsOf = ({ body }: Awaited<ReturnType<typeof api>>) =>
  (body['data'] as { path: string }[]).map(({ path }) => path)
const entriesOf = () =>
  world.app.ctx.db.sqlite
    .query<{ target_name: string; before: string }, []>(
      "SELECT target_name, before FROM audit_log WHERE action = 'file.delete' ORDER BY rowid",
    )
    .all()

test('a file is listed and read with what it is', async () => {
  const file = await world.put('a b/x.png', 'picture', 'image/png')
  const view = {
    id: file.id,
    key: 'acme/docs/uploads/a b/x.png',
    path: 'a b/x.png',
    url: '/api/uploads/a%20b/x.png',
    size: 7,
    contentType: 'image/png',
    sha256: Bun.SHA256.hash('picture', 'hex'),
    isRegistered: false,
    createdAt: '2026-11-20T12:00:00.000Z',
    updatedAt: '2026-11-20T12:00:00.000Z',
  }
  expect(await api('GET', '')).toMatchObject({
    status: 200,
    body: { data: [view], pagination: { page: 1, limit: 20, total: 1, pages: 1 } },
  })
  expect(await api('GET', `/${file.id}`)).toMatchObject({ status: 200, body: view })
})

test('the list is sorted, and filtered by the beginning of the path as plain text', async () => {
  for (const [path, size] of [
    ['b/1', 3],
    ['a%/1', 1],
    ['a_/1', 2],
    ['a', 4],
  ] as const) {
    await world.put(path, 'x'.repeat(size))
    world.app.advance(1000)
  }
  expect(pathsOf(await api('GET', ''))).toEqual(['a', 'a%/1', 'a_/1', 'b/1'])
  expect(pathsOf(await api('GET', '?sort=size&order=desc'))).toEqual(['a', 'b/1', 'a_/1', 'a%/1'])
  expect(pathsOf(await api('GET', '?sort=createdAt'))).toEqual(['b/1', 'a%/1', 'a_/1', 'a'])
  expect(pathsOf(await api('GET', '?prefix=a%25'))).toEqual(['a%/1'])
  expect(pathsOf(await api('GET', '?prefix=a'))).toEqual(['a', 'a%/1', 'a_/1'])
  expect(pathsOf(await api('GET', '?prefix=none'))).toEqual([])
  expect(pathsOf(await api('GET', '?limit=1&page=2'))).toEqual(['a%/1'])
})

test('the bytes are an attachment in which nothing runs, with ranges', async () => {
  const name = '0e3f2f1a-5c3e-4f6a-9a7c-0123456789ab-Seite Ü.html'
  const file = await world.put(`in/${name}`, '<script>1</script>', 'text/html')
  const at = `/api/projects/${world.projectId}/files/${file.id}/content`
  const answer = await world.app.call('GET', at, { as: SEED_OWNER })
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-disposition': `attachment; filename="Seite _.html"; filename*=UTF-8''Seite%20%C3%9C.html`,
    'content-security-policy': 'sandbox',
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff',
    'content-length': '18',
  })
  const part = await world.app.call('GET', at, { as: SEED_OWNER, headers: { range: 'bytes=0-7' } })
  expect([part.status, await part.text()]).toEqual([206, '<script>'])
  const picture = await world.put('in/a.png', 'picture')
  const shown = await world.app.call('GET', at.replace(file.id, picture.id), { as: SEED_OWNER })
  expect(shown.headers.get('content-security-policy')).toBe('sandbox')
})

test('one file is deleted, and a folder with what is in it; the log says how much', async () => {
  const file = await world.put('videos/1/a', 'one')
  for (const path of ['videos/1/b', 'videos/1/c/d', 'videos/10/a']) await world.put(path, 'four')
  const before = entriesOf().length
  expect((await api('DELETE', `/${file.id}`)).status).toBe(204)
  expect((await api('DELETE', `/${file.id}`)).status).toBe(404)
  expect(await api('DELETE', '?prefix=%2Fvideos%2F1%2F')).toMatchObject({ status: 200, body: { deleted: 2 } })
  expect(await api('DELETE', '?prefix=videos%2F1')).toMatchObject({ status: 200, body: { deleted: 0 } })
  expect(pathsOf(await api('GET', ''))).toEqual(['videos/10/a'])
  const entries = entriesOf().slice(before)
  expect(entries.map((entry) => [entry.target_name, JSON.parse(entry.before)])).toEqual([
    ['videos/1/a', { path: 'videos/1/a', count: 1, bytes: 3 }],
    ['videos/1/', { prefix: 'videos/1', count: 2, bytes: 8 }],
  ])
})

test.each([
  '',
  '?prefix=',
  '?prefix=%2F',
  '?prefix=+',
  '?prefix=..',
  '?prefix=a%2F..',
  '?prefix=a%2F%2Fb',
  '?prefix=a%5Cb',
  '?prefix=a%00b',
])('DELETE %j removes nothing', async (query) => {
  await world.put('a/b', 'x')
  expect(await api('DELETE', query)).toMatchObject({ status: 400, body: { error: 'INVALID_PATH' } })
  expect(pathsOf(await api('GET', ''))).toEqual(['a/b'])
})

test('a file of another project is none', async () => {
  const file = await world.put('a', 'x')
  const made = await ask(world.app, 'POST', '/api/projects', {
    as: SEED_OWNER,
    json: { owner: 'acme', name: 'files' },
  })
  const other = `/api/projects/${made.body['id']}/files`
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/content'],
    ['DELETE', ''],
  ] as const)
    expect((await ask(world.app, method, `${other}/${file.id}${path}`, { as: SEED_OWNER })).status).toBe(404)
  // A project may be called like the list.
  expect(await ask(world.app, 'GET', '/api/projects/acme/files', { as: SEED_OWNER })).toMatchObject({
    status: 200,
    body: { id: made.body['id'] },
  })
})

test('the storage of a project and the metrics count its files', async () => {
  await world.put('a', 'x'.repeat(100))
  await world.put('b', 'x'.repeat(100))
  await world.app.addUser('root@example.com', 'admin')
  const { body } = await ask(world.app, 'GET', '/api/storage', { as: 'root@example.com' })
  expect((body['projects'] as unknown[])[0]).toMatchObject({
    uploads: 2,
    uploadBytes: 200,
    files: 1,
    bytes: 201,
    uniqueBytes: 101,
  })
  const metrics = await (await world.app.call('GET', '/metrics')).text()
  expect(metrics).toContain('\nsvc_files 2\n')
  expect(metrics).toContain('\nsvc_files_bytes 200\n')
})
