import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../config/config.ts'
import { openDb } from '../db/open.ts'
import { emptyRecord } from '../modules/certificates/host-record.ts'
import { CertificateStore } from '../modules/certificates/store.ts'
import { openMail } from '../modules/notices/sealed.ts'
import { openHeaderValues, parseStored } from '../modules/proxy-rules/header-values.ts'
import { openHeaders, openHookSecret, openUrl } from '../modules/webhooks/sealed.ts'
import { keyToPem, newKey } from '../platform/acme/keys.ts'
import { lockDataDir } from '../platform/instance-lock.ts'
import { createLog } from '../platform/log.ts'
import { createSecretBox } from '../platform/secret-box.ts'
import { readSecretKeys } from '../platform/secret-keys.ts'
import { createTestCa } from '../testing/test-ca.ts'
import { rotateSecret } from './rotate-secret.ts'
import { storeSealedValues } from './testing/sealed-values.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-rotate-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const keyFile = () => join(folder, 'secret.key')
const config = (env: Record<string, string> = {}) => loadConfig({ env: { DATA_DIR: folder, ...env } })
const boxNow = () => createSecretBox(readSecretKeys(keyFile()))

const OPENED = [
  'totp',
  'value',
  { 'x-key': 'header' },
  'https://chat.example/',
  'hook secret',
  [['X-Key', 'hook header']],
  { subject: 'Hello', text: 'a link' },
  { 'x-key': 'header' },
]

function opened(): unknown[] {
  const secrets = boxNow()
  const { sqlite } = openDb(join(folder, 'svc.db'), 0)
  const one = (query: string) => String(sqlite.query(query).values()[0]?.[0])
  const values = [
    secrets.open(one('SELECT totp_secret FROM users'), 'totp u'),
    secrets.open(one('SELECT sealed_value FROM project_secrets'), 'project:p:secret:KEY'),
    openHeaderValues(secrets, 'r', parseStored(one('SELECT header_config FROM proxy_rules'))),
    openUrl(secrets, { id: 'h', sealedUrl: one('SELECT sealed_url FROM webhooks') }),
    openHookSecret(secrets, { id: 'h', sealedSecret: one('SELECT sealed_secret FROM webhooks') }),
    openHeaders(secrets, { id: 'h', sealedHeaders: one('SELECT sealed_headers FROM webhooks') }),
    openMail(secrets, 'm', one('SELECT sealed FROM mails')),
    openHeaderValues(
      secrets,
      'r',
      parseStored(one("SELECT state ->> '$.rules[0].headerConfig' FROM undo_states")),
    ),
  ]
  sqlite.close()
  return values
}

test('every value can be read with the new key alone, and the file stays private', async () => {
  const [old] = readSecretKeys(keyFile())
  storeSealedValues(folder)
  expect(await rotateSecret(config(), 0)).toBe(8)
  const keys = readSecretKeys(keyFile())
  expect(keys).toHaveLength(1)
  expect(keys[0]).not.toBe(old)
  expect(statSync(keyFile()).mode & 0o777).toBe(0o600)
  expect(opened()).toEqual(OPENED)
})

test('stopped after the new key was written or after the values were sealed, it is run again', async () => {
  storeSealedValues(folder)
  const [old = ''] = readSecretKeys(keyFile())
  const fresh = Buffer.alloc(32, 9).toString('base64')
  writeFileSync(keyFile(), `${fresh}\n${old}\n`)
  expect(opened()).toEqual(OPENED)
  await rotateSecret(config(), 0)
  expect(readSecretKeys(keyFile())).toHaveLength(1)
  expect(opened()).toEqual(OPENED)
})

test('keys of certificates and accounts are sealed anew too; a file that was lost before stays', async () => {
  storeSealedValues(folder)
  const log = createLog({ level: 'silent', format: 'json', now: () => 0, write: () => {} })
  const { cert: certPem, key: keyPem } = createTestCa().issue({ names: ['a.example.com'] })
  const before = new CertificateStore(folder, boxNow())
  const certificate = { certPem, keyPem, notBefore: 0, expiresAt: 1, directory: 'https://ca.example' }
  await before.saveHost({ ...emptyRecord('a.example.com'), certificate })
  await before.saveHost(emptyRecord('b.example.com'))
  const key = newKey()
  await before.saveAccount({ directory: 'https://ca.example', key, url: null })
  writeFileSync(join(folder, 'certs', 'host-lost.example.com.json'), '{"host":')
  expect(await rotateSecret(config(), 0)).toBe(10)
  const after = new CertificateStore(folder, boxNow())
  expect(after.readHosts(log).map((record) => record.certificate?.keyPem)).toEqual([keyPem, undefined])
  const account = after.readAccount('https://ca.example', log)
  expect(account && keyToPem(account.key)).toBe(keyToPem(key))
})

test('a sealed value in a place that is not known stops it, and the old key stays', async () => {
  storeSealedValues(folder)
  const { sqlite } = openDb(join(folder, 'svc.db'), 0)
  sqlite.run("INSERT INTO settings VALUES ('new', ?, 0)", [boxNow().seal('forgotten', 'x')])
  sqlite.close()
  await expect(rotateSecret(config(), 0)).rejects.toThrow('settings.value')
  expect(readSecretKeys(keyFile())).toHaveLength(2)
  expect(opened()).toEqual(OPENED)
})

test('a running server and a key from the environment stop it', async () => {
  storeSealedValues(folder)
  const before = readFileSync(keyFile(), 'utf8')
  const lock = lockDataDir(folder)
  await expect(rotateSecret(config(), 0)).rejects.toThrow('stop it first')
  lock?.release()
  const key = Buffer.alloc(32, 1).toString('base64')
  await expect(rotateSecret(config({ SECRET_KEY: key }), 0)).rejects.toThrow('SECRET_KEY')
  expect(readFileSync(keyFile(), 'utf8')).toBe(before)
})
