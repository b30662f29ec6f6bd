import { domainPage } from '../domains/domain.ts'
import { domainsPage } from '../domains/domains.ts'
import { trafficPage } from '../domains/traffic.ts'
import { sample } from './sample.ts'
import { at, none, one, owner, viewer, wrong } from './sample-data.ts'

const verification = {
  method: 'base_domain' as const,
  name: null,
  value: null,
  url: null,
  verifiedAt: at,
  checkedAt: null,
  error: null,
}
const domain = {
  id: 'n1',
  projectId: 'p1',
  hostname: 'docs.sites.example.com',
  alias: 'production',
  pathPrefix: '/docs',
  isPublic: true,
  isSpa: null,
  requiredRole: null,
  redirectTo: null,
  url: 'https://docs.sites.example.com/',
  dnsRecords: [],
  verification,
  certificate: { status: 'off' as const, expiresAt: null, error: null },
  createdAt: at,
  updatedAt: at,
}
/** When a certificate expires. */
const later = '2027-02-18T12:00:00.000Z'
const challenge = 'q3kVb0mJ7yPzT1sXcN8wRdLf2hGa5uEo'
const unproven = {
  ...domain,
  id: 'n2',
  hostname: 'www.example.net',
  pathPrefix: null,
  isPublic: null,
  url: 'http://www.example.net/',
  dnsRecords: [],
  verification: {
    ...verification,
    method: 'txt' as const,
    name: '_svc-challenge.www.example.net',
    value: challenge,
    url: `http://www.example.net/.well-known/svc-challenge/${challenge}`,
    verifiedAt: null,
    checkedAt: at,
    error: '_svc-challenge.www.example.net has no TXT record. http://www.example.net answered 404.',
  },
}
const redirecting = { ...domain, id: 'n3', hostname: 'example.net', redirectTo: 'www.example.net' }
const lost = { ...domain, id: 'n4', hostname: 'old.sites.example.com', alias: 'gone' }
const split = {
  weights: [
    { alias: 'production', weight: 90 },
    { alias: 'gone', weight: 10 },
  ],
  sticky: true,
  stickySeconds: 900,
  rules: [
    { type: 'query' as const, key: 'preview', value: 'yes', alias: 'staging' },
    { type: 'cookie' as const, key: 'beta', value: '1', alias: 'gone' },
    { type: 'header' as const, key: 'X-Team', value: 'web', alias: 'production' },
  ],
}
const rest = {
  visitUrl: domain.url,
  aliasNames: ['production', 'staging', 'next'],
  baseDomain: 'sites.example.com',
  adminHost: 'admin.sites.example.com',
  addresses: ['203.0.113.5', '2001:db8::5'],
  tls: 'off' as const,
}

export const domainSamples = [
  sample('domains', domainsPage, {
    ...owner,
    ...rest,
    found: {
      data: [
        { ...domain, split },
        { ...unproven, split: undefined },
        { ...redirecting, split: undefined },
        { ...lost, split: undefined },
      ],
      pagination: { ...one, total: 44, pages: 3 },
    },
  }),
  sample('domains-empty', domainsPage, { ...owner, ...rest, found: none }),
  sample('domains-no-alias', domainsPage, { ...owner, ...rest, aliasNames: [], found: none }),
  sample('domains-refused', domainsPage, {
    ...owner,
    ...rest,
    found: none,
    failed: {
      intent: 'create',
      error: wrong('pathPrefix'),
      values: { hostname: 'www.example.net', alias: 'next', pathPrefix: '/../up', isPublic: 'false' },
    },
  }),
  sample('domain', domainPage, { ...owner, ...rest, domain, split }),
  sample('domain-unproven', domainPage, { ...owner, ...rest, domain: unproven, split: undefined }),
  sample('domain-viewer', domainPage, { ...viewer, ...rest, domain: unproven, split: undefined }),
  ...(
    [
      ['domain-certificate-pending', { status: 'pending', expiresAt: null, error: null }],
      ['domain-certificate-valid', { status: 'active', expiresAt: later, error: null }],
      [
        'domain-certificate-not-renewed',
        { status: 'active', expiresAt: later, error: 'too many failed authorizations' },
      ],
      ['domain-certificate-expired', { status: 'expired', expiresAt: at, error: null }],
      [
        'domain-certificate-failed',
        {
          status: 'failed',
          expiresAt: null,
          error:
            '203.0.113.7: Fetching http://example.net/.well-known/acme-challenge/q3kVb0mJ7yPzT1sXcN8wRdLf2hGa5uEo: Timeout during connect (likely firewall problem)',
        },
      ],
    ] as const
  ).map(([name, certificate]) =>
    sample(name, domainPage, {
      ...owner,
      ...rest,
      adminHost: 'localhost',
      tls: 'auto',
      domain: { ...redirecting, certificate },
      split: undefined,
    }),
  ),
  sample('domain-certificate-files', domainPage, {
    ...viewer,
    ...rest,
    tls: 'files',
    domain: {
      ...domain,
      certificate: { status: 'failed', expiresAt: null, error: 'TLS_CERT_FILE does not name it' },
    },
    split: undefined,
  }),
  sample('domain-lost', domainPage, {
    ...owner,
    ...rest,
    domain: lost,
    split: undefined,
    failed: {
      intent: 'settings',
      error: wrong('redirectTo'),
      values: { alias: 'gone', redirectTo: 'ftp://x' },
    },
  }),
  sample('traffic', trafficPage, { ...owner, ...rest, domain, split }),
  sample('traffic-none', trafficPage, { ...owner, ...rest, domain, split: undefined }),
  sample('traffic-viewer', trafficPage, { ...viewer, ...rest, domain: redirecting, split }),
  sample('traffic-refused', trafficPage, {
    ...owner,
    ...rest,
    domain,
    split,
    failed: {
      intent: 'weights',
      error: {
        message: 'The weights add up to 80; they must add up to 100',
        details: [{ path: 'weights', message: 'The weights add up to 80; they must add up to 100' }],
      },
      values: { 'weight-0': '70', 'weight-1': '10', stickySeconds: '3600' },
    },
  }),
  sample('traffic-rule-refused', trafficPage, {
    ...owner,
    ...rest,
    domain,
    split,
    failed: {
      intent: 'change-rule',
      error: wrong('key'),
      values: { at: '1', type: 'header', key: 'a b', value: '1', alias: 'next' },
    },
  }),
]
