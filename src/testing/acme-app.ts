import { type AutoCertificates, createAutoCertificates } from '../modules/certificates/auto.ts'
import { acmeAuthority } from './acme-authority.ts'
import type { AcmeCa } from './acme-ca.ts'
import { type TestApp, testApp } from './test-app.ts'

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

/** `env` is the server's environment; `textsAt` what the authority finds in the DNS. */
export async function acmeApp(
  env: Record<string, string> = {},
  textsAt?: (name: string) => readonly string[],
): Promise<AcmeApp> {
  const authority = acmeAuthority({
    now: () => app.ctx.now(),
    answer: (host, token) => app.ctx.certificates.challengeAnswer(host, token),
    ...(textsAt === undefined ? {} : { textsAt }),
  })
  const app = await testApp({ ...authority.env, ...env })
  let current = createAutoCertificates(app.ctx)
  app.ctx.certificates = current
  return {
    app,
    ca: authority.ca,
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
      await authority.stop()
      app.close()
    },
  }
}
