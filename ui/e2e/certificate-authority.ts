import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { AuthorityOrder } from '../../src/testing/acme-ca-main.ts'

/** A certificate authority that validates hosts over real HTTP, in its own process. */
export type CertificateAuthority = {
  /** The environment a server needs to get its certificates there. */
  env: Record<string, string>
  tell(order: AuthorityOrder): void
  stop(): Promise<void>
}

/** The executable that runs it: the Bun of `npm test`, else the one on the path. */
const BUN = process.env['SVC_BUN'] ?? 'bun'
const MAIN = join(import.meta.dirname, '../../src/testing/acme-ca-main.ts')

export async function startAuthority(): Promise<CertificateAuthority> {
  const child = spawn(BUN, [MAIN], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [said] = await once(createInterface(child.stdout), 'line')
  const { directory, pem } = JSON.parse(String(said)) as { directory: string; pem: string }
  const folder = mkdtempSync(join(tmpdir(), 'svc-e2e-ca-'))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, pem)
  return {
    env: {
      TLS: 'auto',
      ACME_DIRECTORY: directory,
      NODE_EXTRA_CA_CERTS: caFile,
    },
    tell: (order) => void child.stdin.write(`${JSON.stringify(order)}\n`),
    async stop() {
      child.stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
