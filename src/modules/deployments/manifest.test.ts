import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { removeExpiredUploads } from './manifest.ts'
import {
  type Answer,
  brokenOff,
  type Content,
  DOCS,
  fieldParts,
  fileParts,
  form,
  SHA,
  sha256,
  tar,
  uploadWorld,
  type World,
} from './upload/upload.fixture.ts'

let world: World
const open = async (env: Record<string, string> = {}) => {
  world = await uploadWorld(env)
}
beforeEach(() => open())
afterEach(() => world.close())

type Files = Record<string, Content>
const manifestOf = (files: Files, more: Record<string, unknown> = {}) => ({
  ...DOCS,
  ...more,
  files: Object.entries(files).map(([path, content]) => ({
    path,
    size: Buffer.byteLength(content as string),
    sha256: sha256(content),
  })),
})
const begin = (json: unknown, key = world.keys.docs) =>
  world.send('POST', '/api/deployments/manifest', { key, json })
const put = (uploadId: unknown, bytes: Uint8Array | ReadableStream | null, key = world.keys.docs) =>
  world.send('PUT', `/api/deployments/manifest/${uploadId}`, {
    key,
    headers: { 'content-type': 'application/x-tar' },
    ...(bytes === null ? {} : { body: bytes instanceof Uint8Array ? new Uint8Array(bytes) : bytes }),
  })
const byHash = (...contents: Content[]): Files =>
  Object.fromEntries(contents.map((content) => [sha256(content), content]))
const idOf = ({ body }: Answer) => body['uploadId']
const missingOf = ({ body }: Answer) => body['missing']

const SITE = {
  'index.html': '<h1>Hi</h1>',
  'a/one.txt': 'same',
  'a/two.txt': 'same',
  'big.bin': 'x'.repeat(2_500_000),
}

test('two requests publish, and the next deployment sends only what changed', async () => {
  const first = await begin(manifestOf(SITE, { branch: 'main', alias: 'production', description: 'First' }))
  expect(first).toMatchObject({ status: 201, body: { expiresAt: '2026-11-20T13:00:00.000Z' } })
  expect(missingOf(first)).toEqual(
    ['index.html', 'a/one.txt', 'big.bin'].map((path) => sha256(SITE[path as keyof typeof SITE])),
  )
  const published = await put(idOf(first), await tar(byHash(SITE['index.html'], 'same', SITE['big.bin'])))
  expect(published).toMatchObject({
    status: 201,
    body: {
      success: true,
      published: true,
      deployment: { commitSha: SHA, branch: 'main', description: 'First', fileCount: 4 },
      alias: { name: 'production', commitSha: SHA },
    },
  })
  expect(world.filesOf()).toEqual(SITE)

  const next = { ...SITE, 'index.html': '<h1>Ho</h1>' }
  const second = await begin(manifestOf(next, { commitSha: 'bbbbbbb' }))
  expect(missingOf(second)).toEqual([sha256('<h1>Ho</h1>')])
  expect((await put(idOf(second), await tar(byHash('<h1>Ho</h1>')))).status).toBe(201)
  expect(world.filesOf('bbbbbbb')).toEqual(next)
})

test('with nothing missing, an empty body publishes at once', async () => {
  await world.send('POST', '/api/deployments', {
    key: world.keys.docs,
    ...form(...fileParts({ 'a.txt': 'A' }), ...fieldParts(DOCS)),
  })
  const slot = await begin(manifestOf({ 'b.txt': 'A' }, { commitSha: 'bbbbbbb' }))
  expect(missingOf(slot)).toEqual([])
  expect((await put(idOf(slot), null)).status).toBe(201)
  expect(world.filesOf('bbbbbbb')).toEqual({ 'b.txt': 'A' })
})

