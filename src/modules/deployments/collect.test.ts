import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SEED_OWNER, type Seeded, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { openStage } from './blob-queries.ts'
import { findProblems } from './check.ts'
import { collectGarbage, GRACE_MS, sweepStore } from './collect.ts'

let app: TestApp
beforeEach(async () => {
  app = await testApp()
})
afterEach(() => app.close())

const hash = (content: string | Uint8Array): string => Bun.SHA256.hash(content, 'hex')
const LARGE = 'large '.repeat(300_000)

let count = 0
const seed = (files: Record<string, string>, more: { alias?: string; withVariants?: boolean } = {}) => {
  count += 1
  const sha = count.toString(16).padStart(40, 'e')
  return seedDeployment(app, { owner: 'acme', repo: 'docs', sha, files, ...more })
}

async function remove({ deploymentId }: Seeded): Promise<void> {
  const answer = await app.call('DELETE', `/api/deployments/${deploymentId}`, { as: SEED_OWNER })
  expect(answer.status).toBe(204)
}

const isStored = (content: string): boolean =>
  app.ctx.db.sqlite.query('SELECT 1 FROM blobs WHERE sha256 = ?').get(hash(content)) !== null
const fileOf = (content: string): string =>
  join(app.ctx.config.dataDir, 'blobs', 'files', hash(content).slice(0, 2), hash(content))
const packs = (): string[] => readdirSync(join(app.ctx.config.dataDir, 'blobs', 'packs'))
const packOf = (content: string): string | undefined =>
  app.ctx.db.sqlite
    .query<{ pack: string }, [string]>('SELECT pack FROM blobs WHERE sha256 = ?')
    .get(hash(content))?.pack
const candidates = (): unknown[] => app.ctx.db.sqlite.query('SELECT * FROM blob_candidates').all()

async function problems(): Promise<string[]> {
  const found: string[] = []
  for await (const { detail } of findProblems(app.ctx)) found.push(detail)
  return found
}

/** The first run stamps contents that lost their reference; the hour starts there. */
async function collectAfter(ms: number): Promise<number> {
  await collectGarbage(app.ctx)
  app.advance(ms)
  return collectGarbage(app.ctx)
}

