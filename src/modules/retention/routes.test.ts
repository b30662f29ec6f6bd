import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { runSql } from '../../testing/access-things.ts'
import { ask } from '../../testing/ask.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { runDueRetention } from './daily.ts'
import { type RetentionApp, ROOT, retentionApp, shaOf } from './retention.fixture.ts'

let docs: RetentionApp
beforeEach(async () => {
  docs = await retentionApp()
})
afterEach(() => docs.app.close())

const publishMany = async (count: number) => {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push(await docs.publish({ 'index.html': `page ${i}` }))
  return ids
}
const NONE_KEPT = { alias: 0, previous: 0, preview: 0, shared: 0, young: 0, keepLast: 0, keepDays: 0 }

test('nothing goes until a rule is set', async () => {
  expect((await docs.call('GET', '/retention')).body).toEqual({
    keepLast: null,
    keepDays: null,
    lastRun: null,
  })
  const ids = await publishMany(3)
  expect(await docs.run({ dryRun: false })).toEqual({
    dryRun: false,
    removed: [],
    removedCount: 0,
    bytes: 0,
    kept: NONE_KEPT,
  })
  expect(docs.ids()).toEqual(ids)
})

test('the newest deployments stay, and a dry run says what the run does', async () => {
  const [first, second, ...kept] = await publishMany(5)
  const changed = await docs.call('PUT', '/retention', { keepLast: 3, keepDays: null })
  expect(changed).toMatchObject({ status: 200, body: { keepLast: 3, keepDays: null, lastRun: null } })
  const tried = await docs.run()
  expect(tried).toMatchObject({
    dryRun: true,
    removedCount: 2,
    bytes: 12,
    kept: { ...NONE_KEPT, keepLast: 3 },
  })
  expect(tried.removed.map(({ id }) => id)).toEqual([String(second), String(first)])
  expect(tried.removed[1]).toEqual({
    id: String(first),
    commitSha: shaOf(0),
    version: 1,
    createdAt: '2026-11-20T12:00:01.000Z',
    totalSize: 6,
  })
  expect(docs.ids()).toHaveLength(5)

  expect(await docs.run({ dryRun: false })).toEqual({ ...tried, dryRun: false })
  expect(docs.ids()).toEqual(kept)
  expect((await docs.call('GET', '/retention')).body).toEqual({
    keepLast: 3,
    keepDays: null,
    lastRun: { at: '2026-11-20T12:00:05.000Z', removedCount: 2, bytes: 12 },
  })
})

test('a deployment goes when every rule that is set says so', async () => {
  await publishMany(2)
  docs.app.advance(3 * DAY_MS)
  await publishMany(2)
  const removedBy = async (rules: object) => {
    const { removedCount, kept } = await docs.run({ dryRun: true, ...rules })
    return [removedCount, kept.keepLast, kept.keepDays]
  }
  expect(await removedBy({ keepDays: 2 })).toEqual([2, 0, 2])
  expect(await removedBy({ keepDays: 4 })).toEqual([0, 0, 4])
  expect(await removedBy({ keepLast: 3, keepDays: 2 })).toEqual([1, 3, 0])
  expect(await removedBy({ keepLast: 1, keepDays: 2 })).toEqual([2, 1, 1])
})

test('what an alias shows or showed just before stays, locked or not', async () => {
  const a = await docs.publish({ 'a.txt': 'a' }, 'production')
  const b = await docs.publish({ 'b.txt': 'b' }, 'production')
  const c = await docs.publish({ 'c.txt': 'c' }, 'production')
  const locked = await docs.publish({ 'l.txt': 'l' }, 'locked')
  const last = await docs.publish({ 'z.txt': 'z' })
  runSql(docs.app, "UPDATE aliases SET is_locked = 1 WHERE name = 'locked'")
  const run = await docs.run({ keepLast: 1 })
  expect(run.removed.map(({ id }) => id)).toEqual([a])
  expect(run.kept).toEqual({ ...NONE_KEPT, alias: 2, previous: 1, keepLast: 1 })
  await docs.call('PUT', '/retention', { keepLast: 1 })
  await docs.run({ dryRun: false })
  expect(docs.ids()).toEqual([b, c, locked, last])
})

