import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS } from '../../../domain/durations.ts'
import { type ContentsApp, contentsApp } from '../../../testing/contents-app.ts'
import { SEED_OWNER, seedDeployment } from '../../../testing/seed.ts'
import { openStage } from '../blob-queries.ts'
import { collectGarbage, GRACE_MS, sweepStore } from '../collect.ts'

let app: ContentsApp
let synced: number
beforeEach(async () => {
  app = await contentsApp()
  // Ids hold the time when they were made.
  app.advance(Date.now() - app.ctx.now())
  synced = 0
  app.ctx.db.log.sync = async () => {
    synced += 1
  }
})
afterEach(() => app.close())

const LARGE = 'large '.repeat(300_000)
const keys = () => [...app.store.objects.keys()].map((key) => key.replace(/^svc\//, '')).sort()
const noted = () =>
  app.ctx.db.sqlite
    .query<{ key: string }, []>('SELECT key FROM removed_objects ORDER BY key')
    .all()
    .map(({ key }) => key)
const collect = () => collectGarbage(app.ctx)

let count = 0
const seed = (files: Record<string, string>) => {
  count += 1
  return seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: count.toString(16).padStart(40, 'f'),
    files,
  })
}
async function remove(deploymentId: string): Promise<void> {
  const answer = await app.call('DELETE', `/api/deployments/${deploymentId}`, { as: SEED_OWNER })
  expect(answer.status).toBe(204)
}
/** Frees what has lost its last reference. */
async function free(): Promise<void> {
  await collect()
  app.advance(GRACE_MS)
  await collect()
}

test('objects are noted with the deletion of their rows, and go an hour after that is in the log', async () => {
  const { deploymentId } = await seed({ 'a.txt': 'small', 'b.txt': LARGE })
  const stored = keys()
  expect(stored).toHaveLength(2)
  await remove(deploymentId)
  await free()
  expect([noted(), keys()]).toEqual([stored, stored])
  app.advance(HOUR_MS - 1)
  await collect()
  expect(keys()).toEqual(stored)
  app.advance(1)
  const before = synced
  await collect()
  expect(synced).toBeGreaterThan(before)
  expect([noted(), keys()]).toEqual([[], []])
})

test('nothing goes while the log cannot be shipped, and the hour begins when it is', async () => {
  const { deploymentId } = await seed({ 'a.txt': 'small' })
  await remove(deploymentId)
  await collect()
  app.advance(GRACE_MS)
  app.ctx.db.log.sync = () => Promise.reject(new Error('away'))
  await expect(collect()).rejects.toThrow('away')
  app.advance(3 * HOUR_MS)
  await expect(collect()).rejects.toThrow('away')
  app.ctx.db.log.sync = async () => {}
  await collect()
  expect(keys()).toHaveLength(1)
  app.advance(HOUR_MS)
  await collect()
  expect(keys()).toEqual([])
})

test('a store that fails is asked again', async () => {
  const { deploymentId } = await seed({ 'a.txt': 'small' })
  await remove(deploymentId)
  await free()
  app.advance(HOUR_MS)
  app.store.fault = ({ method }) => (method === 'DELETE' ? { status: 403, code: 'AccessDenied' } : undefined)
  await expect(collect()).rejects.toThrow()
  expect(noted()).toHaveLength(1)
  app.store.fault = () => undefined
  await collect()
  expect([noted(), keys()]).toEqual([[], []])
})

test('a mostly dead pack becomes another object, and the old one goes, on a machine that has neither', async () => {
  const whole = await seed({ 'big.txt': 'x'.repeat(10_000), 'kept.txt': 'kept' })
  const kept = await seed({ 'kept.txt': 'kept' })
  const [old] = keys()
  app.forget()
  await remove(whole.deploymentId)
  await free()
  expect(keys()).toHaveLength(2)
  expect(noted()).toEqual([old ?? ''])
  app.advance(HOUR_MS)
  await collect()
  expect(keys()).toHaveLength(1)
  expect(keys()).not.toContain(old)
  app.forget()
  const answer = await app.call('GET', '/kept.txt', { host: kept.host })
  expect([answer.status, await answer.text()]).toEqual([200, 'kept'])
})

test('a content that comes again within the hour has an object of its own', async () => {
  const { deploymentId } = await seed({ 'b.txt': LARGE })
  await remove(deploymentId)
  await free()
  const again = await seed({ 'b.txt': LARGE })
  expect(keys()).toHaveLength(2)
  app.advance(HOUR_MS)
  await collect()
  expect(keys()).toHaveLength(1)
  app.forget()
  expect((await (await app.call('GET', '/b.txt', { host: again.host })).text()).length).toBe(LARGE.length)
})

test('what a crash left without a row goes after a day; a young object, and what is not ours, stays', async () => {
  await seed({ 'a.txt': 'small', 'b.txt': LARGE })
  const known = keys()
  const left = openStage(app.ctx)
  await left.add(Buffer.from('left behind'))
  await left.add(Buffer.from(`${LARGE}left`))
  await left.seal()
  for (const key of ['svc/packs/of others', 'svc/svc.json', 'svc/db/0000/1.ltx'])
    app.store.objects.set(key, { bytes: new Uint8Array(1), headers: {} })
  await sweepStore(app.ctx)
  expect(noted()).toEqual([])
  app.advance(DAY_MS + 60_000)
  await collect()
  expect(noted()).toHaveLength(2)
  app.advance(HOUR_MS)
  await collect()
  expect(keys().filter((key) => known.includes(key))).toEqual(known)
  expect(keys()).toHaveLength(known.length + 3)
})