describe('a repeated PUT, as from a proxy that lost the response', () => {
  const files = { 'index.html': '<h1>Hi</h1>' }
  const publish = async (commitSha: string) => {
    const slot = await begin(manifestOf(files, { commitSha, alias: 'production' }))
    const bytes = await tar(byHash('<h1>Hi</h1>'))
    return { slot, bytes, answer: await put(idOf(slot), bytes) }
  }
  const rowOf = (sql: string) => world.ctx.db.sqlite.query(sql).get()

  test('gets the same response', async () => {
    const { slot, bytes, answer } = await publish('aaaaaaa')
    expect(answer.status).toBe(201)
    expect(await put(idOf(slot), bytes)).toMatchObject({ status: 201, body: answer.body })
  })

  test('does not move back an alias that was moved meanwhile', async () => {
    const { slot, bytes } = await publish('aaaaaaa')
    await publish('bbbbbbb')
    const { status, body } = await put(idOf(slot), bytes)
    expect(status).toBe(201)
    expect(body).toMatchObject({ published: false, deployment: { commitSha: 'aaaaaaa' } })
    expect(
      rowOf('SELECT d.commit_sha AS at FROM aliases a JOIN deployments d ON d.id = a.deployment_id'),
    ).toEqual({ at: 'bbbbbbb' })
  })

  test('in parallel with the first, publishes once', async () => {
    const slot = await begin(manifestOf(files, { commitSha: 'aaaaaaa', alias: 'production' }))
    const bytes = await tar(byHash('<h1>Hi</h1>'))
    const answers = await Promise.all([1, 2, 3].map(() => put(idOf(slot), bytes)))
    expect(answers.map(({ status, body }) => [status, body['published']])).toEqual(Array(3).fill([201, true]))
    expect(rowOf("SELECT count(*) AS times FROM audit_log WHERE action LIKE 'deployment.%'")).toEqual({
      times: 1,
    })
  })

  test('after its deployment was deleted, says so and restores nothing', async () => {
    const { slot, bytes } = await publish('aaaaaaa')
    await publish('bbbbbbb')
    world.ctx.db.sqlite.run("DELETE FROM deployments WHERE commit_sha = 'aaaaaaa'")
    const again = await put(idOf(slot), bytes)
    expect([again.status, again.body.message]).toEqual([404, expect.stringContaining('has been deleted')])
  })
})

test('it is appended like any upload', async () => {
  const upload = async (files: Files) => {
    const slot = await begin({ ...manifestOf(files), append: true })
    return put(idOf(slot), await tar(byHash(...Object.values(files))))
  }
  await upload({ 'a.txt': 'A', 'b.txt': 'B' })
  expect((await upload({ 'b.txt': 'BB' })).body['deployment']).toMatchObject({ fileCount: 2, totalSize: 3 })
  expect(world.filesOf()).toEqual({ 'a.txt': 'A', 'b.txt': 'BB' })
  const clash = await begin({ ...manifestOf({ 'a.txt/x': 'X' }), append: true })
  expect([clash.status, clash.body.message]).toEqual([
    400,
    '"a.txt" cannot be both a file and the folder of "a.txt/x"',
  ])
})

