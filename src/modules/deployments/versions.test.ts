import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { zip } from '../../platform/archive/zip.fixture.ts'
import {
  archive,
  type Content,
  fieldParts,
  fileParts,
  SHA,
  sha256,
  tar,
  uploadWorld,
  type World,
} from './upload/upload.fixture.ts'

/** Every publish is a version. contract 16 §1. */

type Files = Record<string, string>
type Fields = Record<string, string>
type Version = { id: string; version: number; isLatest: boolean; [more: string]: unknown }
type Send = (files: Files, fields?: Fields) => Promise<Version>

let world: World
beforeEach(async () => {
  world = await uploadWorld({ RATE_LIMIT_UPLOAD: '0', RATE_LIMIT_API: '0' })
})
afterEach(() => world.close())

const get = async (path: string) => (await world.send('GET', path, { key: world.keys.docs })).body
const record = async (id: unknown) => (await get(`/api/deployments/${id}`)) as unknown as Version

async function sendForm(path: string, files: Record<string, Content>, fields: Fields): Promise<Version> {
  const given = fieldParts({ repository: 'acme/docs', commitSha: SHA, ...fields })
  const { status, body } = await world.sendForm(path, world.keys.docs, ...given, ...fileParts(files))
  expect([status, body.message]).toEqual([201, undefined])
  const made = body['deployment'] as Version | undefined
  const found = await record(made?.id ?? body['deploymentId'])
  expect(made?.version ?? body['version']).toBe(found.version)
  return found
}

const publish: Send = (files, fields = {}) => sendForm('/api/deployments', files, fields)
const upload: Send = (files, fields = {}) => sendForm('/api/assets/upload', files, fields)

const sendTar: Send = async (files, fields = {}) => {
  const query = new URLSearchParams({ repository: 'acme/docs', commitSha: SHA, ...fields })
  const { status, body } = await world.send('POST', `/api/deployments?${query}`, {
    key: world.keys.docs,
    ...archive('application/x-tar', await tar(files)),
  })
  expect(status).toBe(201)
  return body['deployment'] as Version
}

const sendZip: Send = (files, fields = {}) =>
  sendForm('/api/deployments/zip', { 'site.zip': zip(files) }, fields)

const sendManifest: Send = async (files, fields = {}) => {
  const entries = Object.entries(files)
  const { append, ...others } = fields
  const json = {
    repository: 'acme/docs',
    commitSha: SHA,
    ...others,
    ...(append === undefined ? {} : { append: append === 'true' }),
    files: entries.map(([path, content]) => ({ path, size: content.length, sha256: sha256(content) })),
  }
  const slot = await world.send('POST', '/api/deployments/manifest', { key: world.keys.docs, json })
  expect(slot.status).toBe(201)
  const contents = Object.fromEntries(entries.map(([, content]) => [sha256(content), content]))
  const { status, body } = await world.send('PUT', `/api/deployments/manifest/${slot.body['uploadId']}`, {
    key: world.keys.docs,
    ...archive('application/x-tar', await tar(contents)),
  })
  expect(status).toBe(201)
  return body['deployment'] as Version
}

async function filesOf(id: string): Promise<Files> {
  const { data } = await get(`/api/deployments/${id}/files?limit=100`)
  const files = data as { path: string; sha256: string }[]
  return Object.fromEntries(files.map((file) => [file.path, file.sha256]))
}
const hashed = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [path, sha256(content)]))
const shownAt = async (host: string, path = '/') =>
  (await world.call('GET', path, { host, key: world.keys.docs })).text()
const hostOf = (label: string): string => `${label}--docs--acme.localhost`

const BASE: Files = { 'index.html': 'I', 'dist/a.js': 'A', 'dist/b.js': 'B', 'distant.txt': 'D' }
const APPEND = { append: 'true' }
const NEW = { 'n.txt': 'N' }