describe('after a deletion', () => {
  test('contents are freed after an hour, not before', async () => {
    const seeded = await seed({ 'a.txt': 'small', 'b.txt': LARGE })
    await remove(seeded)
    expect(await collectAfter(GRACE_MS - 1)).toBe(0)
    expect([isStored('small'), isStored(LARGE), existsSync(fileOf(LARGE)), packs().length]).toEqual([
      true,
      true,
      true,
      1,
    ])
    app.advance(1)
    expect(await collectGarbage(app.ctx)).toBe(2)
    expect([isStored('small'), isStored(LARGE), existsSync(fileOf(LARGE)), packs().length]).toEqual([
      false,
      false,
      false,
      0,
    ])
    expect(candidates()).toEqual([])
  })

  test('contents of another deployment stay, and stop being candidates', async () => {
    const seeded = await seed({ 'a.txt': 'mine', 'b.txt': 'shared' })
    const other = await seed({ 'c.txt': 'shared' })
    await remove(seeded)
    expect(await collectAfter(GRACE_MS)).toBe(1)
    expect([isStored('mine'), isStored('shared')]).toEqual([false, true])
    expect(candidates()).toEqual([])
    expect(await (await app.call('GET', '/c.txt', { host: other.host })).text()).toBe('shared')
  })

  test('contents published again within the hour stay', async () => {
    await remove(await seed({ 'a.txt': 'again', 'b.txt': LARGE }))
    await collectGarbage(app.ctx)
    app.advance(GRACE_MS / 2)
    const again = await seed({ 'a.txt': 'again', 'b.txt': LARGE })
    expect(await collectAfter(GRACE_MS)).toBe(0)
    expect(await (await app.call('GET', '/a.txt', { host: again.host })).text()).toBe('again')
    expect(await problems()).toEqual([])
  })

  test('contents stamped by a clock that was ahead are freed an hour after it was set back', async () => {
    await remove(await seed({ 'a.txt': 'ahead' }))
    app.advance(1000 * GRACE_MS)
    await collectGarbage(app.ctx)
    app.advance(-1000 * GRACE_MS)
    expect(await collectAfter(GRACE_MS - 1)).toBe(0)
    app.advance(1)
    expect(await collectGarbage(app.ctx)).toBe(1)
  })

  test('the hour starts again with each lost reference', async () => {
    const first = await seed({ 'a.txt': 'twice' })
    await remove(first)
    await collectGarbage(app.ctx)
    app.advance(GRACE_MS - 1)
    await remove(await seed({ 'a.txt': 'twice' }))
    expect(await collectAfter(GRACE_MS - 1)).toBe(0)
    app.advance(1)
    expect(await collectGarbage(app.ctx)).toBe(1)
  })

  test('the compressed forms go with their content', async () => {
    await remove(await seed({ 'a.js': 'some words '.repeat(500) }, { withVariants: true }))
    expect(await collectAfter(GRACE_MS)).toBe(4)
    expect(packs()).toEqual([])
    expect(candidates()).toEqual([])
    expect(await problems()).toEqual([])
  })

  test('an asset that is deleted frees its content too', async () => {
    const { deploymentId } = await seed({ 'a.txt': 'gone', 'b.txt': 'stays' })
    const { id } = app.ctx.db.sqlite
      .query<{ id: string }, [string]>("SELECT id FROM assets WHERE deployment_id = ? AND path = 'a.txt'")
      .get(deploymentId) ?? { id: '' }
    await app.call('DELETE', `/api/assets/${id}`, { as: SEED_OWNER })
    expect(await collectAfter(GRACE_MS)).toBe(1)
    expect([isStored('gone'), isStored('stays')]).toEqual([false, true])
  })

  test('a deleted project leaves nothing', async () => {
    const { projectId } = await seed({ 'a.txt': 'small', 'b.txt': LARGE }, { alias: 'production' })
    const answer = await app.call('DELETE', `/api/projects/${projectId}`, { as: SEED_OWNER })
    expect(answer.status).toBe(204)
    expect(await collectAfter(GRACE_MS)).toBe(2)
    expect(app.ctx.db.sqlite.query('SELECT 1 FROM blobs').all()).toEqual([])
  })

  test('thousands are freed', async () => {
    const files = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`${i}.txt`, `content ${i}`]))
    await remove(await seed(files))
    expect(await collectAfter(GRACE_MS)).toBe(2500)
    expect([candidates(), packs()]).toEqual([[], []])
  })

  test('a run that is told to stop frees nothing more', async () => {
    await remove(await seed({ 'a.txt': 'small' }))
    await collectGarbage(app.ctx)
    app.advance(GRACE_MS)
    expect(await collectGarbage(app.ctx, AbortSignal.abort())).toBe(0)
    expect(isStored('small')).toBe(true)
    expect(await collectGarbage(app.ctx)).toBe(1)
  })

  test('a pack that was not checked before a stop is checked the next time', async () => {
    await remove(await seed({ 'a.txt': 'small' }))
    await collectGarbage(app.ctx)
    app.advance(GRACE_MS)
    const stop = {
      get aborted() {
        return !isStored('small')
      },
    }
    expect(await collectGarbage(app.ctx, stop)).toBe(1)
    expect(packs()).toHaveLength(1)
    expect(await collectGarbage(app.ctx)).toBe(0)
    expect(packs()).toEqual([])
  })
})

describe('an upload in progress', () => {
  test('keeps the contents it relies on, and can commit them', async () => {
    const { projectId } = await seed({ 'keep.txt': 'x' })
    await remove(await seed({ 'a.txt': 'wanted', 'b.txt': LARGE, 'c.txt': 'unwanted' }))
    await collectGarbage(app.ctx)
    app.advance(GRACE_MS)
    const stage = openStage(app.ctx)
    await stage.add(new TextEncoder().encode('wanted'))
    await stage.add(new TextEncoder().encode(LARGE))
    expect(await collectGarbage(app.ctx)).toBe(1)
    expect([isStored('wanted'), isStored(LARGE), isStored('unwanted')]).toEqual([true, true, false])
    expect(existsSync(fileOf(LARGE))).toBe(true)

    expect(await stage.seal()).toEqual([])
    app.ctx.db.sqlite
      .query('INSERT INTO upload_blobs VALUES (?, ?, 9e15), (?, ?, 9e15)')
      .run(projectId, hash('wanted'), projectId, hash(LARGE))
    stage.release()
    expect(await collectAfter(GRACE_MS)).toBe(0)
    expect(await problems()).toEqual([])

    app.ctx.db.sqlite.query('DELETE FROM upload_blobs').run()
    expect(await collectAfter(GRACE_MS)).toBe(2)
  })
})

