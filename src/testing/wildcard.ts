import { type Certificates, noCertificates, type WildcardState } from '../platform/certificates.ts'

const BASE = 'sites.test'

export const WILDCARD: WildcardState = {
  hosts: [BASE, `*.${BASE}`],
  provider: 'acme-dns',
  status: 'failed',
  expiresAt: null,
  renewAt: null,
  triedAt: Date.UTC(2026, 10, 20, 12),
  error: 'The record is not there',
  record: { name: `_acme-challenge.${BASE}`, type: 'CNAME', value: 'a1.auth.test' },
}

/** Certificates of a server whose wildcard is set up and fails until `retry` was called. */
export function withWildcard(retry: () => Promise<void> = async () => {}): Certificates {
  let state = WILDCARD
  const expiresAt = Date.UTC(2027, 1, 18, 12)
  return {
    ...noCertificates,
    wildcard: () => state,
    async retryWildcard() {
      await retry()
      state = { ...WILDCARD, status: 'valid', expiresAt, renewAt: expiresAt - 1, error: null }
    },
  }
}
