import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getTableColumns, getTableName, is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { migrations } from '../../migrations/index.ts'
import { migrate } from './migrate.ts'
import { openDb } from './open.ts'
import * as schema from './schema.ts'
import * as recordTables from './schema-records.ts'

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

const tables = Object.values({ ...schema, ...recordTables }).filter((value) => is(value, SQLiteTable))

test.each(tables.map((table) => [getTableName(table), table] as const))(
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
  expect([...tables.map(getTableName), ...notQueried].sort()).toEqual(inSql)
})
