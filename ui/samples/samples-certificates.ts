import { certificatesPage } from '../workspace/certificates.ts'
import { sample } from './sample.ts'
import { admin, at } from './sample-data.ts'

const baseDomain = 'sites.example.com'
const base = { user: admin, baseDomain, adminHost: `admin.${baseDomain}` }
const later = '2027-02-18T08:12:00.000Z'
const auto = { tls: 'auto' as const, directory: 'https://acme-v02.api.letsencrypt.org/directory' }
const domain = {
  ...{ host: 'www.example.com', status: 'active' as const, expiresAt: later, error: null },
  method: 'http-01' as const,
}
const refused = {
  ...{ ...domain, host: 'shop.example.com', status: 'failed' as const, expiresAt: null },
  error: 'CAA record for shop.example.com prevents issuance',
}
const wildcard = {
  hosts: [baseDomain, `*.${baseDomain}`],
  provider: 'cloudflare',
  status: 'valid' as const,
  ...{ expiresAt: later, renewAt: '2027-01-19T08:12:00.000Z', triedAt: at, error: null, record: null },
}
const none = { expiresAt: null, renewAt: null }

export const certificateSamples = [
  sample('certificates', certificatesPage, {
    ...base,
    found: { ...auto, wildcard, certificates: [domain, refused] },
  }),
  sample('certificates-to-set', certificatesPage, {
    ...base,
    found: {
      ...auto,
      certificates: [],
      wildcard: {
        ...{ ...wildcard, ...none, provider: 'acme-dns', status: 'pending' as const },
        record: {
          name: `_acme-challenge.${baseDomain}`,
          type: 'CNAME' as const,
          value: 'd420c923-bbd7-4056-ab64-c3ca54c9b3cf.auth.example.org',
        },
      },
    },
  }),
  sample('certificates-failed', certificatesPage, {
    ...base,
    found: {
      ...auto,
      certificates: [domain],
      wildcard: {
        ...{ ...wildcard, ...none, status: 'failed' as const },
        error: 'The record did not appear at 192.0.2.53 within 120 s',
      },
    },
    failed: {
      intent: 'retry-wildcard',
      error: { message: 'It was tried just now. Try again in 20 seconds.' },
      values: {},
    },
  }),
  sample('certificates-alone', certificatesPage, {
    ...base,
    found: { ...auto, wildcard: null, certificates: [{ ...domain, host: base.adminHost }] },
  }),
  sample('certificates-files', certificatesPage, {
    ...base,
    found: {
      ...{ tls: 'files' as const, directory: null, wildcard: null },
      certificates: [{ ...domain, host: `*.${baseDomain}`, method: 'file' as const }],
    },
  }),
  sample('certificates-off', certificatesPage, {
    ...base,
    found: { tls: 'off' as const, directory: null, wildcard: null, certificates: [] },
  }),
]
