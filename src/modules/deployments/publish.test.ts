import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { zip } from '../../platform/archive/zip.fixture.ts'
import {
  brokenOff,
  type Content,
  DOCS,
  fieldParts,
  fileParts,
  form,
  QUERY,
  SHA,
  SITE,
  sha256,
  tar,
  uploadWorld,
  type World,
} from './upload/upload.fixture.ts'
import { stopVariants } from './variants.ts'

let world: World
beforeEach(async () => {
  world = await uploadWorld()
})
afterEach(() => world.close())

describe('an upload that is appended to a SHA', () => {
  const upload = (files: Record<string, Content>, fields: Record<string, string> = {}) =>
    world.sendForm(
      '/api/deployments',
      world.keys.docs,
      ...fileParts(files),
      ...fieldParts({ ...DOCS, append: 'true', ...fields }),
    )

  test('adds, replaces equal paths and keeps ids, description and order of the rest', async () => {
    const first = await upload({ 'a.txt': 'A', 'b.txt': 'B' }, { description: 'First', basePath: '/dist' })
    const idOf = () => world.ctx.db.sqlite.query("SELECT id FROM assets WHERE path = 'b.txt'").get()
    const before = idOf()
    const second = await upload({ 'b.txt': 'BB', 'c.txt': 'C' }, { branch: 'next' })
    expect(world.filesOf()).toEqual({ 'a.txt': 'A', 'b.txt': 'BB', 'c.txt': 'C' })
    expect(idOf()).toEqual(before)
    expect(second.body['deployment']).toMatchObject({
      id: (first.body['deployment'] as { id: string }).id,
      fileCount: 3,
      totalSize: 4,
      description: 'First',
      branch: 'next',
    })
    expect(world.ctx.db.sqlite.query('SELECT revision, base_path FROM deployments').get()).toEqual({
      revision: 2,
      base_path: '/dist',
    })
  })

  test('a path cannot become a folder', async () => {
    await upload({ a: 'A' })
    const { status, body } = await upload({ 'a/b': 'B', 'c.txt': 'C' })
    expect([status, body.message]).toEqual([400, '"a" cannot be both a file and the folder of "a/b"'])
    expect(world.filesOf()).toEqual({ a: 'A' })
  })

  test.each([
    ['b/c', 'b', 'a large version'],
    ['b/c', 'b', 'a small one'],
    ['b', 'b/c/d', 'a large version'],
    ['b', 'b/c/d', 'a small one'],
  ])('%s and %s clash in %s', async (first, second, size) => {
    const others = Array.from({ length: size === 'a small one' ? 0 : 20 }, (_, n) => [`o/${n}`, 'o'])
    await upload({ ...Object.fromEntries(others), [first]: 'B' })
    const { status, body } = await upload({ 'n.txt': 'N', [second]: 'B' })
    const [file = '', below] = [first, second].sort()
    const message = `"${file}" cannot be both a file and the folder of "${below}"`
    expect([status, body.message]).toEqual([400, message])
    expect((await upload({ 'b.txt': 'beside', 'bb/c': 'beside' })).status).toBe(201)
  })

  test('many concurrent uploads all succeed', async () => {
    const uploads = Array.from({ length: 8 }, (_, i) =>
      upload({ 'all.txt': `${i}`, [`own/${i}.txt`]: `${i}` }),
    )
    const statuses = (await Promise.all(uploads)).map(({ status }) => status)
    expect(statuses).toEqual(Array.from({ length: 8 }, () => 201))
    const files = world.filesOf()
    expect(Object.keys(files)).toEqual(['all.txt', ...Array.from({ length: 8 }, (_, i) => `own/${i}.txt`)])
    expect(
      world.ctx.db.sqlite.query('SELECT file_count, total_size, revision FROM deployments').get(),
    ).toEqual({ file_count: 9, total_size: 9, revision: 8 })
    expect(world.leftovers()).toMatchObject({ deployments: 1, assets: 9, tmp: [] })
  })

  test('one of two clashing uploads is refused', async () => {
    const statuses = (await Promise.all([upload({ a: 'A' }), upload({ 'a/b': 'B' })])).map(
      ({ status }) => status,
    )
    expect(statuses.toSorted()).toEqual([201, 400])
    expect(world.leftovers()).toMatchObject({ deployments: 1, assets: 1, tmp: [] })
  })
})

