import { Database } from 'bun:sqlite'
import { beforeEach, expect, test } from 'bun:test'
import { migrate } from '../src/db/migrate.ts'
import { migrations } from './index.ts'

/** The target of a proxy that is never called is stored as it is, and what refers to a rule stays. contract 14.1. */

const COLUMNS = `id, project_id, path_pattern, proxy_type, target_url, pipeline_config, status, strip_prefix, rule_order, timeout_ms,
  preserve_host, forward_cookies, is_enabled, debug_enabled, created_at, updated_at`
const ruleRow = (id: string, type: string, target: string, more = 'NULL, NULL') =>
  `('${id}', 'p', '/${id}', '${type}', '${target}', ${more}, 1, 3, 30000, 0, 1, 1, 0, 5, 6)`

let sqlite: Database
beforeEach(() => {
  sqlite = new Database(':memory:', { strict: true })
  sqlite.run('PRAGMA foreign_keys = ON')
  migrate(
    sqlite,
    1,
    migrations.filter(({ name }) => name < '0041'),
  )
  sqlite.run(`
    INSERT INTO projects (id, owner, name, display_name, is_public, allow_public_signup, required_role, created_at, updated_at)
      VALUES ('p', 'acme', 'docs', 'docs', 1, 0, 'guest', 1, 1);
    INSERT INTO proxy_rules (${COLUMNS}) VALUES
      ${[
        ruleRow('other', 'external_proxy', 'https://api.example.com/http'),
        ruleRow('marked', 'external_proxy', 'https://localhost:3000/api/users?a=b http'),
        ruleRow('address', 'external_proxy', 'https://127.0.0.1/api/x http'),
        ruleRow('moved', 'redirect', 'https://localhost/api/y http', 'NULL, 302'),
        ruleRow('path', 'internal_rewrite', '/app/'),
        ruleRow('run', 'pipeline', '', `'{"steps":[]}', NULL`),
      ]};
    UPDATE proxy_rules SET methods = '["GET"]', header_config = '{"add":{"a":"b"}}', is_written_by_admin = 1 WHERE id = 'marked';
    INSERT INTO schedules (id, project_id, rule_id, method, name, cron, timezone, is_enabled, catch_up, is_pushed, created_at,
      updated_at) VALUES ('s', 'p', 'run', 'POST', 's', '* * * * *', 'UTC', 1, 'none', 0, 1, 1);
    INSERT INTO cdn_targets (id, url) VALUES (1, 'https://cdn.example.com');`)
})

const rows = (query: string) => sqlite.query(query).values()

test('targets are written out; every other column, and schedules, stay', () => {
  const targets = () => rows('SELECT id, target_url FROM proxy_rules ORDER BY rowid')
  const others = () => {
    const all = sqlite.query<Record<string, unknown>, []>('SELECT * FROM proxy_rules ORDER BY rowid').all()
    return all.map(({ target_url: _, ...rest }) => rest)
  }
  const [before, generation] = [others(), rows('SELECT * FROM site_generation')]
  migrate(sqlite, 2)
  expect(targets()).toEqual([
    ['other', 'https://api.example.com/http'],
    ['marked', 'http://localhost:3000/api/users?a=b'],
    ['address', 'http://127.0.0.1/api/x'],
    ['moved', 'http://localhost/api/y'],
    ['path', '/app/'],
    ['run', ''],
  ])
  expect(others()).toEqual(before)
  expect(rows('SELECT id, rule_id FROM schedules')).toEqual([['s', 'run']])
  expect(rows('PRAGMA foreign_key_check')).toEqual([])
  expect(rows('PRAGMA foreign_keys')).toEqual([[1]])
  expect(rows('SELECT key FROM cdn_purges')).toEqual([])
  expect(rows('SELECT * FROM site_generation')).toEqual(generation)
})

test('the table keeps its foreign keys, triggers and checks', () => {
  const about = "SELECT type, name FROM sqlite_master WHERE tbl_name = 'proxy_rules' ORDER BY 1, 2"
  const before = rows(about)
  migrate(sqlite, 2)
  expect(rows(about)).toEqual(before)
  sqlite.run("DELETE FROM proxy_rules WHERE id = 'run'")
  expect(rows('SELECT id FROM schedules')).toEqual([])
  expect(rows('SELECT key FROM cdn_purges')).not.toEqual([])
  const point = (target: string) => () =>
    sqlite.run('UPDATE proxy_rules SET target_url = ? WHERE id = ?', [target, 'other'])
  for (const target of ['http://localhost/api/a', 'HTTP://LocalHost:80/api/a', 'http://127.0.0.1:3000/api/a'])
    expect(point(target)).not.toThrow()
  for (const target of [
    'http://example.com/api/a',
    'http://localhost/a',
    'http://localhost.example.com/api/a',
    '/a',
  ])
    expect(point(target)).toThrow('CHECK')
  sqlite.run("DELETE FROM projects WHERE id = 'p'")
  expect(rows('SELECT id FROM proxy_rules')).toEqual([])
})
