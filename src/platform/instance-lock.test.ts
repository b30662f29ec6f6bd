import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataDirError } from '../domain/data-dir-error.ts'
import { lockDataDir } from './instance-lock.ts'

test('only one holder at a time; an unusable lock is reported', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-lock-'))
  const lock = lockDataDir(folder)
  expect(lock).toBeDefined()
  expect(lockDataDir(folder)).toBeUndefined()
  lock?.release()
  writeFileSync(join(folder, 'serve.lock'), 'not what SQLite writes\n'.repeat(1000))
  expect(() => lockDataDir(folder)).toThrow(DataDirError)
  expect(() => lockDataDir(folder)).toThrow('serve.lock cannot be locked: ')
  rmSync(folder, { recursive: true })
})
