import { afterEach, beforeEach, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../config/config.ts'
import { emptyRecord } from '../../modules/certificates/host-record.ts'
import { CertificateStore } from '../../modules/certificates/store.ts'
import { keyToPem, newKey } from '../../platform/acme/keys.ts'
import { createLog } from '../../platform/log.ts'
import { CertObjects } from '../../platform/object-store/cert-objects.ts'
import { createSecretBox } from '../../platform/secret-box.ts'
import { openStore } from '../../server/store/open-store.ts'
import { type StoreProcess, storeProcess } from '../../testing/store-process.ts'
import { createTestCa } from '../../testing/test-ca.ts'

/** contract 18 §1: `svc key rotate-secret` with no primary alive. */

const LOG = createLog({ level: 'silent', format: 'json', now: Date.now, write() {} })

let at: StoreProcess
beforeEach(async () => {
  at = await storeProcess({ ROLE: 'auto', SECRET_KEY: '', TAKEOVER_SECONDS: '3' })
})
afterEach(() => at.remove())

const keyIn = (dataDir: string): string => readFileSync(join(dataDir, 'secret.key'), 'utf8')
const rotate = (dataDir: string, env: Record<string, string> = {}) =>
  at.svc(['key', 'rotate-secret'], { DATA_DIR: dataDir, ...env })

test('a living primary is named, and nothing is changed', async () => {
  const server = await at.start()
  const other = `${at.dataDir}-two`
  const key = keyIn(at.dataDir)
  expect(await rotate(at.dataDir)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('a server runs'),
  })
  const refused = await rotateOn(other, key)
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('the primary one is alive') })
  expect([keyIn(at.dataDir), keyIn(other)]).toEqual([key, key])
  server.signal('SIGKILL')
  await server.exited
}, 60_000)

test('it takes over, seals everything anew, ships, and steps down; the old key is refused afterwards', async () => {
  const server = await at.start()
  const before = keyIn(at.dataDir)
  const { cert: certPem, key: keyPem } = createTestCa().issue({ names: ['a.test'] })
  const certificate = { certPem, keyPem, notBefore: 0, expiresAt: 1, directory: 'https://ca.test' }
  // Another machine ordered it: it is not in this directory.
  const ordered = certificatesIn(`${at.dataDir}-orders`, before)
  await ordered.saveHost({ ...emptyRecord('a.test'), certificate })
  const account = newKey()
  await ordered.saveAccount({ directory: 'https://ca.test', key: account, url: null })
  server.signal('SIGKILL')
  await server.exited
  const { code, stderr } = await rotate(at.dataDir)
  expect([code, stderr]).toEqual([0, expect.stringContaining('3 stored secrets moved to it')])
  const own = [] as [string | undefined, string | undefined][]
  for (const key of [keyIn(at.dataDir), before]) {
    const found = certificatesIn(`${at.dataDir}-reads-${own.length}`, key)
    await found.pull({ isPrimary: false })
    const kept = found.readAccount('https://ca.test', LOG)
    own.push([found.readHosts(LOG)[0]?.certificate?.keyPem, kept && keyToPem(kept.key)])
  }
  expect(own).toEqual([
    [keyPem, keyToPem(account)],
    [undefined, undefined],
  ])
  expect(keyIn(at.dataDir)).not.toBe(before)
  expect(keyIn(at.dataDir).trim().split('\n')).toHaveLength(1)
  const status = JSON.parse((await at.svc(['store', 'status', '--json'])).stdout)
  expect(status).toMatchObject({ primary: { name: 'one', epoch: 2, isAlive: false } })

  const other = `${at.dataDir}-two`
  expect(await at.svc(['serve'], { DATA_DIR: other, SECRET_KEY: before.trim() })).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('SECRET_KEY'),
  })
  const again = await at.start({ MACHINE_NAME: 'two', SECRET_KEY: keyIn(at.dataDir).trim() }, other)
  const primary = await fetch(`${again.url}/api/health/primary`)
  expect(await primary.json()).toEqual({ role: 'primary', epoch: 3 })
  again.signal('SIGKILL')
  await again.exited
}, 60_000)

/** What the store has of them, as who has these keys can read it. */
function certificatesIn(dataDir: string, key: string): CertificateStore {
  const { store } = openStore(loadConfig({ env: { ...at.env, DATA_DIR: dataDir } }), Date.now, dataDir)
  const objects = new CertObjects({ store, epoch: () => 1 })
  return new CertificateStore(dataDir, createSecretBox([key.trim()]), objects)
}

/** On a machine that has a copy of the key, and no server. */
async function rotateOn(dataDir: string, key: string) {
  mkdirSync(dataDir, { recursive: true })
  copyFileSync(join(at.dataDir, 'secret.key'), join(dataDir, 'secret.key'))
  expect(keyIn(dataDir)).toBe(key)
  // It ends at the first sign of life.
  return rotate(dataDir, { TAKEOVER_SECONDS: '30' })
}
