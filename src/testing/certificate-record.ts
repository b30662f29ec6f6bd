import { createPublicKey, type KeyObject } from 'node:crypto'
import { DAY_MS } from '../domain/durations.ts'
import { emptyRecord, type HostRecord } from '../modules/certificates/host-record.ts'
import { keyToPem, newKey } from '../platform/acme/keys.ts'
import { createTestCa } from './test-ca.ts'

/** What is kept of a host with a certificate. `keptKey`: another than its own. */
export function certificateRecord(host: string, keptKey?: KeyObject): HostRecord {
  const key = newKey()
  const certPem = createTestCa().certify(createPublicKey(key), { names: [host] })
  const keyPem = keyToPem(keptKey ?? key)
  const times = { notBefore: 0, expiresAt: DAY_MS }
  return {
    ...emptyRecord(host),
    certificate: { certPem, keyPem, ...times, directory: 'https://ca.test/' },
  }
}
