import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { migrations } from '../../migrations/index.ts'
import { migrate } from './migrate.ts'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** A database of before with a key of each kind of maker. */
function formerDatabase(): Database {
  const sqlite = new Database(':memory:')
  sqlite.run('PRAGMA foreign_keys = ON')
  migrate(
    sqlite,
    1,
    migrations.filter(({ name }) => name < '0017'),
  )
  sqlite.run(`
    INSERT INTO users (id, email, role, created_at, updated_at) VALUES
      ('admin', 'a@x.ch', 'admin', 1, 1), ('demoted', 'd@x.ch', 'user', 1, 1), ('gone', 'g@x.ch', 'admin', 1, 1);
    INSERT INTO projects (id, owner, name, display_name, is_public, allow_public_signup, required_role, created_at, updated_at)
      VALUES ('p', 'acme', 'docs', 'docs', 1, 0, 'guest', 1, 1);
    INSERT INTO api_keys VALUES
      ('1', 'of an admin', 'svc_1', 'h1', NULL, 1, 'admin', 1, NULL, 7),
      ('2', 'of one demoted', 'svc_2', 'h2', 'p', 0, 'demoted', 1, 9, NULL),
      ('3', 'of one gone', 'svc_3', 'h3', NULL, 1, 'gone', 1, NULL, NULL),
      ('4', 'of the command line', 'svc_4', 'h4', NULL, 1, NULL, 1, NULL, NULL),
      ('5', 'of nobody knows', 'svc_5', 'h5', NULL, 1, NULL, 1, NULL, NULL);
    INSERT INTO audit_log (id, at, actor_kind, actor_id, credential, action, target_kind, target_id) VALUES
      ('a1', 1, 'user', 'admin', 's', 'api-key.create', 'api-key', '1'),
      ('a2', 1, 'user', 'demoted', 's', 'api-key.create', 'api-key', '2'),
      ('a3', 1, 'user', 'gone', 's', 'api-key.create', 'api-key', '3'),
      ('a4', 1, 'operator', NULL, 's', 'api-key.create', 'api-key', '4'),
      ('a5', 1, 'user', 'admin', 's', 'api-key.revoke', 'api-key', '5');
    DELETE FROM users WHERE id = 'gone';
    INSERT INTO project_secrets VALUES ('p', 'KEY', 'sealed', 1);
    INSERT INTO proxy_rules (id, project_id, path_pattern, proxy_type, target_url, strip_prefix, rule_order, timeout_ms,
      preserve_host, forward_cookies, is_enabled, debug_enabled, created_at, updated_at)
      VALUES ('r', 'p', '/x', 'internal_rewrite', '/', 1, 0, 30000, 0, 0, 1, 0, 0, 0);
    INSERT INTO pipeline_runs VALUES ('p', 'run', 'r', NULL, 'steps', '/', 'GET', '/', 200, 1, NULL, NULL, '[]', 0);`)
  return sqlite
}

test('keys of people who are gone or demoted are suspended, each with a reason; of the others none is', () => {
  const sqlite = formerDatabase()
  expect(sqlite.query("SELECT created_by FROM api_keys WHERE id = '3'").values()).toEqual([[null]])
  migrate(sqlite, 2)
  expect(
    sqlite
      .query('SELECT id, created_by, suspended_at > 1e12, suspended_reason FROM api_keys ORDER BY id')
      .values(),
  ).toEqual([
    ['1', 'admin', null, null],
    ['2', 'demoted', 1, 'maker_demoted'],
    ['3', 'gone', 1, 'maker_deleted'],
    ['4', null, null, null],
    ['5', null, null, null],
  ])
  expect(
    sqlite.query("SELECT project_id, expires_at, token_hash FROM api_keys WHERE id = '2'").values(),
  ).toEqual([['p', 9, 'h2']])
  const entries = sqlite
    .query<{ id: string }, []>("SELECT * FROM audit_log WHERE action = 'api-key.suspend' ORDER BY target_id")
    .all()
  expect(entries).toMatchObject([
    { target_id: '2', target_name: 'of one demoted', project_id: 'p', actor_kind: 'operator' },
    { target_id: '3', after: '{"suspendedReason":"maker_deleted"}' },
  ])
  for (const { id } of entries) expect(id).toMatch(UUID_V7)
})

test('keys still go with their project, and a change of one still clears what was remembered of access', () => {
  const sqlite = formerDatabase()
  migrate(sqlite, 2)
  const access = () =>
    sqlite.query<{ access: number }, []>('SELECT access FROM site_generation').get()?.access ?? 0
  const before = access()
  sqlite.run("UPDATE api_keys SET suspended_at = 1, suspended_reason = 'maker_deleted' WHERE id = '1'")
  expect(access()).toBe(before + 1)
  sqlite.run("UPDATE api_keys SET last_used_at = 8 WHERE id = '1'")
  expect(access()).toBe(before + 1)
  sqlite.run("DELETE FROM projects WHERE id = 'p'")
  expect(sqlite.query('SELECT id FROM api_keys ORDER BY id').values()).toEqual([['1'], ['3'], ['4'], ['5']])
  expect(() => sqlite.run('UPDATE api_keys SET suspended_at = NULL')).toThrow('CHECK')
  expect(sqlite.query('PRAGMA foreign_key_check').values()).toEqual([])
})

test('secrets of before are for contributors; of rules nobody knows the writer, of runs whether they held a secret', () => {
  const sqlite = formerDatabase()
  migrate(sqlite, 2)
  expect(sqlite.query('SELECT usable_by FROM project_secrets').values()).toEqual([['contributor']])
  expect(sqlite.query('SELECT is_written_by_admin FROM proxy_rules').values()).toEqual([[0]])
  expect(sqlite.query('SELECT names_secret FROM pipeline_runs').values()).toEqual([[1]])
})
