import { afterAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { acmeAuthorityOfProcesses } from '../../testing/acme-authority.ts'
import { makeDataDir, type ServerProcess, startServer } from '../../testing/server-process.ts'
import { until } from '../../testing/until.ts'

const HOST = 'admin.sites.test'

const authority = acmeAuthorityOfProcesses()
const { ca, env } = authority
const data = makeDataDir()
let server: ServerProcess

afterAll(async () => {
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

test('after a kill and restart without the authority, it serves the stored certificate at once', async () => {
  await until('the certificate', () => server.output().includes('certificate issued'))
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
