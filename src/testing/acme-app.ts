import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS } from '../domain/durations.ts'
import { normalizeHost } from '../domain/hostname.ts'
import { type AutoCertificates, createAutoCertificates } from '../modules/certificates/auto.ts'
import { type AcmeCa, startAcmeCa } from './acme-ca.ts'
import { type TestApp, testApp } from './test-app.ts'

/** The same as Let's Encrypt's. */
export const LIFETIME_MS = 90 * DAY_MS

/** A server that gets its certificates from the test's own authority, which checks it over real HTTP. */
export type AcmeApp = {
  app: TestApp
  ca: AcmeCa
  /** The current instance: a restart creates a new one. */
  certificates(): AutoCertificates
  /** Reloads everything from the disk, like a new process. */
  restart(): Promise<void>
  /** Advances the clock and runs whatever is due. */
  advance(ms: number): void
  stop(): Promise<void>
}

/** `env` is the server's environment. */
export async function acmeApp(env: Record<string, string> = {}): Promise<AcmeApp> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-acme-'))
  const door = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const host = normalizeHost(request.headers.get('host')) ?? ''
      const token = new URL(request.url).pathname.replace('/.well-known/acme-challenge/', '')
      const text = await app.ctx.certificates.challengeAnswer(host, token)
      return new Response(text ?? null, { status: text === undefined ? 404 : 200 })
    },
  })
  const ca = startAcmeCa({ challengePort: door.port ?? 0, now: () => app.ctx.now(), lifetimeMs: LIFETIME_MS })
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, ca.pem)
  const app = await testApp({
    TLS: 'auto',
    BASE_DOMAIN: 'sites.test',
    ADMIN_HOST: 'admin.sites.test',
    ACME_DIRECTORY: ca.directory,
    NODE_EXTRA_CA_CERTS: caFile,
    LOG_LEVEL: 'info',
    ...env,
  })
  let current = createAutoCertificates(app.ctx)
  app.ctx.certificates = current
  return {
    app,
    ca,
    certificates: () => current,
    async restart() {
      await current.stop()
      current = createAutoCertificates(app.ctx)
      app.ctx.certificates = current
    },
    advance(ms) {
      app.advance(ms)
      current.hostsChanged()
    },
    async stop() {
      await current.stop()
      await Promise.all([door.stop(true), ca.stop()])
      app.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
