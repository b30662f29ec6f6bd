import { projectAnalyticsPage, workspaceAnalyticsPage } from '../projects/analytics.ts'
import { backupsPage } from '../workspace/backups.ts'
import { machinesPage } from '../workspace/machines.ts'
import { logsPage, storagePage } from '../workspace/operations.ts'
import { sample } from './sample.ts'
import { admin, at, one, owner } from './sample-data.ts'

const sums = { views: 12_345, visitors: 80, requests: 999, bots: 3, bytes: 5_000_000, notFound: 1, errors: 0 }
const overview = {
  from: '2026-11-18T00:00:00.000Z',
  to: at,
  interval: 'day' as const,
  totals: sums,
  series: [
    { at: '2026-11-18T00:00:00.000Z', ...sums },
    { at: '2026-11-19T00:00:00.000Z', ...sums, views: 0 },
  ],
  statuses: [{ status: 200, requests: 990 }],
  botNames: [{ name: 'Crawler', requests: 3 }],
}
const nobody = { ...overview, totals: { ...sums, requests: 0 } }
const dataDir = '/var/lib/svc'
const request = {
  id: 'r1',
  at,
  projectId: 'p1',
  method: 'GET',
  host: 'production--website--acme.sites.example.com',
  path: '/prices/',
  status: 404,
  durationMs: 1.4,
  sizeBytes: null,
  referrer: null,
  userAgent: 'Firefox',
  weight: 1,
  bot: null,
  visitor: 'v1',
}
const plan = {
  directory: '/backups',
  everyHours: 24,
  keep: 7,
  running: null,
  lastFailure: null,
  last: { at, how: 'download' as const, by: 'ada@example.com' },
  lastDrill: null,
}

const machine = {
  name: 'one',
  role: 'primary' as const,
  url: 'http://10.0.0.1:8080',
  version: '1.2.0',
  epoch: 3,
  number: 12_345,
  lagMs: 0,
  lastSeenAt: at,
  cacheBytes: 5_000_000,
  cacheHits: 95,
  cacheMisses: 5,
}
const store = {
  url: 's3://bucket/workspace',
  status: 'ok' as const,
  error: null,
  logBytes: 2_000_000,
  baseAt: at,
  contentBytes: 50_000_000,
  objects: 1_200,
}
const noCdn = { kind: null, pending: 0, failing: 0, lastPurge: null }

export const operationsSamples = [
  sample('project-analytics', projectAnalyticsPage, {
    ...owner,
    period: '30' as const,
    missing: [
      {
        path: '/old/prices.html',
        requests: 120,
        referrers: [
          { from: '/', requests: 80 },
          { from: 'search.example', requests: 40 },
        ],
        nearest: '/prices/',
        resolved: false,
      },
      { path: '/wp-login.php', requests: 3, referrers: [], nearest: null, resolved: false },
    ],
    analytics: {
      ...overview,
      pages: [{ path: '/prices/', views: 12 }],
      referrers: [{ host: 'search.example', views: 3 }],
      missing: [{ path: '/old', requests: 1 }],
    },
  }),
  sample('project-analytics-empty', projectAnalyticsPage, {
    ...owner,
    period: '1' as const,
    missing: [],
    analytics: { ...nobody, pages: [], referrers: [], missing: [] },
  }),
  sample('workspace-analytics', workspaceAnalyticsPage, {
    user: admin,
    period: '7' as const,
    analytics: {
      ...overview,
      projects: [
        { projectId: 'p1', owner: 'acme', name: 'website', ...sums },
        { projectId: null, owner: null, name: null, ...sums },
      ],
    },
  }),
  sample('logs', logsPage, {
    user: admin,
    filters: { place: 'sites', host: '', path: '', status: '4xx', bots: '' },
    found: { data: [request], pagination: { ...one, pages: 2 } },
    newestId: '17',
  }),
  sample('logs-refused', logsPage, {
    user: admin,
    filters: { place: 'sites', host: '', path: '', status: 'x', bots: '' },
    found: null,
    newestId: null,
    failed: {
      message: 'status: Give a status such as 404',
      details: [{ path: 'status', message: 'Give a status such as 404' }],
    },
  }),
  sample('storage', storagePage, {
    user: admin,
    page: 1,
    storage: {
      projects: [
        {
          projectId: 'p1',
          owner: 'acme',
          name: 'website',
          deployments: 2,
          files: 9,
          bytes: 9000,
          uniqueBytes: 500,
          uploads: 12,
          uploadBytes: 34_567,
          quota: { bytes: 10_000, deployments: null, files: null },
        },
      ],
      contents: 12,
      contentBytes: 800,
      diskBytes: 4000,
      freeBytes: 40_000_000,
      totalBytes: 100_000_000,
      floorBytes: 5_000_000,
      isLow: false,
      store: { contents: 12, bytes: 800, cacheBytes: 600, cacheLimitBytes: 10_000_000 },
      measuredAt: at,
    },
  }),
  sample('machines', machinesPage, {
    user: admin,
    now: Date.parse(at),
    hasSecret: true,
    cdn: noCdn,
    found: {
      self: 'one',
      primary: 'one',
      machines: [
        machine,
        { ...machine, name: 'two', role: 'standby' as const, url: 'http://10.0.0.2:8080', cacheMisses: 0 },
        { ...machine, name: 'three', role: 'node' as const, lagMs: 9_000, version: '1.1.0' },
        {
          ...{ ...machine, name: 'four', role: 'node' as const, url: null },
          lastSeenAt: '2026-11-20T07:00:00.000Z',
        },
      ],
      store,
    },
  }),
  sample('machines-alone', machinesPage, {
    user: admin,
    now: Date.parse(at),
    hasSecret: true,
    cdn: { ...noCdn, kind: 'varnish' as const, pending: 2 },
    found: {
      self: 'one',
      primary: 'one',
      machines: [machine],
      store: {
        ...store,
        ...{ status: 'error' as const, error: 'the object store did not answer within 10 s' },
        ...{ logBytes: null, baseAt: null, contentBytes: null, objects: null },
      },
    },
  }),
  sample('machines-none', machinesPage, {
    user: admin,
    now: Date.parse(at),
    hasSecret: true,
    cdn: noCdn,
    found: { self: 'one', primary: 'one', machines: [{ ...machine, epoch: 0, number: 0 }], store: null },
  }),
  sample('backups', backupsPage, {
    user: admin,
    proof: { password: true, code: true },
    dataDir,
    backups: { ...plan, backups: [{ name: 'svc-2026-11-20.tar', sizeBytes: 5000, createdAt: at }] },
  }),
  sample('backups-failed', backupsPage, {
    user: admin,
    proof: { password: false, code: false },
    dataDir,
    backups: {
      ...plan,
      backups: [],
      running: { startedAt: at },
      lastFailure: { at, message: 'The disk is full' },
    },
  }),
  sample('backups-none', backupsPage, {
    user: admin,
    proof: { password: true, code: false },
    dataDir,
    backups: { ...plan, directory: null, backups: [] },
  }),
]
