import { afterEach, beforeEach, expect, test } from 'bun:test'
import { bytesOf } from '../../testing/put-file.ts'
import { SEED_OWNER } from '../../testing/seed.ts'
import { findProblems } from '../deployments/check.ts'
import { collectGarbage, GRACE_MS, sweepStore } from '../deployments/collect.ts'
import { type FilesWorld, filesWorld } from './files.fixture.ts'
import { totalsOf } from './queries.ts'
import { deleteFiles, findFile, keepFile, registerFile, stageFile } from './service.ts'

let world: FilesWorld
beforeEach(async () => {
  world = await filesWorld({ PROJECT_FILES_BYTES: '4000001' })
})
afterEach(() => world.close())

const LARGE = Buffer.alloc(2_000_000, 'large')
const count = (table: string): number =>
  world.app.ctx.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1

async function problems(): Promise<string[]> {
  const found: string[] = []
  for await (const { detail } of findProblems(world.app.ctx)) found.push(detail)
  return found
}

/** The first run stamps what lost its last use; the hour starts there. */
async function collect(): Promise<number> {
  await collectGarbage(world.app.ctx)
  world.app.advance(GRACE_MS)
  return collectGarbage(world.app.ctx)
}

const stage = (content: string | Uint8Array, limits: { maxBytes?: number; statedBytes?: number } = {}) =>
  stageFile(world.app.ctx, world.projectId, bytesOf(content), { maxBytes: 2 ** 30, ...limits })

test('a file is found with what it is, and replaced as a whole', async () => {
  const { ctx } = world.app
  const file = await world.put('a/b.txt', 'one', 'text/plain')
  expect(findFile(ctx, world.projectId, 'a/b.txt')).toEqual(file)
  expect(file).toMatchObject({ size: 3, sha256: Bun.SHA256.hash('one', 'hex'), contentType: 'text/plain' })
  world.app.advance(1000)
  const later = await world.put('a/b.txt', LARGE, 'image/png')
  expect(later).toMatchObject({ id: file.id, createdAt: file.createdAt, updatedAt: ctx.now() })
  expect(totalsOf(ctx.db, world.projectId)).toEqual({ files: 1, bytes: LARGE.length })
  expect(await collect()).toBe(1)
  expect(await problems()).toEqual([])
})

test('a content lives while a file or a deployment has it', async () => {
  const { ctx } = world.app
  await world.put('a', 'x')
  await world.put('b', LARGE)
  await world.put('c', LARGE)
  expect(count('blobs')).toBe(2)
  await world.app.call('DELETE', `/api/deployments/${world.deploymentId}`, { as: SEED_OWNER })
  await deleteFiles(ctx, world.projectId, { paths: ['c'] })
  expect(await collect()).toBe(0)
  expect(await sweepStore(ctx)).toBe(0)
  expect(await deleteFiles(ctx, world.projectId, { paths: ['a', 'b', 'none'] })).toEqual({
    deleted: 2,
    bytes: LARGE.length + 1,
  })
  await world.put('d', 'x')
  expect(await collect()).toBe(1)
  expect(await problems()).toEqual([])
})

test('what belongs to a file is committed with it, or neither is', async () => {
  const { ctx } = world.app
  const file = { projectId: world.projectId, path: 'a', contentType: 'text/plain', isRegistered: true }
  const { result } = await keepFile(ctx, file, await stage('one'), (stored) => stored.size)
  expect(result).toBe(3)
  const failing = keepFile(ctx, { ...file, path: 'b' }, await stage(LARGE), () => {
    throw new Error('refused')
  })
  await expect(failing).rejects.toThrow('refused')
  expect(findFile(ctx, world.projectId, 'b')).toBeUndefined()
  expect([
    count('project_files'),
    await sweepStore(ctx),
    ctx.blobs.isPinned(Bun.SHA256.hash(LARGE, 'hex')),
  ]).toEqual([1, 0, false])
})

test('too large a file ends at its bound, and leaves nothing', async () => {
  const code = { code: 'FILE_TOO_LARGE' }
  await expect(stage(LARGE, { maxBytes: LARGE.length - 1 })).rejects.toMatchObject(code)
  await expect(stage('never read', { maxBytes: 5, statedBytes: 6 })).rejects.toMatchObject(code)
  const staged = await stage(LARGE, { maxBytes: LARGE.length })
  await staged.discard()
  expect(await sweepStore(world.app.ctx)).toBe(0)
})

