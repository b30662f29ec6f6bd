import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getTableColumns, getTableName } from 'drizzle-orm'
import { migrations } from '../../migrations/index.ts'
import { tables } from '../testing/tables.ts'
import { migrate } from './migrate.ts'
import { openDb } from './open.ts'

test('the names are unique and in order', () => {
  const names = migrations.map(({ name }) => name)
  expect(names).toEqual([...new Set(names)].sort())
})

test('a second run does nothing', () => {
  const sqlite = new Database(':memory:')
  expect(migrate(sqlite, 1)).toEqual(migrations.map(({ name }) => name))
  expect(migrate(sqlite, 2)).toEqual([])
})

test('a failed migration leaves nothing behind', () => {
  const sqlite = new Database(':memory:')
  const broken = [{ name: '1_broken', sql: 'CREATE TABLE a (x); CREATE TABLE a (x);' }]
  expect(() => migrate(sqlite, 1, broken)).toThrow()
  expect(sqlite.query("SELECT count(*) AS n FROM sqlite_master WHERE name = 'a'").get()).toEqual({ n: 0 })
  expect(sqlite.query('SELECT count(*) AS n FROM schema_migrations').get()).toEqual({ n: 0 })
})

test('a database of a newer version is rejected', () => {
  const sqlite = new Database(':memory:')
  migrate(sqlite, 1, [{ name: '9999_future', sql: 'CREATE TABLE a (x)' }])
  expect(() => migrate(sqlite, 2, [])).toThrow('newer svc')
})

test('a database with data is copied before it is changed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-migrate-'))
  const sqlite = new Database(join(folder, 'svc.db'))
  migrate(sqlite, 1, [{ name: '1_first', sql: 'CREATE TABLE a (x); INSERT INTO a VALUES (7)' }])
  migrate(sqlite, 2, [
    { name: '1_first', sql: '' },
    { name: '2_second', sql: 'DELETE FROM a' },
  ])
  const copy = join(folder, 'svc.db.before-2_second')
  expect(new Database(copy).query('SELECT x FROM a').all()).toEqual([{ x: 7 }])
  rmSync(folder, { recursive: true })
})

test('a copy left by an earlier attempt is replaced, because it may be incomplete or old', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-migrate-'))
  const sqlite = new Database(join(folder, 'svc.db'))
  const first = { name: '1_first', sql: 'CREATE TABLE a (x); INSERT INTO a VALUES (7)' }
  migrate(sqlite, 1, [first])
  for (const name of ['svc.db.before-2_second', 'svc.db.before-2_second.partial'])
    writeFileSync(join(folder, name), 'half')
  expect(() => migrate(sqlite, 2, [first, { name: '2_second', sql: 'broken' }])).toThrow()
  sqlite.run('UPDATE a SET x = 8')
  migrate(sqlite, 2, [first, { name: '2_second', sql: 'DELETE FROM a' }])
  expect(new Database(join(folder, 'svc.db.before-2_second')).query('SELECT x FROM a').all()).toEqual([
    { x: 8 },
  ])
  expect(readdirSync(folder).filter((name) => name.includes('before'))).toEqual(['svc.db.before-2_second'])
  sqlite.close()
  rmSync(folder, { recursive: true })
})

test('guards may prevent the first migration and a change, and are not called if there is none', () => {
  const sqlite = new Database(':memory:')
  const first = { name: '1_first', sql: 'CREATE TABLE a (x)' }
  const second = { name: '2_second', sql: 'CREATE TABLE b (x)' }
  const refuse = (why: string) => () => {
    throw new Error(why)
  }
  const beforeFirst = refuse('not the first')
  const beforeChange = refuse('not now')
  expect(() => migrate(sqlite, 1, [first], { beforeFirst })).toThrow('not the first')
  expect(migrate(sqlite, 1, [first], { beforeChange })).toEqual(['1_first'])
  expect(migrate(sqlite, 1, [first], { beforeFirst, beforeChange })).toEqual([])
  expect(() => migrate(sqlite, 2, [first, second], { beforeChange })).toThrow('not now')
  expect(migrate(sqlite, 2, [first, second], { beforeFirst })).toEqual(['2_second'])
})