/** What an upload to a commit with `BASE` makes: the number of its version, and the files of that. */
const KINDS: [what: string, files: Files, fields: Fields, hidden: number, shown: number, result: Files][] = [
  ['all anew', NEW, {}, 2, 2, NEW],
  ['the same', BASE, {}, 1, 1, BASE],
  ['a part', { 'index.html': 'I' }, {}, 2, 2, { 'index.html': 'I' }],
  [
    'below a folder',
    { 'dist/c.js': 'C' },
    { basePath: '/dist' },
    2,
    2,
    { 'index.html': 'I', 'distant.txt': 'D', 'dist/c.js': 'C' },
  ],
  ['the same below a folder', { 'dist/a.js': 'A', 'dist/b.js': 'B' }, { basePath: 'dist' }, 1, 1, BASE],
  ['beside a folder', NEW, { basePath: '/other' }, 2, 2, { ...BASE, ...NEW }],
  ['the same, appended', { 'dist/a.js': 'A' }, APPEND, 1, 1, BASE],
  ['another file, appended', NEW, APPEND, 1, 2, { ...BASE, ...NEW }],
  ['another content, appended', { 'dist/a.js': 'AA' }, APPEND, 1, 2, { ...BASE, 'dist/a.js': 'AA' }],
  [
    'appended below a folder',
    { 'dist/c.js': 'C' },
    { ...APPEND, basePath: '/dist' },
    1,
    2,
    { ...BASE, 'dist/c.js': 'C' },
  ],
  ['not appended', NEW, { append: 'false' }, 2, 2, NEW],
]
const WAYS: [way: string, send: Send][] = [
  ['a form', publish],
  ['a tar', sendTar],
  ['a zip', sendZip],
  ['a manifest', sendManifest],
]

describe.each(WAYS)('by %s', (_way, send) => {
  test.each(KINDS)('%s', async (_what, files, fields, hidden, shown, result) => {
    for (const isShown of [false, true]) {
      const commitSha = isShown ? 'abcdef01' : 'abcdef02'
      const first = await send(BASE, { commitSha, ...(isShown ? { alias: 'live' } : {}) })
      const made = await send(files, { ...fields, commitSha })
      expect(made).toMatchObject({ version: isShown ? shown : hidden, isLatest: true })
      expect(await filesOf(made.id)).toEqual(hashed(result))
      const counts = {
        fileCount: Object.keys(result).length,
        totalSize: Object.values(result).join('').length,
      }
      expect(await record(made.id)).toMatchObject(counts)
      if (made.version === 2) expect(await filesOf(first.id)).toEqual(hashed(BASE))
      expect((await record(first.id)).isLatest).toBe(made.version === 1)
    }
  })
})

test('assets/upload always appends, whatever it says of it', async () => {
  const first = await upload(BASE, { append: 'false' })
  const second = await upload(NEW, { append: 'false' })
  expect([second.id, second.version]).toEqual([first.id, 1])
  expect(await filesOf(second.id)).toEqual(hashed({ ...BASE, ...NEW }))
  await publish({ 'z.txt': 'Z' }, { alias: 'live' })
  expect(await upload(NEW)).toMatchObject({ version: 3, fileCount: 2 })
})

test.each(['yes', 'TRUE', '1', ''])('append=%s is refused in every form', async (append) => {
  const given = fieldParts({ repository: 'acme/docs', commitSha: SHA, append })
  const { keys } = world
  const form = await world.sendForm('/api/deployments', keys.docs, ...given, ...fileParts(NEW))
  const query = `/api/deployments?owner=acme&repo=docs&commitSha=${SHA}&append=${append}`
  const raw = await world.send('POST', query, {
    key: keys.docs,
    ...archive('application/x-tar', await tar(NEW)),
  })
  const json = { repository: 'acme/docs', commitSha: SHA, append, files: [] }
  const manifest = await world.send('POST', '/api/deployments/manifest', { key: keys.docs, json })
  for (const { status, body } of [form, raw, manifest])
    expect([status, body['details']]).toEqual([400, [{ path: 'append', message: 'must be true or false' }]])
  expect(world.leftovers()).toMatchObject({ deployments: 0, blobs: 0, tmp: [] })
})

