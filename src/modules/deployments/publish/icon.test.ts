import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DOCS, fieldParts, fileParts, uploadWorld, type World } from '../upload/upload.fixture.ts'

/** The icon of a deployment is found at publish. contract 17.2. */

let world: World
beforeAll(async () => {
  world = await uploadWorld({ RATE_LIMIT_UPLOAD: '0' })
})
afterAll(() => world.close())

async function iconOf(files: Record<string, string>, fields: Record<string, string> = {}): Promise<unknown> {
  const given = fieldParts({ ...DOCS, ...fields })
  const { body } = await world.sendForm('/api/deployments', world.keys.docs, ...given, ...fileParts(files))
  return (body['deployment'] as { icon: unknown }).icon
}

const page = (head: string) => `<!doctype html><html><head>${head}</head></html>`
const X = { 'x.svg': 'x', 'a b.png': 'x', 'y.png': 'x' }

test.each([
  [{ 'index.html': page('') }, null],
  [{ 'index.html': page(''), 'favicon.png': 'x' }, 'favicon.png'],
  [{ 'index.html': page(''), 'favicon.png': 'x', 'favicon.svg': 'x' }, 'favicon.svg'],
  [{ 'favicon.svg': 'x', 'favicon.ico': 'x' }, 'favicon.ico'],
  [{ ...X, 'index.html': page('<link rel="icon" href="/x.svg"><link rel=icon href=/y.png>') }, 'x.svg'],
  [{ ...X, 'index.html': page("<LINK REL='Shortcut ICON' HREF='x.svg?v=1#a'>") }, 'x.svg'],
  [{ ...X, 'index.html': page('<link rel="icon" href="a%20b.png">') }, 'a b.png'],
  [{ ...X, 'index.html': page('<link rel="apple-touch-icon" href="x.svg">') }, null],
  [{ ...X, 'index.html': page('<!-- <link rel="icon" href="x.svg"> -->') }, null],
  [{ ...X, 'index.html': page('<link rel="icon" href="https://cdn.example/x.svg">') }, null],
  [{ ...X, 'index.html': page('<link rel="icon" href="//x.svg">'), 'favicon.ico': 'x' }, 'favicon.ico'],
  [{ ...X, 'index.html': page('<link rel="icon" href="data:,x"><link rel="icon" href="y.png">') }, 'y.png'],
  [{ ...X, 'index.html': page('<link rel="icon" href="gone.svg">') }, null],
  [{ ...X, 'index.html': page('<link rel="icon" href="../../etc/passwd">') }, null],
  [{ ...X, 'index.html': `${' '.repeat(64 * 1024)}${page('<link rel="icon" href="x.svg">')}` }, null],
  [{ ...X, 'index.html': '<link rel="icon" href="x.svg' }, null],
])('%#: %j', async (files, icon) => {
  expect(await iconOf(files, { commitSha: world.ctx.newId().replaceAll('-', '') })).toBe(icon)
})

test('it lies in the folder that is shown, is found again by an append, and forgotten when the file is taken away', async () => {
  const start = { 'dist/index.html': page('<link rel="icon" href="/logo.svg">') }
  expect(await iconOf(start, { basePath: '/dist', alias: 'production' })).toBeNull()
  expect(await iconOf({ 'dist/logo.svg': 'x' }, { append: 'true', alias: 'production' })).toBe(
    'dist/logo.svg',
  )
  const project = async () =>
    (await world.send('GET', `/api/projects/${world.docsId}`, { key: world.keys.docs })).body
  expect((await project())['icon']).toBe('dist/logo.svg')
  const id = world.ctx.db.sqlite
    .query<{ id: string }, []>("SELECT id FROM assets WHERE path = 'dist/logo.svg'")
    .get()?.id
  await world.send('DELETE', `/api/assets/${id}`, { headers: { cookie: world.cookie('ann') } })
  expect((await project())['icon']).toBeNull()
})