test('contents that get numbers keep their files, forms and interrupted uploads; the rest is freed', () => {
  const before = migrations.filter(({ name }) => name < '0013')
  const sqlite = new Database(':memory:')
  sqlite.run('PRAGMA foreign_keys = ON')
  migrate(sqlite, 1, before)
  sqlite.run(`
    INSERT INTO projects (id, owner, name, display_name, is_public, allow_public_signup, required_role, created_at, updated_at)
      VALUES ('p', 'acme', 'docs', 'docs', 1, 0, 'guest', 1, 1);
    INSERT INTO deployments (id, project_id, commit_sha, file_count, total_size, created_by, created_at, updated_at)
      VALUES ('d', 'p', 'abc', 2, 8, 'operator', 1, 1);
    INSERT INTO blobs VALUES ('a', 5, 'pack', 9, 7, 0), ('b', 3, 'pack', 0, NULL, 1), ('z', 2, NULL, 0, 7, 0);
    INSERT INTO assets VALUES ('1', 'd', 'a.txt', 'a', 5), ('2', 'd', 'b.txt', 'b', 3);
    INSERT INTO blob_variants VALUES ('a', 'br', 'z');
    INSERT INTO upload_blobs VALUES ('p', 'b', 9);
    PRAGMA foreign_keys = OFF;
    INSERT INTO upload_blobs VALUES ('deleted', 'z', 9);
    INSERT INTO blob_variants VALUES ('lost', 'br', 'z'), ('b', 'br', 'lost');
    INSERT INTO assets VALUES ('3', 'd', 'c.txt', 'lost', 5), ('4', 'deleted', 'a.txt', 'a', 5);
    PRAGMA foreign_keys = ON;`)
  migrate(sqlite, 2)
  const rowsOf = (sql: string) => sqlite.query(sql).values()
  expect(
    rowsOf(`SELECT a.id, a.deployment_id, a.path, b.sha256, a.size_bytes
            FROM assets a JOIN blobs b ON b.id = a.blob_id ORDER BY 1`),
  ).toEqual([
    ['1', 'd', 'a.txt', 'a', 5],
    ['2', 'd', 'b.txt', 'b', 3],
  ])
  expect(
    rowsOf('SELECT sha256, size_bytes, pack, offset, variants_at, damaged FROM blobs ORDER BY 1'),
  ).toEqual([
    ['a', 5, 'pack', 9, 7, 0],
    ['b', 3, 'pack', 0, null, 1],
    ['z', 2, null, 0, 7, 0],
  ])
  expect(rowsOf('SELECT * FROM blob_variants')).toEqual([['a', 'br', 'z']])
  expect(rowsOf('SELECT * FROM upload_blobs')).toEqual([['p', 'b', 9]])
  expect(rowsOf('PRAGMA foreign_key_check')).toEqual([])
  expect(rowsOf('SELECT sha256 FROM blob_candidates ORDER BY 1')).toEqual([['a'], ['lost'], ['z']])
  sqlite.run('DELETE FROM blob_candidates')

  expect(() => sqlite.run("DELETE FROM blobs WHERE sha256 = 'a'")).toThrow('FOREIGN KEY')
  sqlite.run('DELETE FROM upload_blobs')
  sqlite.run("UPDATE assets SET blob_id = (SELECT blob_id FROM assets WHERE id = '2') WHERE id = '1'")
  sqlite.run("DELETE FROM blobs WHERE sha256 = 'a'")
  sqlite.run("DELETE FROM deployments WHERE id = 'd'")
  expect(rowsOf('SELECT sha256 FROM blob_candidates ORDER BY 1')).toEqual([['a'], ['b'], ['z']])
})

test('compressed forms stay for the projects whose files have a type that makes them', () => {
  const sqlite = new Database(':memory:')
  sqlite.run('PRAGMA foreign_keys = ON')
  migrate(
    sqlite,
    1,
    migrations.filter(({ name }) => name < '0014'),
  )
  const project = sqlite.query(
    `INSERT INTO projects (id, owner, name, display_name, is_public, allow_public_signup, required_role, created_at, updated_at)
     VALUES (?1, 'acme', ?1, ?1, 1, 0, 'guest', 1, 1)`,
  )
  const deployment = sqlite.query(
    `INSERT INTO deployments (id, project_id, commit_sha, file_count, total_size, created_by, created_at, updated_at)
     VALUES (?1, ?2, ?1, 2, 8, 'operator', 1, 1)`,
  )
  const content = sqlite.query('INSERT INTO blobs VALUES (?, ?, ?, NULL, 0, ?, 0)')
  const file = sqlite.query('INSERT INTO assets VALUES (?1, ?2, ?3, ?4, 2000)')
  for (const id of ['p', 'q', 'r']) project.run(id)
  for (const [id, projectId] of ['dp', 'dq', 'dr'].map((id) => [id, id.slice(1)] as const))
    deployment.run(id, projectId)
  content.run(1, 'made', 2000, 7)
  content.run(2, 'unwanted', 2000, 0)
  content.run(3, 'waiting', 2000, null)
  content.run(4, 'small', 1023, 7)
  let assets = 0
  for (const [deploymentId, path, blobId] of [
    ['dp', 'a/b.c/app.JS', 1],
    ['dp', 'same.js', 1],
    ['dq', 'app.bin', 1],
    ['dq', 'js', 1],
    ['dq', 'a.js/b', 1],
    ['dq', 'photo.png', 2],
    ['dr', 'new.css', 3],
    ['dr', 'small.css', 4],
  ] as const)
    file.run(String(assets++), deploymentId, path, blobId)
  migrate(sqlite, 2)
  const rowsOf = (sql: string) => sqlite.query(sql).values()
  expect(rowsOf('SELECT * FROM project_variants')).toEqual([['p', 1]])
  expect(rowsOf('SELECT * FROM waiting_deployments')).toEqual([['dr']])
  expect(rowsOf('SELECT sha256, variants_at, traits, is_brotli FROM blobs ORDER BY id')).toEqual([
    ['made', 7, null, null],
    ['unwanted', null, null, null],
    ['waiting', null, null, null],
    ['small', 7, null, null],
  ])
})

