import { Database } from 'bun:sqlite'
import { beforeEach, expect, test } from 'bun:test'
import { migrate } from '../src/db/migrate.ts'
import { migrations } from './index.ts'

/** What a server of before had published becomes version 1, and nothing of it is lost or moves. contract 16 §1. */

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(40)) as [string, string, string, string]

let sqlite: Database
beforeEach(() => {
  sqlite = new Database(':memory:', { strict: true })
  sqlite.run('PRAGMA foreign_keys = ON')
  migrateBefore('0022')
  fill()
})

const migrateBefore = (end: string) =>
  migrate(
    sqlite,
    1,
    migrations.filter(({ name }) => name < end),
  )

const rows = (query: string) => sqlite.query(query).values()

/** Four deployments: live, live before, live as an alias that is deleted, never live. */
function fill(): void {
  const deployment = (id: string, sha: string) =>
    `('${id}', 'p', '${sha}', 'main', 'text ${id}', 'ci', '7', 5, '["t"]', '/dist', 1, 3, 4, 'operator', 1, 2)`
  sqlite.run(`
    INSERT INTO projects (id, owner, name, display_name, is_public, allow_public_signup, required_role, created_at, updated_at)
      VALUES ('p', 'Acme', 'my.docs', 'docs', 1, 0, 'guest', 1, 1);
    INSERT INTO blobs (id, sha256, size_bytes, offset) VALUES (1, 'content', 3, 0);
    INSERT INTO deployments VALUES ${[deployment('d1', A), deployment('d2', B), deployment('d3', C), deployment('d4', D)]};
    INSERT INTO assets SELECT 'f-' || id, id, 'dist/index.html', 1, 3 FROM deployments;
    INSERT INTO waiting_deployments VALUES ('d4');
    INSERT INTO project_variants VALUES ('p', 1);
    INSERT INTO aliases (id, project_id, name, deployment_id, base_path, created_at, updated_at)
      VALUES ('live', 'p', 'production', 'd1', '/dist', 1, 2);
    INSERT INTO alias_history VALUES ('h1', 'live', 'd2', '${B}', '', 'operator', 1, 'create'),
      ('h2', 'live', 'd1', '${A}', '/dist', 'operator', 2, 'move'), ('h3', 'live', 'gone', '${C}', '', 'operator', 3, 'move');
    INSERT INTO audit_log (id, at, actor_kind, credential, action, target_kind, after) VALUES
      ('1', 1, 'operator', 's', 'alias.create', 'alias', '{"deploymentId":"d3"}'), ('2', 1, 'operator', 's', 'alias.move', 'alias', NULL);
    INSERT INTO host_labels VALUES ('production--my-docs--acme', 'live', NULL), ('aaaaaaaaaaaa--my-docs--acme', NULL, 'd1'),
      ('bbbbbbbbbbbb--my-docs--acme', NULL, 'd2'), ('cccccccccccc--my-docs--acme-12345678', NULL, 'd3'),
      ('dddddddddddd--my-docs--acme', NULL, 'd4');
    INSERT INTO uploads (id, project_id, manifest, created_by, expires_at, published_at) VALUES ('u', 'p', '{}', 'x', 9, 8);`)
}

const NEW_COLUMNS = ['version', 'base_sha', 'revision', 'was_shown']

test('every deployment is version 1 with all that it had, and what an alias showed once is known', () => {
  const columns = sqlite
    .query<{ name: string }, []>("SELECT name FROM pragma_table_info('deployments')")
    .all()
    .map(({ name }) => name)
    .filter((name) => !NEW_COLUMNS.includes(name))
  const kept = () => rows(`SELECT ${columns} FROM deployments ORDER BY id`)
  const [before, assets, aliases] = [kept(), rows('SELECT * FROM assets'), rows('SELECT * FROM aliases')]
  migrateBefore('0023')
  expect(kept()).toEqual(before)
  expect([rows('SELECT * FROM assets'), rows('SELECT * FROM aliases')]).toEqual([assets, aliases])
  expect(rows('SELECT id, version, base_sha, revision, was_shown FROM deployments ORDER BY id')).toEqual([
    ['d1', 1, null, 4, 1],
    ['d2', 1, null, 4, 1],
    ['d3', 1, null, 4, 1],
    ['d4', 1, null, 4, 0],
  ])
  expect(rows('SELECT id, version, reason FROM alias_history')).toEqual([
    ['h1', 1, 'create'],
    ['h2', 1, 'move'],
    ['h3', 1, 'move'],
  ])
  expect(rows('SELECT * FROM waiting_deployments')).toEqual([['d4']])
  expect(rows('SELECT id, deployment_id FROM uploads')).toEqual([['u', null]])
  expect(rows('PRAGMA foreign_key_check')).toEqual([])
  expect(rows('PRAGMA foreign_keys')).toEqual([[1]])
})

