import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Seeded, seedDeployment } from '../../testing/seed.ts'
import { type TestApp, testApp } from '../../testing/test-app.ts'
import { operatorGrant } from '../auth/authorize.ts'
import { deleteProject } from '../projects/service.ts'
import { findProblems, type Problem } from './check.ts'

const LARGE = 'large '.repeat(300_000)
const hash = (content: string): string => Bun.SHA256.hash(content, 'hex')

let app: TestApp
let seeded: Seeded
beforeEach(async () => {
  app = await testApp()
  seeded = await seedDeployment(app, {
    owner: 'acme',
    repo: 'docs',
    sha: 'a'.repeat(40),
    alias: 'production',
    files: { 'index.html': '<p>small</p>', 'app.js': 'words '.repeat(1000), 'large.bin': LARGE },
    withVariants: true,
  })
})
afterEach(() => app.close())

async function problems(): Promise<Problem[]> {
  const found: Problem[] = []
  for await (const problem of findProblems(app.ctx)) found.push(problem)
  return found
}

const blobs = () => join(app.ctx.config.dataDir, 'blobs')
const largeFile = () => join(blobs(), 'files', hash(LARGE).slice(0, 2), hash(LARGE))
/** Damages rows as a disk fault or a manual edit would: without the constraints. */
function force(sql: string, ...values: string[]): void {
  const { sqlite } = app.ctx.db
  sqlite.run('PRAGMA foreign_keys = OFF')
  sqlite.query(sql).run(...values)
  sqlite.run('PRAGMA foreign_keys = ON')
}

test('an intact store has no problems', async () => {
  expect(await problems()).toEqual([])
})

test('routing that is not what its files say is named', async () => {
  const files = {
    'index.html': 'x',
    _redirects: '/a /b\n/x/* https://b.example/:splat 200\nbad\n/l https://127.0.0.1/ 200\n',
    'dist/_headers': '/*\n  X-A: b\n',
  }
  const { deploymentId } = await seedDeployment(app, {
    owner: 'acme',
    repo: 'routed',
    sha: 'c'.repeat(40),
    files,
  })
  expect(await problems()).toEqual([])
  force("UPDATE deployment_routing SET compiled = replace(compiled, 'must begin with', 'begins with')")
  expect(await problems()).toEqual([])
  force("UPDATE deployment_routing SET compiled = replace(compiled, '/b', '/c') WHERE folder = ''")
  expect(await problems()).toEqual([{ kind: 'routing', detail: expect.stringContaining(deploymentId) }])
  force("UPDATE deployment_routing SET compiled = '{}' WHERE folder = ''")
  expect(await problems()).toHaveLength(1)
  force("DELETE FROM deployment_routing WHERE folder = ''")
  expect(await problems()).toHaveLength(1)
})

test('what is left of a project that is being deleted is no problem', async () => {
  const { ctx } = app
  const kept = { owner: 'acme', repo: 'kept', sha: 'b'.repeat(40), files: { 'large.bin': LARGE } }
  await seedDeployment(app, kept)
  ctx.db.sqlite.run("CREATE TRIGGER crash BEFORE DELETE ON aliases BEGIN SELECT RAISE(ABORT, 'crash'); END")
  await deleteProject(ctx, operatorGrant(seeded.projectId))
  ctx.db.sqlite.run("DELETE FROM assets WHERE path = 'app.js'")
  ctx.db.sqlite.run('DELETE FROM host_labels WHERE deployment_id = ?', [seeded.deploymentId])
  expect(await problems()).toEqual([])
  force("UPDATE deployments SET project_id = 'x' WHERE commit_sha = ?", kept.sha)
  expect(await problems()).toMatchObject([
    { kind: 'foreign_key', detail: expect.stringMatching(/^1 rows of deployments/) },
  ])
})

