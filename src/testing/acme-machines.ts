import type { MachineRole } from '../context.ts'
import { CertObjects } from '../platform/object-store/cert-objects.ts'
import { openObjectStore } from '../platform/object-store.ts'
import { type CertificateStorage, ListenerCertificates } from '../server/listener-certificates.ts'
import { acmeAuthority } from './acme-authority.ts'
import type { AcmeCa } from './acme-ca.ts'
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

/** `textsAt`: what the authority finds in the DNS. */
export function acmeMachines(textsAt: (name: string) => readonly string[] = () => []): AcmeMachines {
  const server = startObjectServer()
  const machines: AcmeMachine[] = []
  const authority = acmeAuthority({
    now: () => machines[0]?.app.ctx.now() ?? 0,
    answer: (host, token) => all.asked?.certificates.challengeAnswer(host, token),
    textsAt,
  })
  const all: AcmeMachines = {
    ca: authority.ca,
    server,
    asked: null,
    async start(role, epoch, env = {}) {
      const app = await storeApp({ ...STORE_ENV, ...authority.env, ...env })
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
      await Promise.all([authority.stop(), server.stop()])
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
