import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  brokenOff,
  fieldParts,
  fileParts,
  sha256,
  tar,
  uploadWorld,
  type World,
} from '../deployments/upload/upload.fixture.ts'

let world: World
beforeEach(async () => {
  world = await uploadWorld()
})
afterEach(() => world.close())

type Files = Record<string, string>
const asRoot = () => ({ headers: { cookie: world.cookie('root') } })
const setQuota = (json: unknown) =>
  world.send('PUT', `/api/projects/${world.docsId}/quota`, { ...asRoot(), json })
const getQuota = async () => (await world.send('GET', `/api/projects/${world.docsId}/quota`, asRoot())).body
const shaOf = (letter: string) => letter.repeat(40)

const upload = (sha: string, files: Files, more: Files = {}) =>
  world.sendForm(
    '/api/deployments',
    world.keys.docs,
    ...fieldParts({ owner: 'acme', repo: 'docs', commitSha: sha, ...more }),
    ...fileParts(files),
  )
const begin = (sha: string, files: Files) =>
  world.send('POST', '/api/deployments/manifest', {
    key: world.keys.docs,
    json: {
      owner: 'acme',
      repo: 'docs',
      commitSha: sha,
      files: Object.entries(files).map(([path, content]) => ({
        path,
        size: content.length,
        sha256: sha256(content),
      })),
    },
  })
const put = (uploadId: unknown, body: Uint8Array<ArrayBuffer> | ReadableStream) =>
  world.send('PUT', `/api/deployments/manifest/${uploadId}`, {
    key: world.keys.docs,
    headers: { 'content-type': 'application/x-tar' },
    body,
  })
const contentsOf = async (...contents: string[]) =>
  new Uint8Array(await tar(Object.fromEntries(contents.map((content) => [sha256(content), content]))))

test('without a quota everything fits, and what is used is counted once by content', async () => {
  const none = { bytes: null, deployments: null, files: null }
  expect(await getQuota()).toEqual({ quota: none, used: { bytes: 0, deployments: 0, files: 0 } })
  await upload(shaOf('a'), { 'a.txt': 'x'.repeat(100), 'b.txt': 'x'.repeat(100), 'c.txt': 'y' })
  await upload(shaOf('b'), { 'a.txt': 'x'.repeat(100) })
  expect(await getQuota()).toEqual({ quota: none, used: { bytes: 101, deployments: 2, files: 4 } })
})

test('an upload over the quota is 413 with the numbers, and nothing is kept', async () => {
  expect(await setQuota({ bytes: 1000 })).toMatchObject({
    status: 200,
    body: { quota: { bytes: 1000, deployments: null, files: null }, used: { bytes: 0 } },
  })
  await upload(shaOf('a'), { 'a.txt': 'a'.repeat(600) })
  const before = world.leftovers()
  expect(await upload(shaOf('b'), { 'b.txt': 'b'.repeat(500) })).toMatchObject({
    status: 413,
    body: {
      error: 'QUOTA_EXCEEDED',
      details: [{ path: 'bytes', message: expect.any(String), limit: 1000, used: 600, needed: 500 }],
    },
  })
  expect(world.leftovers()).toEqual(before)
  expect((await upload(shaOf('b'), { 'a.txt': 'a'.repeat(600), 'b.txt': 'b'.repeat(400) })).status).toBe(201)
})

test('a manifest over the quota is 413 before a byte is sent', async () => {
  await upload(shaOf('a'), { 'a.txt': 'a'.repeat(600), 'b.txt': 'b' })
  await setQuota({ bytes: 1000, deployments: 2, files: 3 })
  const files = { 'a.txt': 'a'.repeat(600), 'c.txt': 'c'.repeat(400) }
  expect(await begin(shaOf('b'), files)).toMatchObject({
    status: 413,
    body: {
      error: 'QUOTA_EXCEEDED',
      details: [
        { path: 'bytes', limit: 1000, used: 601, needed: 400 },
        { path: 'files', limit: 3, used: 2, needed: 2 },
      ],
    },
  })
  await setQuota({ bytes: 1001, files: null, deployments: 1 })
  expect(await begin(shaOf('b'), files)).toMatchObject({
    status: 413,
    body: { details: [{ path: 'deployments', limit: 1, used: 1, needed: 1 }] },
  })
  await setQuota({ deployments: null })
  const begun = await begin(shaOf('b'), files)
  expect(begun.status).toBe(201)
  expect((await put(begun.body['uploadId'], await contentsOf('c'.repeat(400)))).status).toBe(201)
  expect(await getQuota()).toMatchObject({ used: { bytes: 1001, deployments: 2, files: 4 } })
})

