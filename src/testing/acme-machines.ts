import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MachineRole } from '../context.ts'
import { normalizeHost } from '../domain/hostname.ts'
import { CertObjects } from '../platform/object-store/cert-objects.ts'
import { openObjectStore } from '../platform/object-store.ts'
import { type CertificateStorage, ListenerCertificates } from '../server/listener-certificates.ts'
import { LIFETIME_MS } from './acme-app.ts'
import { type AcmeCa, startAcmeCa } from './acme-ca.ts'
import { type ObjectServer, STORE_KEYS, startObjectServer } from './object-server.ts'
import { STORE_ENV, type StoreApp, storeApp } from './store-app.ts'

/** A machine of a workspace in an object store, as far as its certificates go. Its database is its own. */
export type AcmeMachine = {
  app: StoreApp
  certificates: ListenerCertificates
  objects: CertObjects
  /** As after a take-over, by itself or by another. */
  become(role: MachineRole, epoch: number): Promise<void>
}

/** Machines on one object store, with one authority. */
export type AcmeMachines = {
  ca: AcmeCa
  server: ObjectServer
  /** The machine that the authority asks. */
  asked: AcmeMachine | null
  start(role: MachineRole, epoch: number, env?: Record<string, string>): Promise<AcmeMachine>
  advance(ms: number): void
  /** The keys of objects that begin so. */
  keys(prefix: string): string[]
  stop(): Promise<void>
}

export function acmeMachines(): AcmeMachines {
  const folder = mkdtempSync(join(tmpdir(), 'svc-acme-'))
  const server = startObjectServer()
  const machines: AcmeMachine[] = []
  const door = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const host = normalizeHost(request.headers.get('host')) ?? ''
      const token = new URL(request.url).pathname.replace('/.well-known/acme-challenge/', '')
      const text = await all.asked?.certificates.challengeAnswer(host, token)
      return new Response(text ?? null, { status: text === undefined ? 404 : 200 })
    },
  })
  const ca = startAcmeCa({
    challengePort: door.port ?? 0,
    now: () => machines[0]?.app.ctx.now() ?? 0,
    lifetimeMs: LIFETIME_MS,
  })
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, ca.pem)
  const all: AcmeMachines = {
    ca,
    server,
    asked: null,
    async start(role, epoch, env = {}) {
      const app = await storeApp({
        ...STORE_ENV,
        TLS: 'auto',
        BASE_DOMAIN: 'sites.test',
        ADMIN_HOST: 'admin.sites.test',
        ACME_DIRECTORY: ca.directory,
        NODE_EXTRA_CA_CERTS: caFile,
        LOG_LEVEL: 'info',
        ...env,
      })
      const machine = machineOf(app, storeOn(server, `w${machines.length}`))
      machines.push(machine)
      all.asked ??= machine
      await machine.become(role, epoch)
      return machine
    },
    advance(ms) {
      for (const { app, certificates } of machines) {
        app.advance(ms)
        certificates.hostsChanged()
      }
    },
    keys: (prefix) => [...server.objects.keys()].filter((key) => key.startsWith(prefix)).sort(),
    async stop() {
      server.fault = () => undefined
      for (const { app, certificates } of machines) {
        await certificates.stop()
        app.close()
      }
      await Promise.all([door.stop(true), ca.stop(), server.stop()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return all
}

const storeOn = ({ endpoint }: ObjectServer, writer: string) =>
  openObjectStore({
    ...STORE_KEYS,
    bucket: 'bucket',
    prefix: '',
    endpoint,
    timeoutMs: 1_000,
    now: Date.now,
    writer,
  })

function machineOf(app: StoreApp, store: CertificateStorage['store']): AcmeMachine {
  let at: { role: MachineRole; epoch: number } = { role: 'standby', epoch: 0 }
  const { machine } = app.ctx
  if (machine !== null) app.ctx.machine = { ...machine, role: () => at.role, epoch: () => at.epoch }
  const storage = { store, epoch: () => at.epoch }
  const certificates = new ListenerCertificates()
  return {
    app,
    certificates,
    objects: new CertObjects(storage),
    async become(role, epoch) {
      at = { role, epoch }
      await certificates.serveFor(app.ctx, storage)
    },
  }
}