test('two pushes of one commit below two folders both stand, and one that is sent again loses what is gone', async () => {
  await sendZip({ 'dist/index.html': 'one', 'dist/old.html': 'old' }, { basePath: '/dist', alias: 'live' })
  const coverage = { 'coverage/index.html': '100 %' }
  await sendZip(coverage, { basePath: '/coverage', alias: 'coverage' })
  const third = await sendZip({ 'dist/index.html': 'two' }, { basePath: '/dist', alias: 'live' })
  expect(await filesOf(third.id)).toEqual(hashed({ 'dist/index.html': 'two', ...coverage }))
  expect(await shownAt(hostOf('live'))).toBe('two')
  expect(await shownAt(hostOf('coverage'))).toBe('100 %')
  expect((await world.call('GET', '/old.html', { host: hostOf('live'), key: world.keys.docs })).status).toBe(
    404,
  )
})

test('an unchanged publish makes none, but updates what it says of itself, and moves the alias', async () => {
  const first = await publish(BASE, { branch: 'main', description: 'One', alias: 'old' })
  const { body } = await world.sendForm(
    '/api/deployments',
    world.keys.docs,
    ...fieldParts({
      repository: 'acme/docs',
      commitSha: SHA,
      description: 'Two',
      workflowName: 'ci',
      alias: 'live',
    }),
    ...fileParts(BASE),
  )
  expect(body).toMatchObject({ published: true, alias: { name: 'live', deploymentId: first.id, version: 1 } })
  expect(await record(first.id)).toMatchObject({
    version: 1,
    branch: 'main',
    description: 'Two',
    workflowName: 'ci',
    aliases: ['old', 'live'],
  })
  expect((await get('/api/deployments'))['pagination']).toMatchObject({ total: 1 })
})

test('an alias stays at its version until it is moved, and files that go to its commit do not show', async () => {
  await publish({ 'index.html': 'one' }, { alias: 'live' })
  await publish({ 'index.html': 'two' })
  await upload({ 'new.html': 'new' })
  expect(await shownAt(hostOf('live'))).toBe('one')
  expect((await world.call('GET', '/new.html', { host: hostOf('live'), key: world.keys.docs })).status).toBe(
    404,
  )
  const { data } = await get('/api/aliases')
  const [{ id }] = data as [{ id: string }]
  const moved = await world.send('PATCH', `/api/aliases/${id}`, {
    key: world.keys.docs,
    json: { commitSha: SHA.slice(0, 7) },
  })
  expect(moved.body).toMatchObject({ commitSha: SHA, version: 2 })
  expect([await shownAt(hostOf('live')), await shownAt(hostOf('live'), '/new.html')]).toEqual(['two', 'new'])
})

test('a version that an alias showed once is not added to, even when the alias is deleted', async () => {
  const { aliases, id } = await publish({ 'index.html': 'one' }, { alias: 'live' })
  expect(aliases).toEqual(['live'])
  const [alias] = (await get('/api/aliases'))['data'] as [{ id: string }]
  const cookie = world.cookie('ann')
  const gone = await world.call('DELETE', `/api/aliases/${alias.id}`, { headers: { cookie } })
  expect(gone.status).toBe(204)
  expect(await publish({ 'b.html': 'b' }, APPEND)).toMatchObject({ version: 2, fileCount: 2 })
  expect(await filesOf(id)).toEqual(hashed({ 'index.html': 'one' }))
})

test('an append that names an alias goes in place once, and from then on makes versions', async () => {
  await publish({ 'a.txt': 'a' })
  expect(await publish({ 'b.txt': 'b' }, { ...APPEND, alias: 'live' })).toMatchObject({
    version: 1,
    fileCount: 2,
  })
  expect(await publish({ 'c.txt': 'c' }, { ...APPEND, alias: 'live' })).toMatchObject({
    version: 2,
    fileCount: 3,
  })
})