describe('a pack', () => {
  const bulk = (name: string) => name.repeat(10_000 / name.length)

  test('that is mostly dead is rewritten, and its contents are served throughout', async () => {
    const files = { 'a.txt': bulk('a'), 'b.txt': bulk('b'), 'c.txt': bulk('c'), 'keep.js': bulk('keep') }
    const first = await seed(files, { withVariants: true })
    const kept = await seed({ 'keep.js': bulk('keep') }, { alias: 'production' })
    const show = async (encoding: string) => {
      const answer = await app.call('GET', '/keep.js', {
        host: kept.aliasHost ?? '',
        headers: { 'accept-encoding': encoding },
      })
      const bytes = new Uint8Array(await answer.arrayBuffer())
      return new TextDecoder().decode(answer.headers.has('content-encoding') ? Bun.gunzipSync(bytes) : bytes)
    }
    expect([await show('identity'), await show('gzip')]).toEqual([bulk('keep'), bulk('keep')])
    const old = packOf(bulk('keep'))
    const before = packs()

    await remove(first)
    await collectAfter(GRACE_MS)
    expect(packOf(bulk('keep'))).not.toBe(old)
    expect(packs()).toContain(`${old}.pack`)
    expect(await Promise.all(['identity', 'gzip'].map(show))).toEqual([bulk('keep'), bulk('keep')])

    app.advance(GRACE_MS - 1)
    await collectGarbage(app.ctx)
    expect(packs()).toContain(`${old}.pack`)
    app.advance(1)
    await collectGarbage(app.ctx)
    for (const pack of before) expect(packs()).not.toContain(pack)
    expect(packs().length).toBe(before.length)
    expect([await show('identity'), await show('gzip')]).toEqual([bulk('keep'), bulk('keep')])
    expect(await problems()).toEqual([])
  })

  test('that is rewritten is looked up again by those who cached where its contents are', async () => {
    const first = await seed({ 'a.txt': bulk('a'), 'b.txt': bulk('b'), 'keep.txt': bulk('keep') })
    const kept = await seed({ 'keep.txt': bulk('keep') })
    const revision = () =>
      app.ctx.db.sqlite
        .query<{ revision: number }, [string]>('SELECT revision FROM deployments WHERE id = ?')
        .get(kept.deploymentId)?.revision
    const before = revision() ?? 0
    await remove(first)
    await collectAfter(GRACE_MS)
    expect(revision()).toBeGreaterThan(before)
  })

  test('that is mostly alive stays', async () => {
    const first = await seed({ 'a.txt': bulk('a'), 'b.txt': bulk('b'), 'c.txt': bulk('c') })
    await seed({ 'a.txt': bulk('a'), 'b.txt': bulk('b') })
    const before = packs()
    await remove(first)
    expect(await collectAfter(GRACE_MS)).toBe(1)
    expect(packs()).toEqual(before)
  })

  test('with a damaged content stays as it is, and the log says so', async () => {
    const first = await seed({ 'a.txt': bulk('a'), 'b.txt': bulk('b'), 'keep.txt': bulk('keep') })
    await seed({ 'keep.txt': bulk('keep') })
    const old = packOf(bulk('keep'))
    app.ctx.db.sqlite.query('UPDATE blobs SET offset = 1 WHERE sha256 = ?').run(hash(bulk('keep')))
    await remove(first)
    await collectAfter(GRACE_MS)
    expect(packOf(bulk('keep'))).toBe(old)
    expect(app.lines.join('')).toContain('is damaged')
  })
})

describe('at the start', () => {
  test('leftovers of a crash are removed, known files stay', async () => {
    await seed({ 'a.txt': 'small', 'b.txt': LARGE })
    const blobs = join(app.ctx.config.dataDir, 'blobs')
    const stranger = hash('stranger')
    mkdirSync(join(blobs, 'files', stranger.slice(0, 2)), { recursive: true })
    writeFileSync(join(blobs, 'files', stranger.slice(0, 2), stranger), 'stranger')
    writeFileSync(join(blobs, 'packs', 'left-over.pack'), 'x')
    expect(await sweepStore(app.ctx)).toBe(2)
    expect(packs().length).toBe(1)
    expect(existsSync(join(blobs, 'files', stranger.slice(0, 2), stranger))).toBe(false)
    expect(await problems()).toEqual([])
  })

  test('a pack that a stop kept from being rewritten is checked again', async () => {
    const bulk = (name: string) => `${name} `.repeat(2000)
    await seed({ 'a.txt': bulk('a'), 'b.txt': bulk('b'), 'c.txt': bulk('c') })
    const { sqlite } = app.ctx.db
    const old = packOf(bulk('c'))
    sqlite.query("DELETE FROM assets WHERE path IN ('a.txt', 'b.txt')").run()
    sqlite.query('DELETE FROM blobs WHERE sha256 IN (?, ?)').run(hash(bulk('a')), hash(bulk('b')))
    await sweepStore(app.ctx)
    expect(packOf(bulk('c'))).not.toBe(old)
  })
})
