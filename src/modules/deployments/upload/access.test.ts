import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { inTransaction } from '../../../db/open.ts'
import { zip } from '../../../platform/archive/zip.fixture.ts'
import type { CallOptions } from '../../../testing/test-app.ts'
import {
  archive,
  brokenOff,
  DOCS,
  fieldParts,
  form,
  SHA,
  sha256,
  tar,
  uploadWorld,
  type World,
} from './upload.fixture.ts'

let world: World
beforeEach(async () => {
  world = await uploadWorld()
})
afterEach(() => world.close())

type Target = { owner: string; repo: string }
type Way = (target: Target) => Promise<[method: string, path: string, options: CallOptions]>

const page = { file: 'index.html', content: 'A' }
const archived = async (target: Target, type: string, bytes: Uint8Array) =>
  [
    'POST',
    `/api/deployments?${new URLSearchParams({ ...target, commitSha: SHA })}`,
    archive(type, bytes),
  ] as [string, string, CallOptions]

/** Every way to upload. */
const ways: Record<string, Way> = {
  'assets/upload': async (target) => [
    'POST',
    '/api/assets/upload',
    form(page, ...fieldParts({ ...target, commitSha: SHA })),
  ],
  'a form with its fields first': async (target) => [
    'POST',
    '/api/deployments',
    form(...fieldParts({ ...target, commitSha: SHA }), page),
  ],
  'a form with its fields last': async (target) => [
    'POST',
    '/api/deployments',
    form(page, ...fieldParts({ ...target, commitSha: SHA })),
  ],
  'the zip form': async ({ owner, repo }) => [
    'POST',
    '/api/deployments/zip',
    form(
      { file: 'a.zip', content: zip({ 'index.html': 'A' }) },
      ...fieldParts({ repository: `${owner}/${repo}`, commitSha: SHA }),
    ),
  ],
  'a zip': (target) => archived(target, 'application/zip', zip({ 'index.html': 'A' })),
  'a tar': async (target) => archived(target, 'application/x-tar', await tar({ 'index.html': 'A' })),
  'a tar.gz': async (target) =>
    archived(target, 'application/gzip', Bun.gzipSync(Buffer.from(await tar({ 'index.html': 'A' })))),
  'a manifest': async (target) => [
    'POST',
    '/api/deployments/manifest',
    {
      json: { ...target, commitSha: SHA, files: [{ path: 'index.html', size: 1, sha256: sha256('A') }] },
    },
  ],
}

const DOCS_TARGET = { owner: 'acme', repo: 'docs' }
const NEW_TARGET = { owner: 'new', repo: 'thing' }

/** contract §2 and §5.2: the response to each caller, for a project that exists and for one that does not. */
const callers: [who: string, credential: (w: World) => CallOptions, known: number, unknown: number][] = [
  ['anonymous', () => ({}), 401, 401],
  ['an unknown key', () => ({ key: 'svc_nope' }), 401, 401],
  ['the key of the project', (w) => ({ key: w.keys.docs }), 201, 403],
  ['the key of another project', (w) => ({ key: w.keys.blog }), 403, 403],
  ['a global key', (w) => ({ key: w.keys.global }), 201, 201],
  ['an owner', (w) => ({ headers: { cookie: w.cookie('ann') } }), 201, 404],
  ['a contributor', (w) => ({ headers: { cookie: w.cookie('cora') } }), 201, 404],
  ['a viewer', (w) => ({ headers: { cookie: w.cookie('vera') } }), 403, 404],
  ['a guest', (w) => ({ headers: { cookie: w.cookie('gus') } }), 403, 404],
  ['the owner of another project', (w) => ({ headers: { cookie: w.cookie('bob') } }), 404, 404],
  ['somebody without any role', (w) => ({ headers: { cookie: w.cookie('nobody') } }), 404, 404],
  ['a global admin', (w) => ({ headers: { cookie: w.cookie('root') } }), 201, 404],
]

describe.each(Object.entries(ways))('%s', (_, way) => {
  test.each(callers)('of %s', async (_, credential, known, unknown) => {
    for (const [target, expected] of [
      [DOCS_TARGET, known],
      [NEW_TARGET, unknown],
    ] as const) {
      const before = world.leftovers()
      const [method, path, options] = await way(target)
      const mine = credential(world)
      const { status, body } = await world.send(method, path, {
        ...options,
        ...mine,
        headers: { ...options.headers, ...mine.headers },
      })
      expect([status, body.message]).toEqual([expected, expected === 201 ? undefined : expect.any(String)])
      if (expected !== 201) expect(world.leftovers()).toEqual(before)
    }
  })
})