describe('incomplete uploads', () => {
  const files = { 'a.txt': 'A', 'b.txt': 'B', 'c.bin': 'c'.repeat(100_000) }

  test('of a body that is cut off, complete files are kept', async () => {
    const slot = await begin(manifestOf(files))
    const bytes = await tar(byHash('A', 'B', files['c.bin']))
    const cut = await put(idOf(slot), brokenOff(bytes.subarray(0, 50_000)))
    expect([cut.status, cut.body.message]).toEqual([400, expect.stringContaining('cut off')])
    expect(world.leftovers()).toMatchObject({ deployments: 0, assets: 0, upload_blobs: 2, tmp: [] })

    const again = await begin(manifestOf(files))
    expect(missingOf(again)).toEqual([sha256(files['c.bin'])])
    expect((await put(idOf(again), await tar(byHash(files['c.bin'])))).status).toBe(201)
    expect(world.filesOf()).toEqual(files)
  })

  test('a complete tar that lacks files: UPLOAD_INCOMPLETE, and the rest may follow', async () => {
    const slot = await begin(manifestOf(files))
    const some = await put(idOf(slot), await tar(byHash('A')))
    expect([some.status, some.body.error]).toEqual([400, 'UPLOAD_INCOMPLETE'])
    const none = await put(idOf(slot), null)
    expect([none.status, none.body.error]).toEqual([400, 'UPLOAD_INCOMPLETE'])
    expect((await put(idOf(slot), await tar(byHash('B', files['c.bin'])))).status).toBe(201)
    expect(world.filesOf()).toEqual(files)
  })

  test('bytes that do not match their name are refused and not kept', async () => {
    for (const wrong of ['X', 'x'.repeat(100_000)]) {
      const right = wrong.length === 1 ? 'B' : files['c.bin']
      const slot = await begin(manifestOf(files))
      const answer = await put(idOf(slot), await tar({ ...byHash('A'), [sha256(right)]: wrong }))
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(sha256(right))])
      expect(missingOf(await begin(manifestOf(files)))).toEqual([sha256('B'), sha256(files['c.bin'])])
    }
    expect(world.leftovers()).toMatchObject({ deployments: 0, blobs: 1, upload_blobs: 1, tmp: [] })
  })

  test('an unannounced entry, and one of another size', async () => {
    const slot = await begin(manifestOf({ 'a.txt': 'A' }))
    const foreign = await put(idOf(slot), await tar(byHash('other')))
    expect([foreign.status, foreign.body.message]).toEqual([
      400,
      expect.stringContaining('is not in the manifest'),
    ])
    const lying = manifestOf({ 'a.txt': 'A' })
    lying.files = lying.files.map((file) => ({ ...file, size: 7 }))
    const answer = await put(idOf(await begin(lying)), await tar(byHash('A')))
    expect([answer.status, answer.body.message]).toEqual([
      400,
      expect.stringContaining('the manifest says 7'),
    ])
    expect(world.leftovers()).toMatchObject({
      deployments: 0,
      blobs: 0,
      upload_blobs: 0,
      tmp: [],
      stored: [],
    })
  })

  test('kept contents are freed when they expire', async () => {
    const slot = await begin(manifestOf(files))
    await put(idOf(slot), await tar(byHash('A')))
    world.advance(60 * 60 * 1000 + 1)
    expect(missingOf(await begin(manifestOf(files)))).toContain(sha256('A'))
    await removeExpiredUploads(world.ctx)
    expect(world.leftovers()).toMatchObject({ upload_blobs: 0 })
    expect(world.ctx.db.sqlite.query('SELECT sha256 FROM blob_candidates').all()).toEqual([
      { sha256: sha256('A') },
    ])
    const late = await put(idOf(slot), null)
    expect([late.status, late.body.message]).toEqual([
      404,
      expect.stringContaining('send the manifest again'),
    ])
    world.advance(26 * 60 * 60 * 1000)
    await removeExpiredUploads(world.ctx)
    expect(world.ctx.db.sqlite.query('SELECT count(*) AS n FROM uploads').get()).toEqual({ n: 0 })
  })
})

