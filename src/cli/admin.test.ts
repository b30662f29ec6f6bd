import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../../migrations/index.ts'
import { migrate } from '../db/migrate.ts'
import { openDb } from '../db/open.ts'
import { lockDataDir } from '../platform/instance-lock.ts'
import { adminCommand } from './admin.ts'
import { runCommand } from './run-command.ts'
import { testIo } from './testing/test-io.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-admin-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function admin(args: string[], password?: string) {
  const io = testIo({ env: { DATA_DIR: folder }, readPassword: async () => password })
  const code = await runCommand({ admin: () => adminCommand }, ['admin', ...args], io, 'admin')
  return { code, out: io.out(), err: io.err() }
}

/** What the database answers to the first column of `sql`. */
function ask(sql: string): unknown[] {
  const { sqlite } = openDb(join(folder, 'svc.db'), 0)
  const rows = sqlite.query<Record<string, unknown>, []>(sql).all()
  sqlite.close()
  return rows.flatMap((row) => Object.values(row))
}

test('create says when it made a new data directory', async () => {
  const first = await admin(['create', 'ann@example.com'], 'correct horse battery')
  expect(first.err).toBe(`ann@example.com is an administrator now, in the new data directory ${folder}\n`)
  const second = await admin(['create', 'bob@example.com'], 'correct horse battery')
  expect(second.err).toBe('bob@example.com is an administrator now\n')
})

test('while an older server runs, a newer command leaves the database as that server knows it', async () => {
  const older = new Database(join(folder, 'svc.db'))
  migrate(older, 0, migrations.slice(0, -1))
  older.close()
  const running = lockDataDir(folder)
  const refused = await admin(['create', 'ann@example.com'], 'correct horse battery')
  expect(refused.code).toBe(1)
  expect(refused.err).toContain(`an older svc serves ${folder}`)
  expect(readdirSync(folder).filter((name) => name.includes('before'))).toEqual([])
  running?.release()
  expect((await admin(['create', 'ann@example.com'], 'correct horse battery')).code).toBe(0)
})

describe('reset-mfa', () => {
  beforeEach(async () => {
    await admin(['create', 'ann@example.com'], 'correct horse battery')
    const { sqlite } = openDb(join(folder, 'svc.db'), 0)
    sqlite.run(`UPDATE users SET totp_secret = 'sealed', totp_last_step = 7`)
    sqlite.run(`INSERT INTO recovery_codes SELECT id, 'hash' FROM users`)
    sqlite.run(
      `INSERT INTO sessions (id, user_id, ip, user_agent, created_at, last_seen_at)
       SELECT 's', id, '', '', 0, 0 FROM users`,
    )
    sqlite.close()
  })

  test('turns the second step off with its recovery codes, ends the sessions, and is on record', async () => {
    const [hash] = ask('SELECT password_hash FROM users')
    const { code, out, err } = await admin(['reset-mfa', 'Ann@Example.com'])
    expect({ code, out, err }).toEqual({
      code: 0,
      out: '',
      err: 'Ann@Example.com signs in with the password alone now\n',
    })
    expect(ask('SELECT totp_secret, password_hash FROM users')).toEqual([null, hash])
    expect(ask('SELECT count(*) FROM recovery_codes')).toEqual([0])
    expect(ask('SELECT count(*) FROM sessions')).toEqual([0])
    expect(ask(`SELECT actor_kind FROM audit_log WHERE action = 'user.mfa-off'`)).toEqual(['operator'])
  })

  const refused: [name: string, args: string[], code: number, says: string][] = [
    ['an unknown email', ['reset-mfa', 'bob@example.com'], 1, 'no account for bob@example.com'],
    ['no email', ['reset-mfa'], 2, 'usage: svc admin'],
    ['something else', ['reset-all', 'ann@example.com'], 2, 'usage: svc admin'],
    ['a word of JavaScript', ['toString', 'ann@example.com'], 2, 'usage: svc admin'],
  ]

  test.each(refused)('refuses %s', async (_name, args, code, says) => {
    const output = await admin(args)
    expect(output.code).toBe(code)
    expect(output.err).toContain(says)
    expect(ask('SELECT totp_secret FROM users')).toEqual(['sealed'])
  })

  test('says so where there is no second step', async () => {
    await admin(['reset-mfa', 'ann@example.com'])
    const again = await admin(['reset-mfa', 'ann@example.com'])
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('has no second step')])
  })
})

test('suspend and unsuspend say what they did, once, and are on record', async () => {
  for (const email of ['ann@example.com', 'bea@example.com'])
    await admin(['create', email], 'correct horse battery')
  const run = async (verb: string) => {
    const { code, err } = await admin([verb, 'Bea@Example.com'])
    return [code, err.includes('bea@example.com') || err.includes('Bea@Example.com')]
  }
  expect(await run('suspend')).toEqual([0, true])
  expect(ask('SELECT email FROM users WHERE suspended_at IS NOT NULL')).toEqual(['bea@example.com'])
  expect(await run('suspend')).toEqual([1, true])
  const last = await admin(['suspend', 'ann@example.com'])
  expect([last.code, last.err]).toEqual([
    1,
    expect.stringContaining('The last administrator cannot be suspended'),
  ])
  expect(await run('unsuspend')).toEqual([0, true])
  expect(await run('unsuspend')).toEqual([1, true])
  expect(
    ask(`SELECT actor_kind || ' ' || action FROM audit_log WHERE action LIKE 'user.%suspend' ORDER BY at`),
  ).toEqual(['operator user.suspend', 'operator user.unsuspend'])
  const unknown = await admin(['suspend', 'bob@example.com'])
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('no account for bob@example.com')])
})

test('reset-mfa makes no database', async () => {
  const { code, err } = await admin(['reset-mfa', 'ann@example.com'])
  expect([code, err]).toEqual([1, expect.stringContaining('there is no svc.db')])
})

test('create on what can be no data directory names it: exit code 78', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const { code, err } = await admin(['create', 'ann@example.com', '--data-dir', file], 'hunter2-or-more')
  expect([code, err]).toEqual([
    78,
    expect.stringMatching(/^svc admin: DATA_DIR is ".*file", but must be a folder.*\n$/),
  ])
})
