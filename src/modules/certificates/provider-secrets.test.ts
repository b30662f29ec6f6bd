import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AcmeApp, acmeApp } from '../../testing/acme-app.ts'
import { ask } from '../../testing/ask.ts'
import { type DnsServer, startDnsServer } from '../../testing/dns-server.ts'
import { freePort } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'

/** Abuse: whatever a provider answers, and whoever reads, no secret of it is shown or kept. */

const ADMIN = 'root@example.com'
const KEY = Buffer.alloc(32, 7).toString('base64')
const SECRET = 'c2VjcmV0IHRoYXQgbm9ib2R5IHNlZXMgZXZlci4u'

let dns: DnsServer
let folder: string
let world: AcmeApp
const apiPort = freePort()
let api: Bun.Server<unknown> | undefined
/** An API that repeats what it is asked with. */
function startApi(): void {
  api = Bun.serve({
    hostname: '127.0.0.1',
    port: apiPort,
    tls: world.ca.tlsFor('127.0.0.1'),
    fetch: ({ headers }) =>
      Response.json({ errors: [{ message: `bad token: ${headers.get('authorization')}` }] }, { status: 403 }),
  })
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-secrets-'))
  dns = await startDnsServer()
})
afterEach(async () => {
  await world.stop()
  await api?.stop(true)
  dns.stop()
  rmSync(folder, { recursive: true })
})

/** A program that ends with all that it was given. */
function program(): string {
  const path = join(folder, 'program')
  writeFileSync(path, '#!/bin/sh\nenv | tr "\\n" " " >&2\nexit 1\n')
  chmodSync(path, 0o755)
  return path
}

/** All that is kept or shown: the log, the audit log, `certs/` and the answer of the API. */
async function shown(): Promise<string> {
  const { config, db } = world.app.ctx
  const certs = join(config.dataDir, 'certs')
  const files = readdirSync(certs).map((name) => readFileSync(join(certs, name), 'utf8'))
  const { body } = await ask(world.app, 'GET', '/api/certificates', { as: ADMIN })
  return JSON.stringify([world.app.lines, db.sqlite.query('SELECT * FROM audit_log').all(), files, body])
}

const API = { ACME_DNS_API: `https://127.0.0.1:${apiPort}`, ACME_DNS_TOKEN: SECRET }
const TSIG = {
  ACME_DNS_SERVER: '127.0.0.1:9',
  ACME_DNS_ZONE: 'sites.test',
  ACME_DNS_TSIG_NAME: 'svc-key',
  ACME_DNS_TSIG_SECRET: SECRET,
}
const providers: [name: string, settings: () => Record<string, string>, says: string][] = [
  ['cloudflare', () => API, '403'],
  ['hetzner', () => API, '403'],
  ['rfc2136', () => TSIG, '127.0.0.1'],
  ['exec', () => ({ ACME_DNS_EXEC: program(), SECRET_KEY: KEY }), 'ended with 1'],
]
test.each(providers)('%s', async (name, settings, says) => {
  const common = {
    ACME_DNS_RESOLVERS: dns.address,
    ACME_DNS_TIMEOUT_SECONDS: '1',
    ACME_EAB_KID: 'kid-7',
    ACME_EAB_HMAC_KEY: SECRET,
    LOG_LEVEL: 'debug',
  }
  world = await acmeApp({ ...common, ACME_DNS: name, ...settings() }, (at) => dns.textsAt(at))
  startApi()
  world.ca.faults.challengeType = 'dns-01'
  world.ca.faults.externalAccounts.set('kid-7', SECRET)
  await world.app.addUser(ADMIN, 'admin')
  await until('the failure', () => world.certificates().wildcard()?.status === 'failed')
  expect(world.certificates().wildcard()?.error).toContain(says)
  const text = await shown()
  expect(text).toContain('no certificate')
  for (const secret of [KEY, SECRET, String(Buffer.from(SECRET, 'base64'))])
    expect(text).not.toContain(secret)
})
