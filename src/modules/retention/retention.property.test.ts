import { expect, test } from 'bun:test'
import { runSql } from '../../testing/access-things.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seedDeployment } from '../../testing/seed.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import type { TestApp } from '../../testing/test-app.ts'
import { type RetentionApp, retentionApp } from './retention.fixture.ts'

const random = seededRandom(seedOf('retention'))
const below = (count: number): number => Math.floor(random() * count)
const one = <T>(items: readonly T[]): T => items[below(items.length)] as T
const HOUR = 3_600_000

/** Publishes, moves and deletes at random, so that contents are shared and histories have gaps. */
async function live(docs: RetentionApp): Promise<void> {
  const { app } = docs
  for (let i = 0; i < 25; i++) {
    app.advance(below(30) * HOUR)
    const files = Object.fromEntries(
      Array.from({ length: below(4) }, () => [`${below(5)}.txt`, 'x'.repeat(one([1, 20, 3000])) + below(8)]),
    )
    const alias = one([undefined, undefined, 'production', 'staging', 'pr-1', 'pr-2'])
    if (random() < 0.2) await publishElsewhere(app, i, files)
    const id = await docs.publish(files, alias)
    if (alias?.startsWith('pr-')) publishedAs(app, alias, id)
    if (random() < 0.2) moveSomewhere(app, one(docs.ids()))
    if (random() < 0.1) runSql(app, "UPDATE aliases SET is_locked = 1 - is_locked WHERE name = 'pr-1'")
  }
}

const publishElsewhere = (app: TestApp, i: number, files: Record<string, string>) =>
  seedDeployment(app, { owner: 'acme', repo: 'other', sha: `f${i.toString(16).padStart(39, '0')}`, files })

function publishedAs(app: TestApp, name: string, id: string): void {
  runSql(app, 'UPDATE deployments SET preview = ?1 WHERE id = ?2', name, id)
  runSql(app, 'UPDATE aliases SET expires_at = ?1 WHERE name = ?2', app.ctx.now() + below(200) * HOUR, name)
  runSql(
    app,
    'INSERT INTO preview_deployments (alias_id, deployment_id, published_at) SELECT id, ?1, 0 FROM aliases WHERE name = ?2',
    id,
    name,
  )
}

function moveSomewhere(app: TestApp, id: string): void {
  const { sqlite } = app.ctx.db
  const alias = sqlite
    .query<{ id: string }, []>(
      "SELECT id FROM aliases WHERE name IN ('production', 'staging') ORDER BY random() LIMIT 1",
    )
    .get()
  if (alias === null) return
  runSql(app, 'UPDATE aliases SET deployment_id = ?1 WHERE id = ?2', id, alias.id)
  runSql(
    app,
    `INSERT INTO alias_history (id, alias_id, deployment_id, commit_sha, base_path, moved_by, moved_at, reason)
     VALUES (?1, ?2, ?3, '', '', 'operator', ?4, 'move')`,
    app.ctx.newId(),
    alias.id,
    id,
    app.ctx.now(),
  )
}

type Rules = { keepLast: number | null; keepDays: number | null }

/** What may never go, worked out row by row. */
function mustStay({ app, projectId }: RetentionApp, { keepLast, keepDays }: Rules): Set<string> {
  const { sqlite } = app.ctx.db
  const now = app.ctx.now()
  const rows = sqlite
    .query<{ id: string; at: number; preview: string | null }, [string]>(
      'SELECT id, created_at AS at, preview FROM deployments WHERE project_id = ? ORDER BY created_at DESC, id DESC',
    )
    .all(projectId)
  const aliases = sqlite
    .query<{ id: string; shown: string; end: number | null; locked: number }, []>(
      'SELECT id, deployment_id AS shown, expires_at AS end, is_locked AS locked FROM aliases',
    )
    .all()
  const stays = new Set<string>()
  for (const { id, shown, end, locked } of aliases) {
    const isThere = end === null || end > now || locked === 1
    if (isThere) stays.add(shown)
    const history = sqlite
      .query<{ to: string }, [string]>(
        'SELECT deployment_id AS "to" FROM alias_history WHERE alias_id = ? ORDER BY moved_at DESC, id DESC',
      )
      .all(id)
    const before = history.find(({ to }) => to !== shown && rows.some((row) => row.id === to))
    if (end === null && before !== undefined) stays.add(before.to)
    const published = sqlite
      .query<{ id: string }, [string]>(
        'SELECT deployment_id AS id FROM preview_deployments WHERE alias_id = ?',
      )
      .all(id)
    if (end !== null && isThere) for (const one of published) stays.add(one.id)
  }
  const newest = rows.filter(({ preview }) => preview === null).slice(0, keepLast ?? 0)
  for (const { id } of newest) stays.add(id)
  for (const { id, at } of rows) if (keepDays !== null && at >= now - keepDays * 24 * HOUR) stays.add(id)
  return stays
}

/** Bytes of contents that nothing refers to, and of their compressed forms. */
function unneeded({ ctx }: TestApp): number {
  const { sqlite } = ctx.db
  const blobs = sqlite.query<{ id: number; sha256: string; size: number }, []>(
    'SELECT id, sha256, size_bytes AS size FROM blobs',
  )
  const used = new Set(
    sqlite
      .query<{ id: number }, []>('SELECT DISTINCT blob_id AS id FROM assets')
      .all()
      .map(({ id }) => id),
  )
  const all = blobs.all()
  const needed = new Set(all.filter(({ id }) => used.has(id)).map(({ sha256 }) => sha256))
  const forms = sqlite
    .query<{ of: string; form: string }, []>(
      'SELECT sha256 AS "of", variant_sha256 AS form FROM blob_variants',
    )
    .all()
  for (let before = -1; before !== needed.size; ) {
    before = needed.size
    for (const { of, form } of forms) if (needed.has(of)) needed.add(form)
  }
  return all.reduce((sum, { sha256, size }) => sum + (needed.has(sha256) ? 0 : size), 0)
}

test('a dry run and the run agree, nothing goes that must stay, and all the rest goes', async () => {
  for (let round = 0; round < rounds(4, 100); round++) {
    const docs = await retentionApp()
    await live(docs)
    const rules: Rules = { keepLast: one([null, 1, 3, 10]), keepDays: one([null, 1, 5]) }
    if (rules.keepLast === null && rules.keepDays === null) rules.keepLast = 2
    runSql(docs.app, 'DELETE FROM aliases WHERE expires_at <= ?1 AND is_locked = 0', docs.app.ctx.now())
    await docs.call('PUT', '/retention', rules)
    const before = docs.ids()
    const stays = mustStay(docs, rules)
    const lost = unneeded(docs.app)

    const tried = await docs.run()
    expect(docs.ids()).toEqual(before)
    expect(await docs.run({ dryRun: false })).toEqual({ ...tried, dryRun: false })

    expect(docs.ids()).toEqual(before.filter((id) => stays.has(id)))
    expect(tried.removedCount).toBe(before.length - docs.ids().length)
    const kept = Object.values(tried.kept).reduce((sum, count) => sum + count, 0)
    expect(kept).toBe(docs.ids().length)
    expect(unneeded(docs.app) - lost).toBe(tried.bytes)
    expect((await docs.run()).removedCount).toBe(0)
    docs.app.close()
  }
}, 600_000)
