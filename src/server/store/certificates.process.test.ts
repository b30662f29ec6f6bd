import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { type AcmeCa, startAcmeCa } from '../../testing/acme-ca.ts'
import type { ServerProcess } from '../../testing/server-process.ts'
import { type StoreProcess, storeProcess } from '../../testing/store-process.ts'
import { until } from '../../testing/until.ts'

/** contract 18 §6: certificates come from the store, only the primary orders any, and any machine is asked by the authority. */

const HOST = 'admin.sites.test'

const folder = mkdtempSync(join(tmpdir(), 'svc-machines-'))
const challengePort = Promise.withResolvers<number>()
let at: StoreProcess
let ca: AcmeCa
let env: Record<string, string>
const running: ServerProcess[] = []

beforeEach(async () => {
  ca = startAcmeCa({
    challengePort: challengePort.promise,
    now: Date.now,
    lifetimeMs: 86_400_000,
    name: 'localhost',
  })
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, ca.pem)
  at = await storeProcess()
  env = {
    TLS: 'auto',
    BASE_DOMAIN: 'sites.test',
    ACME_DIRECTORY: ca.directory,
    NODE_EXTRA_CA_CERTS: caFile,
    LOG_FORMAT: 'json',
    TAKEOVER_SECONDS: '3',
  }
})
afterEach(async () => {
  for (const server of running.splice(0)) {
    server.signal('SIGKILL')
    await server.exited
  }
  await Promise.all([at.remove(), ca.stop()])
  rmSync(folder, { recursive: true, force: true })
})

async function start(name: string, more: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await at.start({ ...env, MACHINE_NAME: name, ...more }, join(folder, name))
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
  challengePort.resolve(Number(new URL(second.plainUrl).port))
  const serial = await untilSecured(first)
  expect(await untilSecured(second)).toBe(serial)

  await at.lose(first)
  await ca.stop()
  await until('the take-over', () => isPrimary(second))
  const third = await start('third', { ROLE: 'standby' })
  expect(await untilSecured(third)).toBe(serial)
  expect([await serialOf(second), ca.ordered]).toEqual([serial, [HOST]])
}, 60_000)