test('two uploads at once that fit alone: one is published, and the other is refused whole', async () => {
  await setQuota({ bytes: 1000 })
  const [a, b] = await Promise.all([
    begin(shaOf('a'), { 'a.txt': 'a'.repeat(600) }),
    begin(shaOf('b'), { 'b.txt': 'b'.repeat(600) }),
  ])
  expect([a.status, b.status]).toEqual([201, 201])
  const answers = await Promise.all([
    put(a.body['uploadId'], await contentsOf('a'.repeat(600))),
    put(b.body['uploadId'], await contentsOf('b'.repeat(600))),
  ])
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 413])
  expect(await getQuota()).toMatchObject({ used: { bytes: 600, deployments: 1, files: 1 } })
  expect(world.leftovers()).toMatchObject({ deployments: 1, blobs: 1 })
})

test('a quota below what is used deletes nothing, and what needs no more still works', async () => {
  const files = { 'index.html': 'a'.repeat(600) }
  await upload(shaOf('a'), files)
  await upload(shaOf('b'), { 'index.html': 'b'.repeat(600) }, { alias: 'production' })
  await setQuota({ bytes: 0, deployments: 0, files: 0 })
  expect(await getQuota()).toMatchObject({ used: { bytes: 1200, deployments: 2, files: 2 } })
  expect((await upload(shaOf('a'), files, { alias: 'production' })).status).toBe(201)
  expect((await upload(shaOf('c'), files)).status).toBe(413)
  const { body } = await world.send('GET', '/api/aliases', { key: world.keys.docs })
  const [alias] = body['data'] as { id: string }[]
  const rollback = await world.send('POST', `/api/aliases/${alias?.id}/rollback`, { ...asRoot(), json: {} })
  expect(rollback.status).toBe(200)
})

test('what an interrupted upload has sent counts, once', async () => {
  const files = { 'a.txt': 'a'.repeat(600), 'b.txt': 'b'.repeat(300) }
  await setQuota({ bytes: 1000 })
  const begun = await begin(shaOf('a'), files)
  const whole = await contentsOf('a'.repeat(600), 'b'.repeat(300))
  expect((await put(begun.body['uploadId'], brokenOff(whole.slice(0, 1536)))).status).toBe(400)
  expect(await getQuota()).toMatchObject({ used: { bytes: 600 } })
  expect((await put(begun.body['uploadId'], await contentsOf('b'.repeat(300)))).status).toBe(201)
  expect(await getQuota()).toMatchObject({ used: { bytes: 900 } })
})

test('the storage of the workspace names each quota, as it is now', async () => {
  const quotas = async () => {
    const { body } = await world.send('GET', '/api/storage', asRoot())
    const projects = body['projects'] as { name: string; quota: unknown }[]
    return Object.fromEntries(projects.map(({ name, quota }) => [name, quota]))
  }
  const none = { bytes: null, deployments: null, files: null }
  expect(await quotas()).toEqual({ docs: none, blog: none })
  await setQuota({ files: 7 })
  expect(await quotas()).toEqual({ docs: { ...none, files: 7 }, blog: none })
  await setQuota({ files: null })
  expect(await quotas()).toEqual({ docs: none, blog: none })
})

test.each([{ bytes: -1 }, { deployments: 1.5 }, { files: 'many' }, { bytes: 2 ** 60 }])(
  'a quota of %j is 400',
  async (json) => {
    expect((await setQuota(json)).status).toBe(400)
  },
)

test('the quota of no project is 404', async () => {
  const { status } = await world.send('PUT', '/api/projects/01900000-0000-7000-8000-000000000000/quota', {
    ...asRoot(),
    json: {},
  })
  expect(status).toBe(404)
})
