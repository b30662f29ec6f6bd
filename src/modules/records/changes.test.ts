import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { watchOtherWriters } from '../../db/generation.ts'
import { openDb } from '../../db/open.ts'
import { temporaryDir } from '../../testing/temporary-dir.ts'
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
  const file = join(dir.path, 'svc.db')
  const db = openDb(file, 0)
  const stop = watchOtherWriters(db, 1)
  const before = changesOf(db, 'a')
  const other = openDb(file, 0)
  other.sqlite.run('UPDATE site_generation SET sites = sites + 1')
  other.close()
  while (changesOf(db, 'a') === before) await Bun.sleep(1)
  stop()
  db.close()
})

test('every function that writes records notes the change', async () => {
  const src = join(import.meta.dir, '../..')
  const isLookedAt = /^(?!testing\/).*(?<!\.test|\.fixture)\.ts$/
  let writers = 0
  for (const path of new Bun.Glob('**/*.ts').scanSync(src)) {
    if (!isLookedAt.test(path)) continue
    const functions = (await Bun.file(join(src, path)).text()).split(/^(?=export |async |function |const )/m)
    for (const body of functions) {
      if (!/(INTO|UPDATE|DELETE FROM) records\b|(insert|update|delete)\(records\)/.test(body)) continue
      writers += 1
      expect(`${path}: ${body}`).toContain('noteChange(')
    }
  }
  expect(writers).toBeGreaterThan(4)
})
