import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS } from '../../domain/durations.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { acmeAuthorityOfProcesses } from '../../testing/acme-authority.ts'
import { type DnsServer, startDnsServer } from '../../testing/dns-server.ts'
import { makeDataDir, type ServerProcess, startServer } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'

const HOST = 'admin.sites.test'

const authority = acmeAuthorityOfProcesses()
const { ca, env } = authority
const data = makeDataDir()
let server: ServerProcess
/** The authority wants each certificate renewed at once, which it says when there is load. */
const underLoad = Promise.withResolvers<void>()
ca.renewals.isOffered = true
ca.renewals.until = underLoad.promise
ca.renewals.window = { start: isoTime(Date.now() - 2 * DAY_MS), end: isoTime(Date.now() - DAY_MS) }

let dns: DnsServer
beforeAll(async () => {
  dns = await startDnsServer()
})
afterAll(async () => {
  dns.stop()
  await authority.stop()
  data.remove()
})

/** The status of the health check over verified TLS; undefined while there is no listener. */
const secured = async (): Promise<number | undefined> => {
  const options = { headers: { host: HOST }, tls: { ca: ca.pem, serverName: HOST } }
  const answer = await fetch(`${server.url}/api/health`, options).catch(() => undefined)
  await answer?.body?.cancel()
  return answer?.status
}

const untilSecured = () => until('an answer over TLS', async () => (await secured()) === 200)

test('the program gets its certificate, and serves nothing over TLS before that', async () => {
  server = await startServer(data.path, env)
  expect(await secured()).toBeUndefined()
  const early = await fetch(server.plainUrl, { headers: { host: HOST } })
  expect(early.status).toBe(503)
  authority.asks(server)
  await untilSecured()
  expect(ca.ordered).toEqual([HOST])
  const other = await fetch(`${server.plainUrl}/.well-known/acme-challenge/x`, {
    headers: { host: HOST },
    redirect: 'manual',
  })
  expect(other.status).toBe(308)
})

/** Clients that ask all the time, half of them on kept connections. */
function load() {
  const lost: unknown[] = []
  let answered = 0
  let isOver = false
  const client = async (more: Record<string, string>) => {
    while (!isOver) {
      const options = { headers: { host: HOST, ...more }, tls: { ca: ca.pem, serverName: HOST } }
      const outcome = await fetch(`${server.url}/api/health`, options)
        .then(async (answer) => ((await answer.json()) as { status: string }).status)
        .catch((error) => error)
      if (outcome === 'ok') answered += 1
      else lost.push(outcome)
    }
  }
  const clients = [{}, {}, { connection: 'close' }, { connection: 'close' }].map(client)
  return {
    async hundredMore() {
      const before = answered
      await until('a hundred answers', () => answered > before + 100)
    },
    /** What had no answer. */
    async end() {
      isOver = true
      await Promise.all(clients)
      return lost
    },
  }
}

test('a renewal under load, by an authority that refuses nonces and takes its time, loses no request', async () => {
  const clients = load()
  await clients.hundredMore()
  expect(server.output()).not.toContain('certificate renewed')
  Object.assign(ca.faults, { badNonces: 3, processing: 2 })
  underLoad.resolve()
  await until('the renewal', () => server.output().includes('certificate renewed'))
  await clients.hundredMore()
  expect(await clients.end()).toEqual([])
  expect(ca.ordered).toEqual([HOST, HOST])
})

test('a DNS provider that fails under load loses no request', async () => {
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
  ca.faults.challengeType = 'dns-01'
  const failing = { ACME_DNS: 'exec', ACME_DNS_EXEC: '/bin/false', ACME_DNS_RESOLVERS: dns.address }
  server = await startServer(data.path, { ...env, ...failing })
  await untilSecured()
  const clients = load()
  await until('the failure', () => server.output().includes('ACME_DNS_EXEC ended with 1'))
  await clients.hundredMore()
  expect(await clients.end()).toEqual([])
})

test('after a kill and restart without the authority, it serves the stored certificate at once', async () => {
  server.signal('SIGKILL')
  await server.exited
  await ca.stop()
  server = await startServer(data.path, env)
  await untilSecured()
  expect(server.output()).not.toContain('certificate issued')
  server.signal('SIGTERM')
  expect(await server.exited).toBe(0)
  expect(readdirSync(join(data.path, 'certs')).filter((name) => name.startsWith('host-'))).toEqual([
    `host-${HOST}.json`,
  ])
})
