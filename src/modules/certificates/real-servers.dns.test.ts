import { afterEach, beforeEach, expect, test } from 'bun:test'
import { Resolver } from 'node:dns/promises'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RealServers } from '../../testing/real-dns.ts'
import { makeDataDir, type ServerProcess, startServer } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'

/** contract 19.5 on a real authority (Pebble) and real name servers (BIND, pebble-challtestsrv). */

const SECRET = Buffer.from('a key that BIND and the server share').toString('base64')
const WRONG = Buffer.from('another key').toString('base64')

let servers: RealServers
let data: ReturnType<typeof makeDataDir>
let server: ServerProcess | undefined

beforeEach(() => {
  servers = new RealServers()
  data = makeDataDir()
})
afterEach(async () => {
  server?.signal('SIGKILL')
  await server?.exited
  server = undefined
  await servers.stop()
  data.remove()
})

async function start(env: Record<string, string>): Promise<ServerProcess> {
  const common = { TLS: 'auto', LOG_FORMAT: 'json', LOG_LEVEL: 'debug', ACME_DNS_TIMEOUT_SECONDS: '20' }
  server = await startServer(data.path, { ...common, ...env })
  return server
}

const updates = (port: number, zone: string, more: Record<string, string> = {}) => ({
  ACME_DNS: 'rfc2136',
  ACME_DNS_SERVER: `127.0.0.1:${port}`,
  ACME_DNS_ZONE: zone,
  ACME_DNS_TSIG_NAME: 'svc-key',
  ACME_DNS_TSIG_SECRET: SECRET,
  ACME_DNS_RESOLVERS: `127.0.0.1:${port}`,
  ...more,
})

const says = (running: ServerProcess, what: string) =>
  until(what, () => running.output().includes(what), 60_000)

/** The statuses of hosts over TLS that is verified against the authority. */
function secured({ url }: ServerProcess, ca: string, hosts: readonly string[]): Promise<number[]> {
  const of = (host: string) => ({ headers: { host }, tls: { ca, serverName: host } })
  return Promise.all(hosts.map(async (host) => (await fetch(`${url}/api/health`, of(host))).status))
}

async function textsAt(port: number, name: string): Promise<string[]> {
  const resolver = new Resolver()
  resolver.setServers([`127.0.0.1:${port}`])
  return (await resolver.resolveTxt(name).catch(() => [])).flat()
}

test.each(['hmac-sha256', 'hmac-sha384', 'hmac-sha512'])(
  'BIND takes updates signed with %s, and Pebble issues one certificate for all hosts',
  async (algorithm) => {
    const port = await servers.named({ 'sites.test': '' }, { algorithm, secret: SECRET })
    const { env, root } = await servers.pebble(port)
    const more = { BASE_DOMAIN: 'sites.test', ACME_DNS_TSIG_ALGORITHM: algorithm }
    const running = await start({ ...env, ...updates(port, 'sites.test', more) })
    await says(running, 'certificate issued')
    const hosts = ['sites.test', 'admin.sites.test', 'a--private.sites.test']
    expect(await secured(running, await root(), hosts)).toEqual([expect.any(Number), 200, expect.any(Number)])
    await until('the removal', async () => (await textsAt(port, '_acme-challenge.sites.test')).length === 0)
    expect(running.output()).not.toContain(SECRET)
  },
)

test('a CNAME leads into another zone, which BIND updates', async () => {
  const zones = { 'sites.test': '_acme-challenge CNAME svc.proofs.test.', 'proofs.test': '' }
  const port = await servers.named(zones, { algorithm: 'hmac-sha256', secret: SECRET })
  const { env, root } = await servers.pebble(port)
  const running = await start({ ...env, ...updates(port, 'proofs.test', { BASE_DOMAIN: 'sites.test' }) })
  await says(running, 'certificate issued')
  expect(await secured(running, await root(), ['admin.sites.test'])).toEqual([200])
})

test.each([
  ['another key', { ACME_DNS_TSIG_SECRET: WRONG }, 'NOTAUTH (BADSIG)'],
  ['a key that BIND does not know', { ACME_DNS_TSIG_NAME: 'who' }, 'NOTAUTH (BADKEY)'],
  ['another zone', { ACME_DNS_ZONE: 'elsewhere.test' }, 'NOTAUTH'],
])('%s is named by the code of BIND', async (_what, more, code) => {
  const port = await servers.named({ 'sites.test': '' }, { algorithm: 'hmac-sha256', secret: SECRET })
  const { env } = await servers.pebble(port)
  const running = await start({ ...env, ...updates(port, 'sites.test', more), BASE_DOMAIN: 'sites.test' })
  await says(running, 'no certificate')
  expect(running.output()).toContain(`The name server 127.0.0.1 refused the update: ${code}`)
  for (const secret of [SECRET, WRONG]) expect(running.output()).not.toContain(secret)
})

/** As lego's, at the name server of Pebble's tests. Its `clear-txt` takes all values of a name. */
function program(manage: string): { path: string; calls: () => string } {
  const [path, calls] = ['program', 'calls'].map((name) => join(servers.folder, name)) as [string, string]
  const post = (what: string, body: string) => `curl -sf -d "${body}" ${manage}/${what} >/dev/null`
  const lines = [
    '#!/bin/sh',
    `echo "$@" >> ${calls}`,
    `[ "$1" = cleanup ] && { ${post('clear-txt', '{\\"host\\":\\"$2\\"}')}; exit; }`,
    post('set-txt', '{\\"host\\":\\"$2\\",\\"value\\":\\"$3\\"}'),
  ]
  writeFileSync(path, `${lines.join('\n')}\n`)
  chmodSync(path, 0o755)
  return { path, calls: () => readFileSync(calls, 'utf8') }
}

test('a program sets the values at the end of a CNAME; an external account is used', async () => {
  const { port, manage } = await servers.challengeServer()
  const cname = { host: '_acme-challenge.sites.test.', target: 'svc.proofs.test.' }
  await fetch(`${manage}/set-cname`, { method: 'POST', body: JSON.stringify(cname) })
  const hmacKey = Buffer.alloc(32, 7).toString('base64url')
  const { env, root } = await servers.pebble(port, {
    externalAccountBindingRequired: true,
    externalAccountMACKeys: { 'kid-1': hmacKey },
  })
  const { path, calls } = program(manage)
  const running = await start({
    ...env,
    ...{ ACME_DNS: 'exec', ACME_DNS_EXEC: path, ACME_DNS_RESOLVERS: `127.0.0.1:${port}` },
    ...{ BASE_DOMAIN: 'sites.test', ACME_EAB_KID: 'kid-1', ACME_EAB_HMAC_KEY: hmacKey },
  })
  await says(running, 'certificate issued')
  expect(await secured(running, await root(), ['admin.sites.test'])).toEqual([200])
  expect(calls().match(/^present svc\.proofs\.test\. /gm)).toHaveLength(2)
  expect(calls().match(/^cleanup svc\.proofs\.test\. /gm)).toHaveLength(2)
  expect(running.output()).not.toContain(hmacKey)
})