test('what belongs to a preview stays until it ends, and is not counted among the last', async () => {
  const shown = await docs.publish({ 'a.txt': 'a' })
  const earlier = await docs.publish({ 'b.txt': 'b' }, 'pr-1')
  const { sqlite } = docs.app.ctx.db
  const end = docs.app.ctx.now() + DAY_MS
  sqlite.run("UPDATE aliases SET expires_at = ?1 WHERE name = 'pr-1'", [end])
  sqlite.run(
    "INSERT INTO preview_deployments (alias_id, deployment_id, published_at) SELECT id, ?1, 0 FROM aliases WHERE name = 'pr-1'",
    [earlier],
  )
  sqlite.run("UPDATE deployments SET preview = 'pr-1' WHERE id = ?1", [earlier])
  const now = await docs.publish({ 'c.txt': 'c' }, 'pr-1')
  sqlite.run("UPDATE deployments SET preview = 'pr-1' WHERE id = ?1", [now])
  expect(await docs.run({ keepLast: 1 })).toMatchObject({
    removedCount: 0,
    kept: { ...NONE_KEPT, alias: 1, preview: 1, keepLast: 1 },
  })
  sqlite.run("DELETE FROM aliases WHERE name = 'pr-1'")
  const run = await docs.run({ keepLast: 1 })
  expect(run.removed.map(({ id }) => id)).toEqual([now, earlier])
  expect(run.kept).toEqual({ ...NONE_KEPT, keepLast: 1 })
  expect(docs.ids()).toContain(shown)
})

test('what is younger than the grace time stays', async () => {
  docs.app.close()
  docs = await retentionApp({ RETENTION_GRACE_MINUTES: '60' })
  await publishMany(2)
  expect((await docs.run({ keepLast: 1 })).kept).toEqual({ ...NONE_KEPT, young: 2 })
  docs.app.advance(61 * MINUTE_MS)
  expect((await docs.run({ keepLast: 1 })).removedCount).toBe(1)
})

test('bytes are those of contents and compressed forms that nothing else in the workspace needs', async () => {
  const text = 'hello world '.repeat(1000)
  const seed = { owner: 'acme', repo: 'docs', withVariants: true }
  await seedDeployment(docs.app, {
    ...seed,
    sha: shaOf(900),
    files: { 'own.txt': text, 'shared.txt': 'shared', 'other.txt': 'of others' },
  })
  docs.app.advance(1000)
  await seedDeployment(docs.app, { ...seed, sha: shaOf(901), files: { 'shared.txt': 'shared' } })
  await seedDeployment(docs.app, { ...seed, repo: 'other', sha: shaOf(902), files: { 'o.txt': 'of others' } })
  const { sqlite } = docs.app.ctx.db
  const forms =
    sqlite
      .query<{ bytes: number }, []>(
        `SELECT sum(size_bytes) AS bytes FROM blobs WHERE sha256 IN (SELECT variant_sha256 FROM blob_variants)`,
      )
      .get()?.bytes ?? 0
  expect(forms).toBeGreaterThan(0)
  await docs.call('PUT', '/retention', { keepLast: 1 })
  expect((await docs.run()).bytes).toBe(text.length + forms)
  expect((await docs.run({ dryRun: false })).bytes).toBe(text.length + forms)
})

test('a run is in the audit log, and each deployment too', async () => {
  await publishMany(3)
  await docs.call('PUT', '/retention', { keepLast: 1, keepDays: null })
  await docs.run({ dryRun: false })
  const { body } = await ask(docs.app, 'GET', '/api/audit?limit=100', { as: ROOT })
  const entries = body['data'] as { action: string; before: unknown; after: unknown }[]
  const of = (action: string) => entries.filter((entry) => entry.action === action)
  expect(of('deployment.delete')).toHaveLength(2)
  expect(of('retention.run')).toMatchObject([{ after: { removedCount: 2, bytes: 12 } }])
  expect(of('retention.change')).toMatchObject([
    { before: { keepLast: null, keepDays: null }, after: { keepLast: 1, keepDays: null } },
  ])
  expect(await (await docs.app.call('GET', '/metrics')).text()).toContain('\nsvc_retention_removed_total 2\n')
})

