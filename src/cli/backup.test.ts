import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb } from '../db/open.ts'
import { CertificateStore } from '../modules/certificates/store.ts'
import { newKey } from '../platform/acme/keys.ts'
import { createLog } from '../platform/log.ts'
import { createSecretBox } from '../platform/secret-box.ts'
import { readSecretKeys } from '../platform/secret-keys.ts'
import { certificateRecord } from '../testing/certificate-record.ts'
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

test('certificates and the accounts at authorities and providers come back, and their keys open', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-backup-'))
  const at = (...names: string[]) => join(folder, ...names)
  mkdirSync(at('a'))
  openDb(at('a', 'svc.db'), 0).sqlite.close()
  const storeIn = (name: string) =>
    new CertificateStore(at(name), createSecretBox(readSecretKeys(at(name, 'secret.key'))))
  const directory = 'https://ca.test/'
  const record = certificateRecord('sites.test')
  await storeIn('a').saveHost(record)
  await storeIn('a').saveAccount({ directory, key: newKey(), url: `${directory}1` })
  writeFileSync(at('a', 'certs', 'dns-account.json'), '{"sealed":"v1.x"}')
  const run = (command: Command, name: string, words: string[]) =>
    runCommand({ [name]: () => command }, [name, ...words], testIo({ cwd: folder }), name)
  expect(await run(backupCommand, 'backup', [at('b.tar'), '--data-dir', at('a')])).toBe(0)
  expect(await run(restoreCommand, 'restore', [at('b.tar'), '--data-dir', at('c')])).toBe(0)
  const bytesIn = (name: string) =>
    readdirSync(at(name, 'certs')).map((one) => [one, readFileSync(at(name, 'certs', one), 'utf8')])
  expect(bytesIn('c').sort()).toEqual(bytesIn('a').sort())
  expect(bytesIn('c')).toHaveLength(3)
  const log = createLog({
    level: 'warn',
    format: 'json',
    write: (line) => expect(line).toBe(''),
    now: () => 0,
  })
  expect(storeIn('c').readHosts(log)).toEqual([record])
  expect(storeIn('c').readAccount(directory, log)?.url).toBe(`${directory}1`)
  rmSync(folder, { recursive: true })
})
