import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'
import { connect } from 'node:tls'
import { acmeAuthorityOfProcesses } from '../../testing/acme-authority.ts'
import type { ServerProcess } from '../../testing/server-process.ts'
import { type StoreProcess, storeProcess } from '../../testing/store-process.ts'
import { until } from '../../testing/until.ts'

/** contract 18 §6: certificates come from the store, only the primary orders any, and any machine is asked by the authority. */

const HOST = 'admin.sites.test'

const authority = acmeAuthorityOfProcesses()
const { ca } = authority
let at: StoreProcess
const running: ServerProcess[] = []

beforeEach(async () => {
  at = await storeProcess({ ...authority.env, TAKEOVER_SECONDS: '3' })
})
afterEach(async () => {
  for (const server of running.splice(0)) {
    server.signal('SIGKILL')
    await server.exited
  }
  await at.remove()
})
afterAll(() => authority.stop())

async function start(name: string, more: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await at.start({ MACHINE_NAME: name, ...more }, `${at.dataDir}-${name}`)
  running.push(server)
  return server
}

/** The serial number of the certificate for the admin host; undefined while there is no listener, or another name. */
function serialOf({ url }: ServerProcess): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const options = { host: '127.0.0.1', port: Number(new URL(url).port), servername: HOST, ca: ca.pem }
  const socket = connect(options, () => {
    resolve(socket.getPeerCertificate().serialNumber)
    socket.destroy()
  })
  socket.on('error', () => resolve(undefined))
  return promise
}
/** Sooner than it is looked without word from the log. */
const untilSecured = (server: ServerProcess) => until('a certificate', () => serialOf(server), 30_000)
const isPrimary = ({ output }: ServerProcess) => output().includes('this machine is the primary')

test('the authority asks a stand-by, all machines serve the certificate, and nobody orders a second one', async () => {
  const first = await start('first')
  const second = await start('second', { ROLE: 'standby' })
  authority.asks(second)
  const serial = await untilSecured(first)
  expect(await untilSecured(second)).toBe(serial)

  await at.lose(first)
  await ca.stop()
  await until('the take-over', () => isPrimary(second))
  const third = await start('third', { ROLE: 'standby' })
  expect(await untilSecured(third)).toBe(serial)
  expect([await serialOf(second), ca.ordered]).toEqual([serial, [HOST]])
}, 60_000)
