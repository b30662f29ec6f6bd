import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '../../context.ts'
import { CertificateStore } from './store.ts'

/** Names each file of `certs/` that cannot be read, or whose key this server's key does not open. */
export function* findUnreadableCertificates({
  config,
  secrets,
}: Pick<Context, 'config' | 'secrets'>): Generator<{ kind: 'certificate_unreadable'; detail: string }> {
  if (!existsSync(join(config.dataDir, 'certs'))) return
  for (const { name, why } of new CertificateStore(config.dataDir, secrets).unusable())
    yield { kind: 'certificate_unreadable', detail: `certs/${name}: ${why}` }
}
