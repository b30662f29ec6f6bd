import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS } from '../domain/durations.ts'
import { normalizeHost } from '../domain/hostname.ts'
import { type AcmeCa, startAcmeCa } from './acme-ca.ts'
import type { ServerProcess } from './server-process.ts'

/** The same as Let's Encrypt's. */
export const LIFETIME_MS = 90 * DAY_MS

export type AcmeAuthority = {
  ca: AcmeCa
  /** The settings of a server that orders from it. */
  env: Record<string, string>
  stop(): Promise<void>
}

type Asking = {
  now: () => number
  answer: (host: string, token: string) => Promise<string | undefined> | string | undefined
  textsAt?: (name: string) => readonly string[]
}

/** The test's own authority, which checks over real HTTP: `answer` is what the server says to it. */
export function acmeAuthority({ now, answer, textsAt = () => [] }: Asking): AcmeAuthority {
  const door = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const host = normalizeHost(request.headers.get('host')) ?? ''
      const token = new URL(request.url).pathname.replace('/.well-known/acme-challenge/', '')
      const text = await answer(host, token)
      return new Response(text ?? null, { status: text === undefined ? 404 : 200 })
    },
  })
  const ca = startAcmeCa({ challengePort: door.port ?? 0, now, lifetimeMs: LIFETIME_MS, textsAt })
  const more = { ADMIN_HOST: 'admin.sites.test', LOG_LEVEL: 'info' }
  return withSettings(ca, more, () => door.stop(true))
}

/** Of processes, one of which it asks at a port that is not known yet. */
export function acmeAuthorityOfProcesses(): AcmeAuthority & { asks(server: ServerProcess): void } {
  const port = Promise.withResolvers<number>()
  const ca = startAcmeCa({
    challengePort: port.promise,
    now: Date.now,
    lifetimeMs: DAY_MS,
    name: 'localhost',
  })
  return {
    ...withSettings(ca, { LOG_FORMAT: 'json' }),
    asks: ({ plainUrl }) => port.resolve(Number(new URL(plainUrl).port)),
  }
}

function withSettings(ca: AcmeCa, more: Record<string, string>, stopToo = async () => {}): AcmeAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'svc-acme-'))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, ca.pem)
  return {
    ca,
    env: {
      TLS: 'auto',
      BASE_DOMAIN: 'sites.test',
      ACME_DIRECTORY: ca.directory,
      NODE_EXTRA_CA_CERTS: caFile,
      ...more,
    },
    async stop() {
      await Promise.all([ca.stop(), stopToo()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