test('each version has a host for good; that of the commit and its path form show the newest that exists', async () => {
  const first = await publish({ 'index.html': 'one' }, { alias: 'live' })
  const second = await publish({ 'index.html': 'two' })
  const third = await publish({ 'index.html': 'three' })
  const urls = (one: Version) => one['urls'] as Record<string, string>
  expect([first, second, third].map((one) => urls(one)['version'])).toEqual(
    [1, 2, 3].map((n) => `http://${SHA}-v${n}--docs--acme.localhost:3000`),
  )
  for (const one of [first, second, third])
    expect(urls(await record(one.id))).toMatchObject({
      sha: `http://localhost:3000/repo/acme/docs/${SHA}/`,
      preview: `http://${hostOf(SHA)}:3000`,
    })
  const all = async () => [
    await shownAt(hostOf(SHA)),
    await (await world.call('GET', `/repo/acme/docs/${SHA}/`, { key: world.keys.docs })).text(),
    await (await world.call('GET', `/repo/acme/docs/${SHA.slice(0, 7)}/`, { key: world.keys.docs })).text(),
  ]
  expect(await all()).toEqual(['three', 'three', 'three'])
  const cookie = world.cookie('ann')
  const remove = (id: string) => world.call('DELETE', `/api/deployments/${id}`, { headers: { cookie } })
  expect((await remove(third.id)).status).toBe(204)
  expect(await all()).toEqual(['two', 'two', 'two'])
  expect([(await record(second.id)).isLatest, (await remove(first.id)).status]).toEqual([true, 409])
  expect((await remove(second.id)).status).toBe(204)
  expect(await all()).toEqual(['one', 'one', 'one'])
  expect(await shownAt(hostOf(`${SHA}-v1`))).toBe('one')
  expect((await world.call('GET', '/', { host: hostOf(`${SHA}-v3`) })).status).toBe(404)
})

test('no number is given twice, even when every version was deleted', async () => {
  const cookie = world.cookie('ann')
  const ids: string[] = []
  for (const content of ['one', 'two', 'three']) ids.push((await publish({ 'index.html': content })).id)
  for (const id of ids.slice(1)) await world.call('DELETE', `/api/deployments/${id}`, { headers: { cookie } })
  const fourth = await publish({ 'index.html': 'four' })
  expect(fourth.version).toBe(4)
  for (const id of [ids[0], fourth.id])
    await world.call('DELETE', `/api/deployments/${id}`, { headers: { cookie } })
  expect((await world.call('GET', '/', { host: hostOf(SHA) })).status).toBe(404)
  expect(await publish({ 'index.html': 'five' })).toMatchObject({ version: 5, isLatest: true })
  expect([await shownAt(hostOf(SHA)), await shownAt(hostOf(`${SHA}-v5`))]).toEqual(['five', 'five'])
})

test('publishes of one commit at once give one version each, the later ones built on the earlier', async () => {
  const folders = Array.from({ length: 6 }, (_, n) => `f${n}`)
  await Promise.all(
    folders.map((folder) => publish({ [`${folder}/x`]: folder }, { basePath: folder, alias: folder })),
  )
  const { data } = await get('/api/deployments?sort=createdAt&order=asc')
  const versions = (data as Version[]).map(({ version, fileCount }) => [version, fileCount])
  expect(versions.toSorted()).toEqual([1, 2, 3, 4, 5, 6].map((n) => [n, n]))
})

test('an asset that is deleted leaves its version alone, live or not', async () => {
  const first = await publish({ 'a.txt': 'secret', 'b.txt': 'b' }, { alias: 'live' })
  await publish({ 'a.txt': 'secret', 'b.txt': 'b2' })
  const asset = world.ctx.db.sqlite
    .query<{ id: string }, [string]>("SELECT id FROM assets WHERE path = 'a.txt' AND deployment_id = ?")
    .get(first.id)
  expect(await shownAt(hostOf('live'), '/a.txt')).toBe('secret')
  const headers = { cookie: world.cookie('ann') }
  expect((await world.call('DELETE', `/api/assets/${asset?.id}`, { headers })).status).toBe(204)
  expect((await world.call('GET', '/a.txt', { host: hostOf('live'), key: world.keys.docs })).status).toBe(404)
  expect(await shownAt(hostOf(SHA), '/a.txt')).toBe('secret')
  expect(await record(first.id)).toMatchObject({ version: 1, fileCount: 1, totalSize: 1 })
})

