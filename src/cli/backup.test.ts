import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb } from '../db/open.ts'
import { backupCommand } from './backup.ts'
import type { Command } from './command.ts'
import { restoreCommand } from './restore.ts'
import { runCommand } from './run-command.ts'
import { storeSealedValues } from './testing/sealed-values.ts'
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

test('what waited for a webhook or to be mailed when the backup was made counts as failed after a restore', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-backup-'))
  const at = (name: string) => join(folder, name, 'svc.db')
  mkdirSync(join(folder, 'a'))
  storeSealedValues(join(folder, 'a'))
  const before = openDb(at('a'), 0)
  before.sqlite.run("INSERT INTO webhook_events VALUES (1, 'ping', NULL, NULL, '{}', 0)")
  before.sqlite.run("INSERT INTO webhook_deliveries VALUES (1, 'd', 'h', 1, 'pending', '[]', 5, 0, 0)")
  before.close()
  const run = (command: Command, name: string, words: string[]) =>
    runCommand({ [name]: () => command }, [name, ...words], testIo({ cwd: folder }), name)
  const file = join(folder, 'b.tar')
  expect(await run(backupCommand, 'backup', [file, '--data-dir', join(folder, 'a')])).toBe(0)
  expect(await run(restoreCommand, 'restore', [file, '--data-dir', join(folder, 'c')])).toBe(0)
  const after = openDb(at('c'), 0)
  const rows = after.sqlite
    .query<{ status: string; tries: string }, []>('SELECT status, tries FROM webhook_deliveries')
    .all()
  const mails = after.sqlite.query('SELECT status, error, sealed, next_try_at FROM mails').values()
  after.close()
  expect(mails).toEqual([['failed', 'restored', null, null]])
  expect(rows.map(({ status, tries }) => [status, JSON.parse(tries)])).toMatchObject([
    ['failed', [{ status: null, error: 'restored' }]],
  ])
  rmSync(folder, { recursive: true })
})
