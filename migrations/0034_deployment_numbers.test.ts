import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { migrate } from '../src/db/migrate.ts'
import { migrations } from './index.ts'

/** What was published before gets numbers by age, titles and icons. contract 17.1. */

test('deployments of before are numbered in their project by their time, then by id', () => {
  const sqlite = new Database(':memory:', { strict: true })
  sqlite.run('PRAGMA foreign_keys = ON')
  migrate(
    sqlite,
    1,
    migrations.filter(({ name }) => name < '0034'),
  )
  const project = sqlite.query(
    `INSERT INTO projects (id, owner, name, display_name, is_public, allow_public_signup, required_role, created_at, updated_at)
     VALUES (?1, 'acme', ?1, ?1, 1, 0, 'guest', 1, 1)`,
  )
  for (const id of ['p', 'q', 'empty']) project.run(id)
  const deployment = sqlite.query(
    `INSERT INTO deployments (id, project_id, commit_sha, description, base_path, file_count, total_size, created_by, created_at, updated_at)
     VALUES (?1, ?2, ?1, ?3, ?4, 0, 0, 'operator', ?5, 9)`,
  )
  deployment.run('d1', 'p', 'Third\nmore', '', 30)
  deployment.run('d2', 'p', null, '/dist', 20)
  deployment.run('d4', 'p', '\n', '', 10)
  deployment.run('d3', 'p', 'First', '', 10)
  deployment.run('d5', 'q', null, '', 40)
  sqlite.run("INSERT INTO blobs (id, sha256, size_bytes, offset) VALUES (1, 'content', 3, 0)")
  const file = sqlite.query('INSERT INTO assets VALUES (?1 || ?2, ?1, ?2, 1, 3)')
  file.run('d1', 'favicon.png')
  file.run('d1', 'favicon.ico')
  file.run('d2', 'favicon.ico')
  file.run('d2', 'dist/favicon.svg')
  sqlite.run(`INSERT INTO aliases (id, project_id, name, deployment_id, created_at, updated_at)
    VALUES ('live', 'p', 'production', 'd1', 1, 2)`)
  const moved = sqlite.query(
    `INSERT INTO alias_history (id, alias_id, deployment_id, commit_sha, base_path, moved_by, moved_at) VALUES (?1, 'live', ?1, 'x', '', 'operator', 1)`,
  )
  for (const id of ['d1', 'd4', 'gone']) moved.run(id)

  migrate(sqlite, 2)
  const rows = (query: string) => sqlite.query(query).values()
  expect(rows('SELECT id, number, title, icon FROM deployments ORDER BY project_id, number')).toEqual([
    ['d3', 1, 'First', null],
    ['d4', 2, null, null],
    ['d2', 3, null, 'dist/favicon.svg'],
    ['d1', 4, 'Third', 'favicon.ico'],
    ['d5', 1, null, null],
  ])
  expect(rows('SELECT * FROM deployment_counters ORDER BY 1')).toEqual([
    ['p', 4],
    ['q', 1],
  ])
  expect(rows('SELECT id, number FROM alias_history ORDER BY 1')).toEqual([
    ['d1', 4],
    ['d4', 2],
    ['gone', null],
  ])
})
