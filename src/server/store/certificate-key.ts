import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, ConfigError } from '../../config/config.ts'

/** Any other machine has the key anyway. contract 18 §1. */
export function requireCertificateKey({ role, tls, secretKey, dataDir }: Config): void {
  if (role !== 'node' || tls !== 'auto' || secretKey !== null) return
  if (existsSync(join(dataDir, 'secret.key'))) return
  throw new ConfigError(
    'SECRET_KEY is missing: with TLS=auto a node opens the certificates in the object store by it. Give it that of the primary, or end TLS before it (TLS=off)',
  )
}
