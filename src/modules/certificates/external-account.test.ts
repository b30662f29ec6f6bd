import { afterEach, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AcmeApp, acmeApp } from '../../testing/acme-app.ts'
import { until } from '../../testing/until.ts'

/** External account binding, RFC 8555 §7.3.4. */

const HOST = 'admin.sites.test'
const KID = 'kid-7'
const KEY = Buffer.from('a key that the authority showed once').toString('base64url')
const SETTINGS = { ACME_EAB_KID: KID, ACME_EAB_HMAC_KEY: KEY, LOG_LEVEL: 'debug' }

let world: AcmeApp
afterEach(() => world.stop())

const state = () => world.certificates().stateOf(HOST)
const untilFailed = () => until('the failure', () => state().status === 'failed')
const untilDone = () => until('the certificate', () => state().status === 'active')

async function start(env: Record<string, string>, keys: [kid: string, key: string][]): Promise<void> {
  world = await acmeApp(env)
  world.ca.faults.needsExternalAccount = true
  for (const [kid, key] of keys) world.ca.faults.externalAccounts.set(kid, key)
}

/** All that is kept or shown: the log, the audit log, `certs/` and the state of the host. */
function shown(): string {
  const { config, db } = world.app.ctx
  const folder = join(config.dataDir, 'certs')
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  const audited = db.sqlite.query('SELECT * FROM audit_log').all()
  return JSON.stringify([world.app.lines, audited, files, state(), world.certificates().list()])
}

test('an account is tied to the one that was made at the authority', async () => {
  await start(SETTINGS, [[KID, KEY]])
  await untilDone()
  expect(world.ca.accounts).toBe(1)
  expect(shown()).not.toContain(KEY)
  expect(shown()).not.toContain('a key that the authority showed once')
})

test('padding, as some authorities show it, is no part of the key', async () => {
  const padded = Buffer.from('0123456789').toString('base64url')
  await start({ ...SETTINGS, ACME_EAB_HMAC_KEY: `${padded}==` }, [[KID, padded]])
  await untilDone()
})

test('without the settings the error names both', async () => {
  await start({}, [[KID, KEY]])
  await untilFailed()
  expect(state().error).toContain('ACME_EAB_KID and ACME_EAB_HMAC_KEY')
})

test.each([
  ['another key', [KID, 'YW5vdGhlcg'], 'Its signature is wrong'],
  ['an unknown identifier', ['kid-8', KEY], 'There is no such external account'],
] as const)(
  '%s is refused in the words of the authority, and the key is shown nowhere',
  async (_what, known, says) => {
    await start(SETTINGS, [[...known]])
    await untilFailed()
    expect(state().error).toContain(says)
    expect(shown()).not.toContain(KEY)
  },
)