test('the record has baseSha where it was given, in lower case; anything but a SHA is refused', async () => {
  expect(await publish(NEW)).toMatchObject({ baseSha: null, preview: null })
  const based = await sendManifest({ 'a.txt': 'a' }, { baseSha: 'ABCDEF0123' })
  expect(based['baseSha']).toBe('abcdef0123')
  expect(await sendTar({ 'b.txt': 'b' })).toMatchObject({ baseSha: 'abcdef0123' })
  const given = fieldParts({ repository: 'acme/docs', commitSha: SHA, baseSha: 'main' })
  const refused = await world.sendForm('/api/deployments', world.keys.docs, ...given, ...fileParts(NEW))
  expect([refused.status, refused.body['details']]).toEqual([
    400,
    [{ path: 'baseSha', message: 'must be 7 to 64 hexadecimal digits' }],
  ])
})

test('a hashed file of an earlier version of the same commit is still served', async () => {
  const script = 'assets/app-1a2b3c4d.js'
  await publish({ 'index.html': 'one', [script]: 'old()' }, { alias: 'live' })
  await publish({ 'index.html': 'two' }, { alias: 'live' })
  expect([await shownAt(hostOf('live')), await shownAt(hostOf('live'), `/${script}`)]).toEqual([
    'two',
    'old()',
  ])
  expect((await world.call('GET', `/${script}`, { host: hostOf(SHA), key: world.keys.docs })).status).toBe(
    404,
  )
})

test('a version host is as private as its project', async () => {
  await publish({ 'index.html': 'secret' })
  const statusFor = async (options: object) =>
    (await world.call('GET', '/', { host: hostOf(`${SHA}-v1`), ...options })).status
  expect([await statusFor({}), await statusFor({ key: world.keys.blog })]).toEqual([404, 404])
  expect(await statusFor({ key: world.keys.docs })).toBe(200)
})

test('rolling back goes between versions of one commit, each with its folder, there and back again', async () => {
  await publish({ 'a/index.html': 'A' }, { alias: 'live', basePath: '/a' })
  await publish({ 'b/index.html': 'B' }, { alias: 'live', basePath: '/b' })
  const [{ id }] = (await get('/api/aliases'))['data'] as [{ id: string }]
  const rollBack = (json: object) =>
    world.send('POST', `/api/aliases/${id}/rollback`, { key: world.keys.docs, json })
  for (const [version, shown] of [
    [1, 'A'],
    [2, 'B'],
  ] as const) {
    expect((await rollBack({})).body).toMatchObject({ commitSha: SHA, version })
    expect(await shownAt(hostOf('live'))).toBe(shown)
  }
  const { history } = (await get(`/api/aliases/${id}/history`)) as { history?: unknown }
  expect(history).toMatchObject([
    { version: 2, reason: 'rollback', exists: true },
    { version: 1, reason: 'rollback', exists: true },
    { version: 2, reason: 'publish', exists: true },
    { version: 1, reason: 'publish', exists: true },
  ])
})

test('a delta upload that is sent again answers with the version that it made', async () => {
  const json = {
    repository: 'acme/docs',
    commitSha: SHA,
    files: [{ path: 'a', size: 1, sha256: sha256('a') }],
  }
  const slot = await world.send('POST', '/api/deployments/manifest', { key: world.keys.docs, json })
  const put = async () =>
    world.send('PUT', `/api/deployments/manifest/${slot.body['uploadId']}`, {
      key: world.keys.docs,
      ...archive('application/x-tar', await tar({ [sha256('a')]: 'a' })),
    })
  const first = await put()
  await publish({ b: 'b' })
  expect((await put()).body['deployment']).toMatchObject({
    id: (first.body['deployment'] as Version).id,
    version: 1,
    isLatest: false,
  })
})

test('a thousand uploads of a file each to a commit that no alias shows are one version', async () => {
  const versions: number[] = []
  for (let n = 0; n < 1000; n++) {
    const path = n % 2 === 0 ? `f${n}.txt` : `folder/f${n}.txt`
    versions.push((await upload({ [path]: `${n}` })).version)
  }
  expect(new Set(versions)).toEqual(new Set([1]))
  const { data } = await get('/api/deployments')
  expect(data).toMatchObject([{ version: 1, fileCount: 1000 }])
}, 60_000)