test('a project is full by what is announced, and by what is stored', async () => {
  const { ctx } = world.app
  const full = { code: 'PROJECT_FILES_FULL' }
  await world.put('a', LARGE)
  await expect(stage('', { statedBytes: 2_000_002 })).rejects.toMatchObject({
    ...full,
    details: [expect.objectContaining({ limit: 4_000_001, used: 2_000_000, needed: 2_000_002 })],
  })
  const [first, second] = [await stage(LARGE), await stage(LARGE)]
  const at = (path: string) => ({ projectId: world.projectId, path, contentType: 'a/b', isRegistered: false })
  await keepFile(ctx, at('b'), first)
  await expect(keepFile(ctx, at('c'), second)).rejects.toMatchObject(full)
  // What is replaced does not count.
  await keepFile(ctx, at('b'), await stage(LARGE))
  expect(totalsOf(ctx.db, world.projectId)).toEqual({ files: 2, bytes: 4_000_000 })
})

test('the quota of the project counts its files, equal contents once', async () => {
  const { ctx } = world.app
  const set = await world.app.call('PUT', `/api/projects/${world.projectId}/quota`, {
    as: await admin(),
    json: { bytes: 2_000_001 },
  })
  expect(await set.json()).toMatchObject({ used: { bytes: 1 } })
  await world.put('a', LARGE)
  const over = { code: 'QUOTA_EXCEEDED' }
  await expect(stage('', { statedBytes: 1 })).rejects.toMatchObject(over)
  await expect(world.put('b', 'y')).rejects.toMatchObject(over)
  await world.put('b', LARGE)
  const quota = await world.app.call('GET', `/api/projects/${world.projectId}/quota`, { as: SEED_OWNER })
  expect(await quota.json()).toMatchObject({ used: { bytes: 2_000_001, files: 1 } })
  expect(findFile(ctx, world.projectId, 'b')?.size).toBe(LARGE.length)
})

async function admin(): Promise<string> {
  await world.app.addUser('root@example.com', 'admin')
  return 'root@example.com'
}

test('below the floor of the disk nothing is stored', async () => {
  const full = await filesWorld({ MIN_FREE_DISK: '1000t' })
  try {
    const body = bytesOf('x')
    await expect(stageFile(full.app.ctx, full.projectId, body, { maxBytes: 1 })).rejects.toMatchObject({
      status: 507,
      code: 'DISK_LOW',
    })
  } finally {
    full.close()
  }
})

test('a folder goes with what is in it, and nothing that begins like it', async () => {
  const { ctx } = world.app
  for (const path of ['videos/1/a', 'videos/1/b/c', 'videos/10/a', 'videos/1', 'videos/1!', 'videos/10'])
    await world.put(path, path)
  const folder = { folder: 'videos/1' }
  const both = { deleted: 2, bytes: 'videos/1/a'.length + 'videos/1/b/c'.length }
  expect(await deleteFiles(ctx, world.projectId, folder, { dryRun: true })).toEqual(both)
  expect(count('project_files')).toBe(6)
  expect(await deleteFiles(ctx, world.projectId, folder)).toEqual(both)
  expect(await deleteFiles(ctx, world.projectId, folder)).toEqual({ deleted: 0, bytes: 0 })
  expect(count('project_files')).toBe(4)
})

test('a record is made of the file that was looked at, or of none', async () => {
  const { ctx } = world.app
  const seen = await world.put('a', 'one')
  await world.put('a', 'two')
  expect(() => registerFile(ctx, seen, () => 'made')).toThrow(expect.objectContaining({ status: 409 }))
  const file = await world.put('a', 'three')
  expect(registerFile(ctx, file, () => 'made')).toBe('made')
  expect(findFile(ctx, world.projectId, 'a')?.isRegistered).toBe(true)
})

test('a project that goes takes its files along; nothing finds or stores one meanwhile', async () => {
  const { ctx } = world.app
  await world.put('a', LARGE)
  registerFile(ctx, await world.put('b', 'b'), () => null)
  const staged = await stage('late')
  expect(
    (await world.app.call('DELETE', `/api/projects/${world.projectId}`, { as: SEED_OWNER })).status,
  ).toBe(204)
  expect(findFile(ctx, world.projectId, 'a')).toBeUndefined()
  const late = { projectId: world.projectId, path: 'late', contentType: 'a/b', isRegistered: false }
  await expect(keepFile(ctx, late, staged)).rejects.toMatchObject({ status: 404 })
  expect([count('project_files'), count('project_file_totals'), count('spent_uploads')]).toEqual([0, 0, 0])
  await collect()
  expect([count('blobs'), await problems()]).toEqual([0, []])
})

test('damage names the key', async () => {
  const { ctx } = world.app
  const { sha256 } = await world.put('a/b c.bin', LARGE)
  await Bun.write(`${ctx.config.dataDir}/blobs/files/${sha256.slice(0, 2)}/${sha256}`, 'changed')
  expect(await problems()).toEqual([expect.stringContaining('acme/docs/uploads/a/b c.bin')])
  ctx.db.sqlite.run('UPDATE project_file_totals SET bytes = 5')
  expect(await problems()).toContainEqual(
    expect.stringContaining('acme/docs says that its files are 1 with 5 bytes'),
  )
})
