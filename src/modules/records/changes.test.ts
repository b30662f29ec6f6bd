import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { watchOtherWriters } from '../../db/generation.ts'
import { openDb } from '../../db/open.ts'
import { until } from '../../testing/until.ts'
import { changesOf, noteChange } from './changes.ts'

test('only changes of the same schema count', () => {
  const db = openDb(':memory:', 0)
  const before = [changesOf(db, 'a'), changesOf(db, 'b')]
  noteChange(db, 'a')
  expect(changesOf(db, 'a')).not.toBe(before[0])
  expect(changesOf(db, 'b')).toBe(before[1] ?? -1)
  db.close()
})

test('a write of another process counts for every schema', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-changes-'))
  const file = join(folder, 'svc.db')
  const db = openDb(file, 0)
  const stop = watchOtherWriters(db, 1)
  const before = changesOf(db, 'a')
  const other = openDb(file, 0)
  other.sqlite.run('UPDATE site_generation SET sites = sites + 1')
  other.close()
  await until('the write to be noticed', () => changesOf(db, 'a') !== before)
  stop()
  db.close()
  rmSync(folder, { recursive: true })
})

const WRITES_RECORDS = /(INSERT INTO|UPDATE|DELETE FROM) records\b|\.(insert|update|delete)\(records\)/g

/** In each file, as many notes as statements: a statement with its name counts where it is used. */
test('what writes records notes the change', async () => {
  const src = join(import.meta.dir, '../..')
  const isLookedAt = /^(?!testing\/).*(?<!\.test|\.fixture)\.ts$/
  let writers = 0
  for (const path of new Bun.Glob('**/*.ts').scanSync(src)) {
    if (!isLookedAt.test(path)) continue
    const text = await Bun.file(join(src, path)).text()
    const named = [...text.matchAll(/const (\w+) =\s*['`](?:INSERT INTO|UPDATE|DELETE FROM) records\b/g)]
    const uses = named.flatMap(([, name]) => [...text.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].slice(2))
    const writes = [...text.matchAll(WRITES_RECORDS), ...uses]
    writers += writes.length
    const notes = [...text.matchAll(/\bnoteChange\(db/g)]
    expect(`${path}: ${notes.length >= writes.length}`).toBe(`${path}: true`)
  }
  expect(writers).toBeGreaterThan(4)
})
