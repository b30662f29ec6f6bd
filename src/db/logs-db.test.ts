import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLogsDb } from './logs-db.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-logs-db-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a file of the first version gets the newer indexes and keeps its rows', () => {
  const file = join(folder, 'logs.db')
  const old = openLogsDb(file)
  const namesOf = (db: typeof old) =>
    db.sqlite.query("SELECT name, sql FROM sqlite_master WHERE type = 'index' ORDER BY name").all()
  const newest = namesOf(old)
  old.sqlite.run(`
    INSERT INTO hours VALUES ('p', 0, 1, 2, 3, 4, 5, 6, 7);
    DROP INDEX hours_hour; CREATE INDEX hours_hour ON hours (hour);
    DROP INDEX requests_project; CREATE INDEX requests_project ON requests (project_id, at);
    DROP INDEX days_kind;
    DROP TABLE links;
    DROP INDEX requests_failed; ALTER TABLE requests DROP COLUMN canonical_path;
    PRAGMA user_version = 1`)
  expect(namesOf(old)).not.toEqual(newest)
  old.close()
  const opened = openLogsDb(file)
  expect(namesOf(opened)).toEqual(newest)
  expect(opened.sqlite.query('SELECT requests, errors FROM hours').all()).toEqual([
    { requests: 1, errors: 7 },
  ])
  opened.close()
})
