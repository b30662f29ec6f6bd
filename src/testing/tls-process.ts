import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestCa, type LeafOptions, type TestCertificate } from './test-ca.ts'

/** A folder with pairs for `TLS=files` of an authority of its own, whose root is `caFile`. */
type CertificateFolder = {
  caPem: string
  caFile: string
  issue(options?: Partial<LeafOptions>): TestCertificate
  /** Writes a pair under a name; what was there before is replaced. */
  write(name: string, pair: TestCertificate): void
  /** The environment that serves the pair. */
  env(name: string): Record<string, string>
  remove(): void
}

/** `names` are those of every certificate that says nothing else. */
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