test.each([
  ['PUT', '/retention', { keepLast: 0 }],
  ['PUT', '/retention', { keepLast: 10_001 }],
  ['PUT', '/retention', { keepDays: 3651 }],
  ['PUT', '/retention', { keepDays: 1.5 }],
  ['POST', '/retention/run', { dryRun: false, keepLast: 1 }],
  ['POST', '/retention/run', { dryRun: false, keepDays: null }],
  ['POST', '/retention/run', { dryRun: 'no' }],
  ['POST', '/retention/run', { keepLast: -1 }],
])('%s %s %j is 400', async (method, path, json) => {
  expect(await docs.call(method, path, json)).toMatchObject({ status: 400 })
})

test('a run without a body is a dry run', async () => {
  await publishMany(2)
  await docs.call('PUT', '/retention', { keepLast: 1 })
  expect(await docs.call('POST', '/retention/run')).toMatchObject({ status: 200, body: { dryRun: true } })
})

test('at most 1000 are listed, and all are removed', async () => {
  docs.addEmpty(1200)
  await docs.call('PUT', '/retention', { keepLast: 1 })
  const run = await docs.run({ dryRun: false })
  expect([run.removed.length, run.removedCount]).toEqual([1000, 1199])
  expect(docs.ids()).toHaveLength(1)
}, 60_000)

test('daily at 03:00 UTC, and at the start when the last run is over a day old', async () => {
  const look = () => runDueRetention(docs.app.ctx, { aborted: false })
  await publishMany(3)
  await docs.call('PUT', '/retention', { keepLast: 1 })
  await look()
  expect(docs.ids()).toHaveLength(3)
  docs.app.advance(14 * HOUR_MS + 59 * MINUTE_MS)
  await look()
  expect(docs.ids()).toHaveLength(3)
  docs.app.advance(2 * MINUTE_MS)
  await look()
  expect(docs.ids()).toHaveLength(1)
  await publishMany(2)
  await look()
  expect(docs.ids()).toHaveLength(3)
  docs.app.advance(DAY_MS)
  await look()
  expect(docs.ids()).toHaveLength(1)
})

test('at the start, a project whose last run is over a day old', async () => {
  await publishMany(3)
  await docs.call('PUT', '/retention', { keepLast: 1 })
  docs.app.advance(DAY_MS + 1)
  await runDueRetention(docs.app.ctx, { aborted: false })
  expect(docs.ids()).toHaveLength(1)
  const { body } = await ask(docs.app, 'GET', '/api/audit?action=retention.run', { as: ROOT })
  expect(body['data']).toMatchObject([{ actor: { kind: 'operator' } }])
})

test('viewers read it, and only project admins change or try it', async () => {
  await docs.app.addUser('viewer@example.com')
  const id = docs.app.ctx.db.sqlite
    .query<{ id: string }, []>("SELECT id FROM users WHERE email = 'viewer@example.com'")
    .get()?.id
  await docs.call('POST', '/permissions/users', { userId: id, role: 'viewer' })
  const as = (method: string, rest: string, json?: unknown) =>
    ask(docs.app, method, `/api/projects/${docs.projectId}${rest}`, {
      as: 'viewer@example.com',
      ...(json === undefined ? {} : { json }),
    })
  expect(await as('GET', '/retention')).toMatchObject({ status: 200 })
  expect(await as('GET', '/quota')).toMatchObject({ status: 200 })
  expect(await as('PUT', '/retention', { keepLast: 1 })).toMatchObject({ status: 403 })
  expect(await as('POST', '/retention/run', {})).toMatchObject({ status: 403 })
  expect(await as('PUT', '/quota', { bytes: 1 })).toMatchObject({ status: 403 })
})