const damage: [name: string, kind: Problem['kind'], names: string, harm: () => void][] = [
  ['a missing file', 'content_missing', 'acme/docs@aaaaaaaaaaaa: large.bin', () => rmSync(largeFile())],
  [
    'other bytes',
    'content_damaged',
    'large.bin',
    () => writeFileSync(largeFile(), LARGE.replace('large', 'LARGE')),
  ],
  ['a longer file', 'content_damaged', 'large.bin', () => writeFileSync(largeFile(), `${LARGE}x`)],
  ['a shorter file', 'content_damaged', 'large.bin', () => truncateSync(largeFile(), 10)],
  [
    'a missing pack',
    'content_missing',
    'index.html',
    () => {
      for (const pack of readdirSync(join(blobs(), 'packs'))) rmSync(join(blobs(), 'packs', pack))
    },
  ],
  [
    'a wrong offset',
    'content_damaged',
    'index.html',
    () => force('UPDATE blobs SET offset = offset + 1 WHERE sha256 = ?', hash('<p>small</p>')),
  ],
  [
    'a damaged compressed form',
    'content_damaged',
    'compressed form',
    () =>
      force(
        "UPDATE blobs SET offset = offset + 1 WHERE sha256 IN (SELECT variant_sha256 FROM blob_variants WHERE encoding = 'zstd')",
      ),
  ],
  [
    'a content without a row',
    'foreign_key',
    'assets',
    () => force('DELETE FROM blobs WHERE sha256 = ?', hash(LARGE)),
  ],
  ['wrong counts', 'deployment_counts', 'a'.repeat(40), () => force('UPDATE deployments SET file_count = 9')],
  [
    'a wrong total',
    'deployment_counts',
    'a'.repeat(40),
    () => force('UPDATE deployments SET total_size = 9'),
  ],
  [
    'a wrong size',
    'asset_size',
    'app.js',
    () => force("UPDATE assets SET size_bytes = size_bytes + 1 WHERE path = 'app.js'"),
  ],
  ['no host', 'host_label', 'production', () => force('DELETE FROM host_labels WHERE alias_id IS NOT NULL')],
  [
    'an alias without a deployment',
    'foreign_key',
    'aliases',
    () => force("UPDATE aliases SET deployment_id = 'x'"),
  ],
  [
    'an alias without a version',
    'version',
    'production',
    () => force("UPDATE aliases SET deployment_id = 'x'"),
  ],
  [
    'a version without a host of its own',
    'host_label',
    'version 1 of aaaa',
    () => force('DELETE FROM host_labels WHERE is_newest = 0 AND alias_id IS NULL'),
  ],
  [
    'a commit without a host',
    'host_label',
    'does not show its newest version, 1',
    () => force('DELETE FROM host_labels WHERE is_newest = 1'),
  ],
  [
    'a version host that leads nowhere',
    'host_label',
    'aaaaaaaaaaaa-v1--docs--acme',
    () => force("UPDATE host_labels SET deployment_id = 'x' WHERE is_newest = 0 AND alias_id IS NULL"),
  ],
  [
    'a history that names another version',
    'version',
    'is version 7 of aaaa',
    () => force('UPDATE alias_history SET version = 7'),
  ],
  [
    'a number that was given before',
    'version',
    'can have been given before',
    () => force('INSERT INTO given_versions SELECT project_id, commit_sha, version FROM deployments'),
  ],
  [
    'a number above what the project has given',
    'number',
    'is #1, but its project has given the numbers up to 0',
    () => force('UPDATE deployment_counters SET number = 0'),
  ],
  [
    'a project that forgot its numbers',
    'number',
    'has given no number',
    () => force('DELETE FROM deployment_counters'),
  ],
]
test.each(damage)('%s', async (_name, kind, names, harm) => {
  harm()
  const found = await problems()
  expect(found.filter((problem) => problem.kind === kind && problem.detail.includes(names))).not.toEqual([])
})

test("an alias at another project's deployment", async () => {
  const other = await seedDeployment(app, {
    owner: 'acme',
    repo: 'other',
    sha: 'b'.repeat(40),
    files: { 'index.html': 'x' },
  })
  force('UPDATE aliases SET deployment_id = ? WHERE id = ?', other.deploymentId, seeded.aliasId ?? '')
  expect(await problems()).toMatchObject([{ kind: 'alias_project' }])
})

test('a delivery that waits for a webhook that is gone is a problem', async () => {
  force("INSERT INTO webhook_events VALUES (1, 'ping', NULL, NULL, '{}', 0)")
  force("INSERT INTO webhook_deliveries VALUES (1, ?, 'gone', 1, 'pending', '[]', 5, 0, 0)", 'the-delivery')
  expect(await problems()).toMatchObject([
    { kind: 'foreign_key' },
    { kind: 'webhook_delivery', detail: expect.stringContaining('the-delivery') },
  ])
})