test('expired uploads and contents are removed in pieces, others stay', async () => {
  const { sqlite } = world.ctx.db
  const slot = await begin(manifestOf({ 'a.txt': 'A', 'b.txt': 'B' }))
  await put(idOf(slot), await tar(byHash('A')))
  const many = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1201)`
  const fake = `printf('%064x', i)`
  sqlite.run(`${many} INSERT INTO blobs (sha256, size_bytes, offset) SELECT ${fake}, 1, 0 FROM n`)
  sqlite.run(`${many} INSERT INTO upload_blobs SELECT project_id, ${fake}, 1 FROM n, uploads`)
  sqlite.run(
    `${many} INSERT INTO uploads SELECT i, project_id, manifest, created_by, 1, NULL, NULL, NULL FROM n, uploads WHERE i <= 25`,
  )
  await removeExpiredUploads(world.ctx)
  expect(sqlite.query('SELECT id FROM uploads').all()).toEqual([{ id: idOf(slot) }])
  expect(sqlite.query('SELECT sha256 FROM upload_blobs').all()).toEqual([{ sha256: sha256('A') }])
  expect(sqlite.query('SELECT count(*) AS n FROM blob_candidates').get()).toEqual({ n: 1201 })
})

describe('two projects', () => {
  const secret = { 'secret.txt': 'the secret of bob' }
  beforeEach(async () => {
    await world.send('POST', '/api/deployments', {
      key: world.keys.blog,
      ...form(...fileParts(secret), ...fieldParts({ owner: 'bob', repo: 'blog', commitSha: SHA })),
    })
  })

  test('nobody can probe or publish a file of another project by its hash', async () => {
    const slot = await begin(manifestOf(secret))
    expect(missingOf(slot)).toEqual([sha256(secret['secret.txt'])])
    const answer = await put(idOf(slot), null)
    expect([answer.status, answer.body.error]).toEqual([400, 'UPLOAD_INCOMPLETE'])
    expect((await put(idOf(slot), await tar(byHash(secret['secret.txt'])))).status).toBe(201)
  })

  test('nor does an interrupted upload of one count for the other', async () => {
    const slot = await begin(manifestOf({ a: 'A', b: 'B' }))
    await put(idOf(slot), await tar(byHash('A')))
    const other = { ...manifestOf({ a: 'A' }), owner: 'bob', repo: 'blog' }
    expect(missingOf(await begin(other, world.keys.blog))).toEqual([sha256('A')])
  })

  test('an upload belongs to its project', async () => {
    const slot = await begin(manifestOf({ a: 'A' }))
    const bytes = await tar(byHash('A'))
    expect((await put(idOf(slot), bytes, world.keys.blog)).status).toBe(403)
    expect((await put(crypto.randomUUID(), bytes, world.keys.blog)).status).toBe(403)
    expect((await put(crypto.randomUUID(), bytes, world.keys.global)).status).toBe(404)
    const path = `/api/deployments/manifest/${idOf(slot)}`
    const asPerson = (name: string) => world.send('PUT', path, { headers: { cookie: world.cookie(name) } })
    expect((await asPerson('bob')).status).toBe(404)
    expect((await asPerson('vera')).status).toBe(403)
    expect((await world.send('PUT', path)).status).toBe(401)
    expect((await put(idOf(slot), bytes, world.keys.global)).status).toBe(201)
  })
})

describe('manifests', () => {
  const entry = { path: 'a.txt', size: 1, sha256: sha256('A') }
  const cases: [what: string, json: unknown, path: string][] = [
    ['no files', { ...DOCS }, 'files'],
    ['files that are not a list', { ...DOCS, files: {} }, 'files'],
    ['an empty list', { ...DOCS, files: [] }, 'files'],
    ['only files that are left out', { ...DOCS, files: [{ ...entry, path: '.env' }] }, 'files'],
    ['an invalid entry', { ...DOCS, files: [entry, 'a.txt'] }, 'files[1].path'],
    ['an unsafe path', { ...DOCS, files: [{ ...entry, path: '../a' }] }, 'files[0].path'],
    ['a size below 0', { ...DOCS, files: [{ ...entry, size: -1 }] }, 'files[0].size'],
    ['a size that is not a number', { ...DOCS, files: [{ ...entry, size: '1' }] }, 'files[0].size'],
    ['an invalid hash', { ...DOCS, files: [{ ...entry, sha256: 'abc' }] }, 'files[0].sha256'],
    [
      'one path twice',
      { ...DOCS, files: [entry, { ...entry, path: '/a.txt', sha256: sha256('B') }] },
      'files[1].path',
    ],
    ['one content of two sizes', { ...DOCS, files: [entry, { ...entry, path: 'b', size: 2 }] }, 'files'],
    ['a bad SHA', { ...DOCS, commitSha: 'x', files: [entry] }, 'commitSha'],
    ['an alias like a SHA', { ...DOCS, alias: 'abcdef0', files: [entry] }, 'alias'],
    ['an alias that is not a text', { ...DOCS, alias: 7, files: [entry] }, 'alias'],
  ]
  test.each(cases)('%s', async (_, json, path) => {
    const before = world.leftovers()
    const { status, body } = await begin(json)
    expect([status, body]).toMatchObject([400, { details: [{ path }] }])
    expect(world.leftovers()).toEqual(before)
  })

  test('that are not JSON', async () => {
    for (const body of ['{', '', '[]', 'null', Buffer.from([0x22, 0xff, 0x22])]) {
      const answer = await world.send('POST', '/api/deployments/manifest', {
        key: world.keys.docs,
        body,
        headers: { 'content-type': 'application/json' },
      })
      expect(answer.status).toBe(400)
    }
  })

  test('paths are normalised, equal entries are merged, and skipped files are left out', async () => {
    const files = [
      entry,
      { ...entry, path: './a.txt' },
      { ...entry, path: '/dir/cafe\u0301.txt', sha256: entry.sha256.toUpperCase() },
      { ...entry, path: '.git/HEAD' },
    ]
    const slot = await begin({ ...DOCS, alias: null, unknown: { deep: true }, files })
    expect(missingOf(slot)).toEqual([entry.sha256])
    expect((await put(idOf(slot), await tar({ [`./${entry.sha256}`]: 'A' }))).status).toBe(201)
    expect(world.filesOf()).toEqual({ 'a.txt': 'A', 'dir/caf\u00e9.txt': 'A' })
  })

  test('50,000 files fit; any JSON value may follow them', async () => {
    const files = Array.from({ length: 50_000 }, (_, i) => ({
      ...entry,
      path: `some/folder/of/a/site/file-${i}.html`,
    }))
    const slot = await begin({ ...DOCS, files })
    expect(slot.status).toBe(201)
    const published = await put(idOf(slot), await tar(byHash('A')))
    expect(published.body['deployment']).toMatchObject({ fileCount: 50_000, totalSize: 50_000 })
    expect((await begin({ ...DOCS, files: [...files, { ...entry, path: 'one/more' }] })).status).toBe(413)
  })
})

test('past a limit nothing is kept', async () => {
  await world.close()
  await open({ MAX_UPLOAD_BYTES: '100000', MAX_DEPLOYMENT_FILES: '3' })
  const before = world.leftovers()
  const large = await begin(manifestOf({ a: 'x'.repeat(60_000), b: 'y'.repeat(60_000) }))
  expect(large.status).toBe(413)
  expect((await begin(manifestOf({ a: '1', b: '2', c: '3', d: '4' }))).status).toBe(413)
  const slot = await begin(manifestOf({ a: 'A', b: 'B' }))
  const filling = Buffer.concat([await tar(byHash('A', 'B')), Buffer.alloc(200_000)])
  expect((await put(idOf(slot), new Blob([filling]).stream())).status).toBe(413)
  expect(world.leftovers()).toEqual(before)
})

test('a global key creates the project that its manifest names', async () => {
  const slot = await begin(manifestOf({ a: 'A' }, { owner: 'new', isPublic: true }), world.keys.global)
  const published = await put(idOf(slot), await tar(byHash('A')), world.keys.global)
  expect(published.body['deployment']).toMatchObject({ owner: 'new', repo: 'docs' })
  expect(world.ctx.db.sqlite.query("SELECT is_public FROM projects WHERE owner = 'new'").get()).toEqual({
    is_public: 1,
  })
})

test('an upload whose project is deleted meanwhile gets 404', async () => {
  const slot = await begin(manifestOf({ a: 'A' }))
  await world.send('DELETE', `/api/projects/${world.docsId}`, { headers: { cookie: world.cookie('ann') } })
  expect((await put(idOf(slot), await tar(byHash('A')), world.keys.global)).status).toBe(404)
})