test('of moves from before the first is how the alias was made', () => {
  const sqlite = new Database(':memory:')
  migrate(
    sqlite,
    1,
    migrations.filter(({ name }) => name < '0020'),
  )
  sqlite.run(`
    PRAGMA foreign_keys = OFF;
    INSERT INTO alias_history VALUES
      ('1', 'a', 'd', 'abc', '', 'operator', 5), ('2', 'a', 'e', 'abd', '', 'operator', 5),
      ('3', 'a', 'd', 'abc', '', 'operator', 9), ('4', 'b', 'd', 'abc', '', 'operator', 7);`)
  migrate(sqlite, 2)
  expect(sqlite.query('SELECT id, reason FROM alias_history ORDER BY id').values()).toEqual([
    ['1', 'create'],
    ['2', 'move'],
    ['3', 'move'],
    ['4', 'create'],
  ])
})

test('domains of before keep their proofs, claims and splits, and a claim can then be made by another project', () => {
  const before = migrations.filter(({ name }) => name < '0018')
  const sqlite = new Database(':memory:')
  sqlite.run('PRAGMA foreign_keys = ON')
  migrate(sqlite, 1, before)
  const project = (id: string) =>
    sqlite.run(`INSERT INTO projects (id, owner, name, display_name, is_public, allow_public_signup, required_role, created_at, updated_at)
      VALUES ('${id}', 'acme', '${id}', '${id}', 1, 0, 'guest', 1, 1)`)
  const domain = (id: string, projectId: string, hostname: string, by: string | null) =>
    sqlite.run(
      `INSERT INTO domains (id, project_id, hostname, alias, challenge, verified_by, verified_at, created_at, updated_at, checked_at, check_error)
       VALUES (?, ?, ?, 'live', ?, ?, ?, 1, 2, 3, 'none')`,
      [id, projectId, hostname, `c${id}`, by, by === null ? null : 5],
    )
  project('p')
  project('q')
  domain('1', 'p', 'proven.example', 'txt')
  domain('2', 'p', 'claimed.example', null)
  sqlite.run(`INSERT INTO traffic VALUES ('1', '[]', 1, 60, '[]', 7)`)
  const shown = () =>
    sqlite
      .query('SELECT id, hostname, challenge, verified_by, verified_at, checked_at, check_error FROM domains')
      .values()
  const rows = shown()
  migrate(sqlite, 2)
  expect(shown()).toEqual(rows)
  expect(sqlite.query('SELECT * FROM traffic').values()).toEqual([['1', '[]', 1, 60, '[]', 7]])
  expect(sqlite.query('PRAGMA foreign_key_check').values()).toEqual([])

  domain('3', 'q', 'claimed.example', null)
  expect(() => domain('4', 'q', 'claimed.example', null)).toThrow('UNIQUE')
  expect(() => domain('4', 'q', 'proven.example', 'http')).toThrow('UNIQUE')
  const generation = () =>
    sqlite.query<{ sites: number }, []>('SELECT sites FROM site_generation').get()?.sites
  const seen = generation()
  sqlite.run("DELETE FROM domains WHERE id = '1'")
  expect(sqlite.query('SELECT * FROM traffic').values()).toEqual([])
  expect(generation()).toBeGreaterThan(seen ?? 0)
})

test.each(tables.map(({ table }) => [getTableName(table), table] as const))(
  '%s is the same in SQL and in schema.ts',
  (name, table) => {
    const { sqlite } = openDb(':memory:', 0)
    const inSql = sqlite
      .query<{ name: string; type: string; notnull: number; pk: number }, []>(`PRAGMA table_info(${name})`)
      .all()
      .map((column) => ({
        name: column.name,
        type: column.type,
        isRequired: column.notnull === 1 || column.pk > 0,
      }))
    const inSchema = Object.values(getTableColumns(table)).map((column) => ({
      name: column.name,
      type: column.getSQLType().toUpperCase(),
      isRequired: column.notNull || column.primary,
    }))
    expect(inSchema).toEqual(inSql)
  },
)

test('schema.ts has every table', () => {
  const { sqlite } = openDb(':memory:', 0)
  const inSql = sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all()
    .map(({ name }) => name)
  const notQueried = ['schema_migrations']
  expect([...tables.map(({ table }) => getTableName(table)), ...notQueried].sort()).toEqual(inSql)
})
