import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb } from '../db/open.ts'
import { backupCommand } from './backup.ts'
import { restoreCommand } from './restore.ts'
import { runCommand } from './run-command.ts'
import { testIo } from './testing/test-io.ts'

test('a backup is a file: "-" makes none of that name, and no name makes none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-backup-'))
  openDb(join(folder, 'svc.db'), 0).sqlite.close()
  const io = testIo({ env: { DATA_DIR: folder }, cwd: folder })
  expect(await runCommand({ backup: () => backupCommand }, ['backup', '-'], io, 'backup')).toBe(2)
  expect(io.err()).toContain('a backup goes into a file')
  for (const [name, command] of [
    ['backup', backupCommand],
    ['restore', restoreCommand],
  ] as const)
    expect(await runCommand({ [name]: () => command }, [name, ''], io, 'backup')).toBe(2)
  expect(existsSync(join(folder, '-'))).toBe(false)
  rmSync(folder, { recursive: true })
})
