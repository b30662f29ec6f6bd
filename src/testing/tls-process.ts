import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestCa, type LeafOptions, type TestCertificate } from './test-ca.ts'

/** A folder of certificate pairs for `TLS=files`, issued by an authority of its own with the root `caFile`. */
type CertificateFolder = {
  caPem: string
  caFile: string
  issue(options?: Partial<LeafOptions>): TestCertificate
  /** Writes a pair under a name, replacing an existing one. */
  write(name: string, pair: TestCertificate): void
  /** The environment for serving the pair. */
  env(name: string): Record<string, string>
  remove(): void
}

/** `names` are the default names of a certificate. */
export function certificateFolder(names: readonly string[]): CertificateFolder {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tls-'))
  const ca = createTestCa()
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, ca.pem)
  const certFile = (name: string) => join(folder, `${name}.crt`)
  const keyFile = (name: string) => join(folder, `${name}.key`)
  return {
    caPem: ca.pem,
    caFile,
    issue: (options = {}) => ca.issue({ names, ...options }),
    write(name, { cert, key }) {
      writeFileSync(keyFile(name), key)
      writeFileSync(certFile(name), cert)
    },
    env: (name) => ({ TLS: 'files', TLS_CERT_FILE: certFile(name), TLS_KEY_FILE: keyFile(name) }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