test('no address changes, and each version gets one of its own', () => {
  const before = rows('SELECT label, alias_id, deployment_id FROM host_labels ORDER BY label')
  migrateBefore('0023')
  expect(
    rows(
      'SELECT label, alias_id, deployment_id FROM host_labels WHERE alias_id IS NOT NULL OR is_newest = 1 ORDER BY label',
    ),
  ).toEqual(before)
  expect(
    rows(
      'SELECT label, deployment_id FROM host_labels WHERE alias_id IS NULL AND is_newest = 0 ORDER BY label',
    ),
  ).toEqual([
    ['aaaaaaaaaaaa-v1--my-docs--acme', 'd1'],
    ['bbbbbbbbbbbb-v1--my-docs--acme', 'd2'],
    ['cccccccccccc-v1--my-docs--acme', 'd3'],
    ['dddddddddddd-v1--my-docs--acme', 'd4'],
  ])
})

test('a host that somebody has already is left to them', () => {
  sqlite.run("UPDATE host_labels SET label = 'aaaaaaaaaaaa-v1--my-docs--acme' WHERE alias_id = 'live'")
  migrateBefore('0023')
  const [[label] = []] = rows("SELECT label FROM host_labels WHERE deployment_id = 'd1' AND is_newest = 0")
  expect(label).toMatch(/^aaaaaaaaaaaa-v1--my-docs--acme-[0-9a-f]{8}$/)
})

test('afterwards deletions take with them what they took before, and remember the number', () => {
  migrateBefore('0023')
  expect(() => sqlite.run("DELETE FROM deployments WHERE id = 'd1'")).toThrow('FOREIGN KEY')
  const generation = () => rows('SELECT sites FROM site_generation')[0]?.[0] as number
  const before = generation()
  sqlite.run("DELETE FROM deployments WHERE id = 'd4'")
  expect(generation()).toBeGreaterThan(before)
  expect(rows("SELECT count(*) FROM assets WHERE deployment_id = 'd4'")).toEqual([[0]])
  expect(rows("SELECT count(*) FROM host_labels WHERE deployment_id = 'd4'")).toEqual([[0]])
  expect(rows('SELECT * FROM blob_candidates')).toEqual([['content', null]])
  expect(rows('SELECT * FROM given_versions')).toEqual([['p', D, 1]])
  expect(rows('SELECT * FROM project_variants')).toEqual([['p', 1]])
  sqlite.run('DELETE FROM assets')
  sqlite.run('DELETE FROM aliases')
  sqlite.run('DELETE FROM deployments')
  expect(rows('SELECT * FROM project_variants')).toEqual([])
  sqlite.run("DELETE FROM projects WHERE id = 'p'")
  expect(rows('SELECT * FROM given_versions')).toEqual([])
})

test('deployments of a project that is being deleted are left to that', () => {
  sqlite.run('PRAGMA foreign_keys = OFF')
  sqlite.run("UPDATE deployments SET project_id = 'removed' WHERE id = 'd4'")
  sqlite.run("INSERT INTO removed_projects VALUES ('removed', 1)")
  sqlite.run('PRAGMA foreign_keys = ON')
  migrateBefore('0023')
  expect(rows("SELECT project_id, version FROM deployments WHERE id = 'd4'")).toEqual([['removed', 1]])
  sqlite.run("DELETE FROM deployments WHERE id = 'd4'")
  expect(rows('SELECT * FROM given_versions')).toEqual([])
})

test('a failure half way leaves the database of before', () => {
  const before = rows('SELECT * FROM deployments')
  const broken = migrations.map((one) => ({
    ...one,
    complete(db: Database) {
      one.complete?.(db)
      if (one.name === '0022_versions') throw new Error('the power failed')
    },
  }))
  expect(() => migrate(sqlite, 1, broken)).toThrow('the power failed')
  expect([rows('SELECT * FROM deployments'), rows('PRAGMA foreign_keys')]).toEqual([before, [[1]]])
  migrateBefore('0023')
  expect(rows('SELECT count(*) FROM deployments WHERE version = 1')).toEqual([[4]])
})
