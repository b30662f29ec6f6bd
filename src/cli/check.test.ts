import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDb } from '../db/open.ts'
import { emptyRecord } from '../modules/certificates/host-record.ts'
import { CertificateStore } from '../modules/certificates/store.ts'
import { newKey } from '../platform/acme/keys.ts'
import { randomBytes } from '../platform/random.ts'
import { createSecretBox } from '../platform/secret-box.ts'
import { readSecretKeys } from '../platform/secret-keys.ts'
import { certificateRecord } from '../testing/certificate-record.ts'
import { checkCommand } from './check.ts'
import { runCommand } from './run-command.ts'
import { storeSealedValues } from './testing/sealed-values.ts'
import { testIo } from './testing/test-io.ts'

let folder: string
const at = (...names: string[]) => join(folder, ...names)
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-check-'))
  openDb(at('svc.db'), 0).sqlite.close()
  writeFileSync(at('reserve'), randomBytes(4096))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function check() {
  const io = testIo({ env: { DATA_DIR: folder } })
  const code = await runCommand({ check: () => checkCommand }, ['check'], io, 'check')
  return { code, out: io.out(), err: io.err() }
}

test('stored secrets that the key opens are well, those of a lost key are each named', async () => {
  storeSealedValues(folder)
  expect(await check()).toEqual({ code: 0, out: 'all is well\n', err: '' })
  rmSync(at('secret.key'))
  expect(await check()).toEqual({
    code: 1,
    out: [
      'the second step of a@example.com',
      'the secret KEY of acme/docs',
      'a header value of the rule r (/a)',
      'a header value of the change e',
      'the address, the secret or a header value of the webhook h (chat)',
      'the text of a mail that waits (invitation)',
    ]
      .map((what) => `secret_unreadable: ${what} cannot be opened with the current secret key\n`)
      .join(''),
    err: `svc check: 6 problems found in ${folder}; if its server is given SECRET_KEY, this command needs it too\n`,
  })
  // Another key beside the database would be taken for the right one, and come into backups.
  expect(existsSync(at('secret.key'))).toBe(false)
})

describe('certs/', () => {
  const store = () => new CertificateStore(folder, createSecretBox(readSecretKeys(at('secret.key'))))
  const named = async () => {
    const { code, out, err } = await check()
    const names = [...out.matchAll(/^certificate_unreadable: certs\/(\S+): \S/gm)].map(([, name]) => name)
    return { code, names, err }
  }
  const saveAccount = () =>
    store().saveAccount({ directory: 'https://ca.test/', key: newKey(), url: 'https://ca.test/1' })

  test('with certificates, accounts and what others put there is well', async () => {
    await store().saveHost(certificateRecord('a.example'))
    await store().saveHost(emptyRecord('waiting.example'))
    await saveAccount()
    writeFileSync(at('certs', 'my own.pem'), 'x')
    expect(await check()).toEqual({ code: 0, out: 'all is well\n', err: '' })
  })

  test('each file that cannot be used is named, with what becomes of it', async () => {
    await store().saveHost(certificateRecord('a.example'))
    await saveAccount()
    await store().saveHost(certificateRecord('other.example', newKey()))
    writeFileSync(at('certs', 'host-cut.example.json'), '{"host":')
    symlinkSync(at('nowhere'), at('certs', 'gone.pem'))
    const broken = ['gone.pem', 'host-cut.example.json', 'host-other.example.json']
    const found = await named()
    expect(found).toEqual({ code: 1, names: broken, err: expect.stringContaining('asks for anew') })

    rmSync(at('secret.key'))
    const account = expect.stringMatching(/^account-\w+\.json$/)
    expect((await named()).names).toEqual([account, 'gone.pem', 'host-a.example.json', ...broken.slice(1)])
  })
})

test.each<[what: string, lose: () => void]>([
  ['is empty', () => truncateSync(at('svc.db'), 0)],
  [
    'is gone but for its log',
    () => {
      writeFileSync(at('svc.db-wal'), 'rows that nothing can read any more')
      truncateSync(at('svc.db'), 0)
    },
  ],
  [
    'was begun anew',
    () => {
      rmSync(at('svc.db'))
      new Database(at('svc.db'), { create: true }).run('PRAGMA user_version = 1')
    },
  ],
])('a database that %s, beside contents, is damage, and the contents stay', async (_, lose) => {
  mkdirSync(at('blobs', 'packs'), { recursive: true })
  writeFileSync(at('blobs', 'packs', 'a.pack'), 'content')
  lose()
  const { code, out } = await check()
  expect({ code, out }).toEqual({
    code: 1,
    out: expect.stringMatching(
      /^database_damaged: .*svc\.db is missing or empty, but .*blobs holds contents/,
    ),
  })
  expect(existsSync(at('blobs', 'packs', 'a.pack'))).toBe(true)
})

test('a database of a newer version is not called damaged', async () => {
  const sqlite = new Database(at('svc.db'))
  sqlite.run("INSERT INTO schema_migrations VALUES ('9999_later', 0)")
  sqlite.close()
  expect(await check()).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(/^svc check: the database was written by a newer svc .*\n$/),
  })
})

test.each([
  ['svc.db', 'database_damaged: '],
  ['secret.key', 'secret_key_damaged: '],
])('%s that is none begins a line with "%s"', async (name, start) => {
  for (const left of ['-wal', '-shm']) rmSync(at(`${name}${left}`), { force: true })
  writeFileSync(at(name), 'nothing of the kind\n'.repeat(100))
  const { code, out } = await check()
  expect([code, out.slice(0, start.length)]).toEqual([1, start])
})