test('a locked alias stays: the upload is kept, with published false', async () => {
  const upload = (commitSha: string) =>
    world.sendForm(
      '/api/deployments',
      world.keys.docs,
      ...fileParts(SITE),
      ...fieldParts({ ...DOCS, commitSha, alias: 'live' }),
    )
  const { body } = await upload(SHA)
  const { id } = body['alias'] as { id: string }
  const locked = await world.send('PATCH', `/api/aliases/${id}`, {
    headers: { cookie: world.cookie('ann') },
    json: { isLocked: true },
  })
  expect(locked.status).toBe(200)
  const second = await upload('bbbbbbb')
  expect(second.status).toBe(201)
  expect(second.body).toMatchObject({ published: false, alias: { name: 'live', commitSha: SHA } })
  expect(Object.keys(world.filesOf('bbbbbbb'))).toEqual(Object.keys(SITE).toSorted())
})

test('every content is stored once, and its deployment waits for compression', async () => {
  const code = 'let a = 1;'.repeat(200)
  const { sqlite } = world.ctx.db
  await stopVariants(world.ctx)
  await world.sendForm(
    '/api/deployments',
    world.keys.docs,
    ...fileParts({ 'a.js': code, 'b.js': code, 'small.js': 'x' }),
    ...fieldParts(DOCS),
  )
  expect(sqlite.query('SELECT sha256 FROM blobs ORDER BY size_bytes').values()).toEqual([
    [sha256('x')],
    [sha256(code)],
  ])
  expect(sqlite.query('SELECT deployment_id FROM waiting_deployments').values()).toEqual(
    sqlite.query('SELECT id FROM deployments').values(),
  )
})

test('the audit log records an upload with its key', async () => {
  await world.sendForm(
    '/api/deployments',
    world.keys.docs,
    ...fileParts(SITE),
    ...fieldParts({ ...DOCS, alias: 'live' }),
  )
  const rows = world.ctx.db.sqlite
    .query<{ action: string; actor_name: string }, []>(
      "SELECT action, actor_name FROM audit_log WHERE actor_kind = 'key' ORDER BY id",
    )
    .all()
  expect(rows).toEqual([
    { action: 'deployment.create', actor_name: 'ci' },
    { action: 'alias.create', actor_name: 'ci' },
  ])
})

test('a client that disconnects leaves nothing behind, whatever it was sending', async () => {
  const before = world.leftovers()
  const big = 'x'.repeat(3_000_000)
  const whole = form(...fieldParts(DOCS), ...fileParts({ 'a.txt': 'A', 'big.bin': big, 'z.txt': 'Z' }))
  const one = form(...fieldParts(DOCS), { file: 'a.zip', content: big })
  const packed = await tar({ 'a.txt': 'A', 'big.bin': big })
  const sent: [path: string, type: string, bytes: Uint8Array][] = [
    ['/api/assets/upload', whole.headers['content-type'] ?? '', whole.body.subarray(0, 2_000_000)],
    [`/api/deployments?${QUERY}`, 'application/x-tar', packed.subarray(0, 2_000_000)],
    [`/api/deployments?${QUERY}`, 'application/gzip', Bun.gzipSync(Buffer.from(packed)).subarray(0, 2000)],
    [`/api/deployments?${QUERY}`, 'application/zip', zip({ a: big }).subarray(0, 2000)],
    ['/api/deployments/zip', whole.headers['content-type'] ?? '', one.body.subarray(0, 2_000_000)],
  ]
  for (const [path, type, bytes] of sent) {
    const answer = await world.send('POST', path, {
      key: world.keys.docs,
      body: brokenOff(bytes),
      headers: { 'content-type': type },
    })
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('was cut off')])
    expect(world.leftovers()).toEqual(before)
  }
})