test('no credential: 401 before the body is read', async () => {
  let wasRead = false
  const body = new ReadableStream(
    {
      pull(controller) {
        wasRead = true
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const answer = await world.send('POST', '/api/assets/upload', {
    body,
    headers: { 'content-type': 'text/nonsense' },
  })
  expect([answer.status, wasRead]).toEqual([401, false])
})

test('a target in the query is checked before the body is read', async () => {
  const types = ['multipart/form-data; boundary=x', 'application/x-tar', 'application/zip', 'text/plain']
  for (const type of types) {
    const answer = await world.send('POST', `/api/deployments?${new URLSearchParams(DOCS)}`, {
      key: world.keys.blog,
      body: brokenOff(Buffer.from('nothing good')),
      headers: { 'content-type': type },
    })
    expect(answer.status).toBe(403)
  }
})

test('a field that names a foreign project ends the upload immediately', async () => {
  const start = form(...fieldParts(DOCS)).body
  const answer = await world.send('POST', '/api/deployments', {
    key: world.keys.blog,
    body: brokenOff(start.subarray(0, start.length - 9)),
    headers: { 'content-type': 'multipart/form-data; boundary=XyZ' },
  })
  expect(answer.status).toBe(403)
})

test('a caller who may upload nowhere is refused before much is read', async () => {
  const upload = form({ file: 'big.bin', content: 'x'.repeat(3_000_000) }, ...fieldParts(DOCS))
  const { status, body } = await world.send('POST', '/api/deployments', {
    ...upload,
    headers: { ...upload.headers, cookie: world.cookie('nobody') },
  })
  expect([status, body.message]).toEqual([
    403,
    'You have no project to publish to: ask for the role contributor on one',
  ])
  expect(world.leftovers()).toMatchObject({ deployments: 0, tmp: [], stored: [] })
})

test('on a site host a session may not upload, a key may', async () => {
  const first = form(page, ...fieldParts({ ...DOCS, alias: 'live' }))
  await world.send('POST', '/api/deployments', { key: world.keys.docs, ...first })
  const host = 'live--docs--acme.localhost'
  const refused = await world.send('POST', '/api/deployments', {
    ...first,
    host,
    headers: { ...first.headers, cookie: world.cookie('ann') },
  })
  expect([refused.status, refused.body.error]).toEqual([403, 'ADMIN_HOST_ONLY'])
  expect(
    (await world.send('POST', '/api/deployments', { ...first, host, key: world.keys.docs })).status,
  ).toBe(201)
})

test('a page of another origin cannot upload with somebody’s cookies', async () => {
  const upload = form(page, ...fieldParts(DOCS))
  const { status, body } = await world.send('POST', '/api/deployments', {
    ...upload,
    headers: { ...upload.headers, cookie: world.cookie('ann'), origin: 'http://evil.example' },
  })
  expect([status, body.error]).toEqual([403, 'CROSS_ORIGIN_REQUEST'])
})

describe('a project made by an upload', () => {
  const publish = (fields: Record<string, string>) =>
    world.send('POST', '/api/deployments', { key: world.keys.global, ...form(page, ...fieldParts(fields)) })
  const project = () =>
    world.ctx.db.sqlite
      .query(
        `SELECT p.is_public AS isPublic, m.user_id AS owner FROM projects p
         JOIN permissions m ON m.project_id = p.id AND m.role = 'owner' WHERE p.owner = 'new'`,
      )
      .get()

  test('is private and belongs to the first admin if the key has no maker', async () => {
    expect((await publish({ ...DOCS, owner: 'new' })).status).toBe(201)
    expect(project()).toEqual({ isPublic: 0, owner: 'root' })
  })

  test('is public with isPublic=true and belongs to who made the key', async () => {
    inTransaction(world.ctx.db, () => {
      world.ctx.db.sqlite.query("UPDATE api_keys SET created_by = 'bob' WHERE is_global = 1").run()
    })
    expect((await publish({ ...DOCS, owner: 'new', isPublic: 'true', alias: 'live' })).status).toBe(201)
    expect(project()).toEqual({ isPublic: 1, owner: 'bob' })
    const shown = await world.call('GET', '/', { host: 'live--docs--new.localhost' })
    expect([shown.status, await shown.text()]).toEqual([200, 'A'])
  })

  test('is a single project, however its name is written and however many upload at once', async () => {
    const uploads = ['new', 'New', 'NEW'].map((owner) => publish({ ...DOCS, owner }))
    const statuses = (await Promise.all(uploads)).map(({ status }) => status)
    expect(statuses).toEqual([201, 201, 201])
    expect(world.leftovers()).toMatchObject({ projects: 3, deployments: 1, assets: 1 })
  })

  test('is not created when the upload fails', async () => {
    const before = world.leftovers()
    expect((await publish({ ...DOCS, owner: 'new', commitSha: 'zzz' })).status).toBe(400)
    expect((await publish({ ...DOCS, owner: 'n w' })).status).toBe(400)
    expect(world.leftovers()).toEqual(before)
  })
})

test('a key that is revoked during its upload publishes nothing', async () => {
  const before = world.leftovers()
  const { body, headers } = form(...fieldParts(DOCS), page)
  const pieces = [body.subarray(0, 100), body.subarray(100)]
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces.shift()
        if (piece === undefined) return controller.close()
        if (pieces.length === 0)
          inTransaction(world.ctx.db, () => {
            world.ctx.db.sqlite.query('DELETE FROM api_keys WHERE is_global = 0').run()
          })
        controller.enqueue(piece)
      },
    },
    { highWaterMark: 0 },
  )
  const answer = await world.send('POST', '/api/deployments', { key: world.keys.docs, body: stream, headers })
  expect(answer.status).toBe(401)
  expect(world.leftovers()).toEqual(before)
})
