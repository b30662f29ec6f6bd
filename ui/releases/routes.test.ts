import { afterEach, beforeEach, expect, test } from 'bun:test'
import { zip } from '../../src/platform/archive/zip.fixture.ts'
import { type Seeded, seedDeployment } from '../../src/testing/seed.ts'
import { type TestApp, testApp } from '../../src/testing/test-app.ts'

const ROOT = 'root@example.com'
let app: TestApp
let seeded: Seeded
beforeEach(async () => {
  app = await testApp()
  await app.addUser(ROOT, 'admin')
  const files = { 'index.html': 'old', '404.html': 'nothing' }
  seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files,
  })
})
afterEach(() => app.close())

const path = () => `/projects/${seeded.projectId}/release-checks`
const read = async (at: string) => (await app.call('GET', at, { as: ROOT })).text()
const post = (fields: Record<string, string>, at = path()) =>
  app.call('POST', at, {
    as: ROOT,
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' },
    body: new URLSearchParams(fields).toString(),
  })

const shown = async () =>
  (await app.call('GET', '/', { host: 'production--docs--acme.localhost', as: ROOT })).text()

test('checks are set, added, refused with their place, removed and turned off', async () => {
  expect(await read(path())).toContain('None yet.')
  expect((await post({ intent: 'save', startPage: 'true', aliases: 'production, next' })).status).toBe(303)
  expect((await post({ intent: 'add', path: '/imprint', name: 'imprint', contains: '<b>' })).status).toBe(303)
  const text = await read(path())
  expect(text).toContain('production, next')
  expect(text).toContain('with “&lt;b>”')
  const refused = await post({ intent: 'add', path: 'imprint', status: 'ok' })
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining('a path that begins with /'),
  ])
  const [, check = ''] = /name="check" value="([^"]+)"/.exec(text) ?? []
  const removed = await post({
    intent: 'remove',
    check: check.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
  })
  expect(removed.status).toBe(303)
  expect(await read(path())).toContain('None yet.')
  expect((await post({ intent: 'off' })).status).toBe(303)
  const { status, body } = {
    status: 200,
    body: await (await app.call('GET', `/api${path()}`, { as: ROOT })).json(),
  }
  expect([status, body]).toEqual([200, { aliases: null, startPage: false, checks: [] }])
})

test('a release that is held back is shown with what failed, and released all the same', async () => {
  await post({ intent: 'add', path: '/imprint', name: 'imprint' })
  const form = new FormData()
  form.append('alias', 'production')
  form.append(
    'file',
    new Blob([Uint8Array.from(zip({ 'index.html': 'new', '404.html': 'nothing' }))]),
    'site.zip',
  )
  const address = `/projects/${seeded.projectId}/publish?repository=acme/docs&commitSha=${'b'.repeat(40)}`
  const published = await app.call('POST', address, {
    as: ROOT,
    body: form,
    headers: { origin: 'http://localhost' },
  })
  const shownNext = published.headers.get('location') ?? ''
  expect(await shown()).toBe('old')
  const told = await read(shownNext)
  expect(told).toContain('The alias production does not show it: its checks held it back.')
  const page = /href="([^"]*\/deployments\/\d+)"/.exec(told)?.[1] ?? ''
  const text = await read(page)
  expect(text).toContain('Held back by its checks')
  expect(text).toContain('the answer is 404, not 200')
  expect((await post({ intent: 'release' }, page)).headers.get('location')).toBe(`${page}?done=released`)
  expect(await shown()).toBe('new')
  expect(await read(page)).not.toContain('Held back')
  const again = await post({ intent: 'release' }, page)
  expect(again.status).toBe(409)
})

test('a release that is asked about shows the folders, and the answer moves the alias to one', async () => {
  const before = await shown()
  const form = new FormData()
  form.append('alias', 'production')
  form.append('ask', 'true')
  form.append(
    'file',
    new Blob([Uint8Array.from(zip({ 'dist/index.html': 'built', 'src/a.ts': 'a' }))]),
    'site.zip',
  )
  const address = `/projects/${seeded.projectId}/publish?repository=acme/docs&commitSha=${'d'.repeat(40)}`
  const published = await app.call('POST', address, {
    as: ROOT,
    body: form,
    headers: { origin: 'http://localhost' },
  })
  expect(await shown()).toBe(before)
  const told = await read(published.headers.get('location') ?? '')
  expect(told).toContain('it is unclear which folder is the site')
  const page = /href="([^"]*\/deployments\/\d+)"/.exec(told)?.[1] ?? ''
  expect(await read(page)).toContain('<legend>Which folder is the site?</legend>')
  const wrong = await post({ intent: 'release', startPage: 'src/' }, page)
  expect(wrong.status).toBe(400)
  expect(await shown()).toBe(before)
  await post({ intent: 'release', startPage: 'dist/' }, page)
  expect(await shown()).toBe('built')
})
