import { afterAll, beforeAll, expect, test } from 'bun:test'
import { putFile } from '../../src/testing/put-file.ts'
import { seedDeployment } from '../../src/testing/seed.ts'
import { seedMember } from '../../src/testing/seed-people.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'
import { ADMIN, type Browser, browserOf, redirectOf } from '../testing/browser.ts'

let app: TestApp
let browser: Browser
let projectId: string
let contributor: string
let viewer: string

beforeAll(async () => {
  app = await testApp()
  browser = browserOf(app)
  await app.addUser(ADMIN, 'admin')
  const files = { 'index.html': 'x' }
  projectId = (await seedDeployment(app, { owner: 'acme', repo: 'website', sha: 'c0ffee1234567890', files }))
    .projectId
  contributor = await seedMember(app, projectId, 'contributor')
  viewer = await seedMember(app, projectId, 'viewer')
})
afterAll(() => app.close())

const at = (rest = '') => `/projects/${projectId}/files${rest}`
const put = (path: string, content = 'x', type?: string) => putFile(app.ctx, projectId, path, content, type)
const read = async (rest = '', as = viewer): Promise<string> => {
  const answer = await browser.open(at(rest), { as })
  expect(answer.status).toBe(200)
  return answer.text()
}
const left = () =>
  app.ctx.db.sqlite
    .query<{ path: string }, []>('SELECT path FROM project_files ORDER BY path')
    .all()
    .map(({ path }) => path)

test('folders come first, each with what is below it, and lead to their files', async () => {
  const { id } = await put('in/b.txt', 'four')
  await put('in/deep/x', 'one')
  await put('in/deep/deeper/y', 'two')
  const top = await read()
  expect(top).toContain(`href="/projects/${projectId}/files?path=in"`)
  expect(top).toContain('Folder, 3 files')
  const folder = await read('?path=in')
  expect(folder).toContain('3 files with 10\u00a0B in all')
  expect(folder).toContain('Folder, 2 files')
  expect(folder).toContain(`href="/projects/${projectId}/files/${id}"`)
  expect(folder).toContain(`href="/api/projects/${projectId}/files/${id}/content"`)
  expect(folder.indexOf('deep')).toBeLessThan(folder.indexOf('b.txt'))
  expect(folder).not.toContain('delete-folder')
  expect(await read('?path=nowhere')).toContain('Nothing here')
  expect(await read('?prefix=in/d')).toContain('in/deep/deeper/y')
  expect(await read('?prefix=in/d')).not.toContain('b.txt')
  expect((await browser.open(at('?path=..'), { as: viewer })).status).toBe(400)
})

test('many files come in pages, and a page past the last is the last', async () => {
  for (let n = 0; n < 101; n++) await put(`many/${String(n).padStart(3, '0')}`)
  expect(await read('?path=many')).toContain('Page 1 of 2')
  for (const past of ['?path=many&page=2', '?path=many&page=99', '?prefix=many/&page=2'])
    expect(await read(past)).toContain('100</span>')
})

test('a picture, sound, film and text are shown so that nothing runs; others are downloaded', async () => {
  const shown = async (name: string, content: string, type?: string) =>
    read(`/${(await put(`look/${name}`, content, type)).id}`)
  expect(await shown('a.png', 'p')).toContain('<img class="preview-image" src="/api/projects/')
  expect(await shown('a.svg', '<svg onload="x()"/>')).toContain('<img class="preview-image"')
  expect(await shown('a.mp3', 'p')).toContain('<audio controls')
  expect(await shown('a.mp4', 'p')).toContain('<video class="preview-image" controls')
  expect(await shown('a', 'p', 'image/webp')).toContain('<img class="preview-image"')
  const page = await shown('a.html', '<script>alert(1)</script>')
  expect(page).toContain('&lt;script>alert(1)&lt;/script>')
  expect(page).not.toContain('<script>alert')
  expect(await shown('a.bin', 'a\0b')).toContain('Download it')
  expect(await shown('b.txt', 'x'.repeat(256 * 1024 + 1))).toContain('Download it')
  expect(await shown('empty.txt', '')).toContain('The file is empty')
})

test('the record that names a file is one click away', async () => {
  const { id } = await put('named/a.png')
  expect(await read(`/${id}`)).toContain('None names it')
  const make = async (path: string, json: unknown): Promise<string> =>
    (await (await app.call('POST', path, { as: ADMIN, json })).json()).id
  const fields = [{ name: 'storage_path', type: 'string' }]
  await make('/api/schemas', { projectId, name: 'others', fields: [{ name: 'note', type: 'string' }] })
  const schemaId = await make('/api/schemas', { projectId, name: 'pictures', fields })
  await make(`/api/schemas/${schemaId}/records`, { storage_path: 'acme/website/uploads/named/b.png' })
  const key = { storage_path: 'acme/website/uploads/named/a.png' }
  const recordId = await make(`/api/schemas/${schemaId}/records`, key)
  expect(await read(`/${id}`)).toContain(
    `href="/projects/${projectId}/data/${schemaId}/${recordId}">pictures</a>`,
  )
})

test('a file and a folder are deleted after the page said how much', async () => {
  const { id } = await put('gone/a', 'one')
  await put('gone/deep/b', 'two')
  await put('gone2', 'stays')
  const page = await read('?path=gone', contributor)
  expect(page).toContain('2 files with 6\u00a0B are deleted')
  const form = { intent: 'delete-folder', files: '1' }
  const changed = await browser.submit(at('?path=gone'), form, { as: contributor })
  expect([changed.status, await changed.text()]).toEqual([
    409,
    expect.stringContaining('another number of files: 2'),
  ])
  expect((await browser.submit(at('?path=gone'), form, { as: viewer })).status).toBe(403)
  expect((await browser.submit(at(), { ...form, files: '2' }, { as: contributor })).status).toBe(400)
  const one = await browser.submit(at(`/${id}`), { intent: 'delete' }, { as: contributor })
  expect(redirectOf(one)).toEqual([303, at('?path=gone&done=deleted')])
  const rest = await browser.submit(at('?path=gone'), form, { as: contributor })
  expect(redirectOf(rest)).toEqual([303, at('?done=deleted-folder')])
  expect(left().filter((path) => path.startsWith('gone'))).toEqual(['gone2'])
  expect(await read('?done=deleted-folder')).toContain('The folder was deleted.')
  expect((await browser.open(at(`/${id}`), { as: viewer })).status).toBe(404)
})
