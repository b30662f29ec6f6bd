import { aliasPage } from '../aliases/alias.ts'
import { aliasesPage } from '../aliases/aliases.ts'
import { movePage } from '../aliases/move-alias.ts'
import { deploymentPage } from '../deployments/deployment.ts'
import { deploymentsPage } from '../deployments/deployments.ts'
import { filePage, folderPage } from '../deployments/files.ts'
import { publishPage } from '../deployments/publish.ts'
import { reportPage } from '../deployments/report.ts'
import { homePage } from '../projects/home.ts'
import { newProjectPage } from '../projects/new-project.ts'
import { projectPage } from '../projects/project.ts'
import { releaseChecksPage } from '../releases/release-checks.ts'
import { retentionPage } from '../retention/retention.ts'
import { sample } from './sample.ts'
import {
  admin,
  aliases,
  apiUrl,
  at,
  comparison,
  deployments,
  former,
  maker,
  member,
  newest,
  none,
  older,
  olderSha,
  one,
  owner,
  panel,
  previews,
  production,
  projects,
  sha,
  viewer,
  wrong,
} from './sample-data.ts'
import { sampleNoRouting, sampleReport, sampleRouting } from './sample-report.ts'

const list = { view: 'cards' as const, search: '', page: 1, pages: 1 }

export const projectSamples = [
  sample('home', homePage, { ...list, user: admin, projects, total: 2, panel }),
  sample('home-list', homePage, { ...list, view: 'list', user: admin, projects, total: 2, panel }),
  sample('home-empty', homePage, { ...list, user: admin, projects: [], total: 0, panel }),
  sample('home-member', homePage, { ...list, user: member, projects: [], total: 0, panel: null }),
  sample('home-none-found', homePage, {
    ...list,
    user: admin,
    projects: [],
    total: 0,
    panel,
    search: 'zebra',
  }),
  sample('new-project', newProjectPage, { user: admin, panel }),
  sample('new-project-failed', newProjectPage, {
    user: admin,
    panel: {
      ...panel,
      values: { owner: 'acme', repo: 'web site', isPublic: 'true' },
      error: wrong('name'),
    },
  }),
  sample('project', projectPage, {
    ...owner,
    aliases,
    deployments,
    aliasCount: 20,
    previews,
    deploymentCount: 2,
    apiUrl,
    commitSha: sha,
    maxFiles: 50_000,
    shows: { production: { name: '#2 The second', hasStartPage: true } },
  }),
  sample('project-not-live', projectPage, {
    ...owner,
    aliases: [],
    deployments: deployments.map((one) => ({ ...one, aliases: [] })),
    aliasCount: 20,
    previews: [],
    deploymentCount: 2,
    apiUrl,
    commitSha: sha,
    maxFiles: 50_000,
    shows: { production: { name: '#2 The second', hasStartPage: true } },
  }),
  sample('project-empty', projectPage, {
    ...owner,
    aliases: [],
    deployments: [],
    aliasCount: 20,
    previews: [],
    deploymentCount: 0,
    apiUrl,
    commitSha: sha,
    maxFiles: 50_000,
    shows: { production: { name: '#2 The second', hasStartPage: true } },
  }),
  sample('publish', publishPage, {
    ...owner,
    apiUrl,
    commitSha: sha,
    maxFiles: 50_000,
    shows: { production: { name: '#2 The second', hasStartPage: true } },
  }),
  sample('publish-failed', publishPage, {
    ...owner,
    apiUrl,
    commitSha: sha,
    maxFiles: 50_000,
    shows: { production: { name: '#2 The second', hasStartPage: true } },
    failed: { error: wrong('alias'), values: { alias: 'a b' } },
  }),
  sample('deployments', deploymentsPage, {
    ...owner,
    found: { data: deployments, pagination: { ...one, pages: 3 } },
    ways: Object.fromEntries(
      deployments.map(({ id, aliases, urls }) => [
        id,
        {
          openUrl: urls.version,
          compareWith: 11,
          promotion: aliases.length === 0 ? { isBack: true } : null,
        },
      ]),
    ),
    filters: { branch: 'main', commitSha: '', alias: '' },
    aliasNames: ['production'],
  }),
  sample('deployments-empty', deploymentsPage, {
    ...owner,
    found: none,
    ways: {},
    filters: { branch: '', commitSha: '', alias: '' },
    aliasNames: [],
  }),
  sample('deployment', deploymentPage, {
    ...owner,
    deployment: newest,
    visitUrl: newest.urls.version,
    waysBack: null,
    aliases,
    versions: [newest, former],
    report: sampleReport,
    before: { deployment: older, liveAs: null, comparison },
  }),
  sample('deployment-held', deploymentPage, {
    ...owner,
    deployment: newest,
    visitUrl: newest.urls.version,
    waysBack: null,
    aliases,
    versions: [newest],
    held: {
      alias: 'production',
      preview: { isNamed: false, expiresIn: null, pullRequest: null, pullRequestUrl: null },
      ruleSets: { names: [], ids: [] },
      checks: [
        { name: 'start page', path: '/', ok: true, message: null },
        { name: 'imprint', path: '/imprint', ok: false, message: 'the answer is 404, not 200' },
        { name: '/api/x', path: '/api/x', ok: null, message: 'not run: a backend answers this path' },
      ],
    },
    before: null,
  }),
  sample('deployment-failed', deploymentPage, {
    ...owner,
    deployment: older,
    visitUrl: older.urls.version,
    waysBack: [],
    aliases: [],
    versions: [older],
    before: null,
    failed: { intent: 'create-alias', error: wrong('name'), values: { name: 'a b' } },
  }),
  sample('deployment-emptied', deploymentPage, {
    ...owner,
    deployment: newest,
    visitUrl: newest.urls.version,
    waysBack: [{ alias: production, deployment: older }],
    aliases,
    versions: [newest],
    before: { deployment: older, liveAs: 'production', comparison },
  }),
  sample('deployment-viewer', deploymentPage, {
    ...viewer,
    deployment: newest,
    visitUrl: newest.urls.version,
    waysBack: null,
    aliases,
    versions: [newest],
    before: null,
  }),
  sample('report', reportPage, {
    ...owner,
    deployment: newest,
    report: sampleReport,
    inForce: sampleRouting,
  }),
  sample('report-running', reportPage, {
    ...owner,
    deployment: newest,
    report: { ...sampleReport, status: 'running', findings: [], kinds: {}, completedAt: null },
    inForce: sampleRouting,
  }),
  sample('report-nothing-found', reportPage, {
    ...owner,
    deployment: newest,
    report: { ...sampleReport, comparedWith: null, findings: [], kinds: {} },
    inForce: sampleNoRouting,
  }),
  sample('report-none', reportPage, { ...owner, deployment: newest, report: null, inForce: sampleNoRouting }),
  sample('folder', folderPage, {
    ...owner,
    deployment: newest,
    path: 'assets/',
    folder: {
      folders: [{ name: 'img/', path: 'assets/img/', mimeType: null, fileCount: 3, sizeBytes: 9000 }],
      files: [
        { name: 'app.js', path: 'assets/app.js', mimeType: 'text/javascript', fileCount: 1, sizeBytes: 400 },
      ],
      total: 2,
    },
  }),
  sample('file', filePage, {
    ...owner,
    deployment: newest,
    file: {
      path: 'about/index.html',
      sizeBytes: 30,
      sha256: 'ab12',
      mimeType: 'text/html',
      cacheControl: 'public, max-age=0, must-revalidate',
      text: '<h1>About</h1>',
    },
    pieces: [
      { text: '<h1>About</h1>', kind: 'name' as const },
      { text: '\n', kind: null },
    ],
    rawUrl: '/repo/acme/website/3f78/about/index.html',
  }),
  sample('retention', retentionPage, {
    ...owner,
    retention: { keepLast: 50, keepDays: 90, lastRun: { at, removedCount: 12, bytes: 40_000_000 } },
    quota: {
      quota: { bytes: 10_000_000_000, deployments: 2, files: null },
      used: { bytes: 3_000_000_000, deployments: 3, files: 900 },
    },
    trial: {
      tried: { keepLast: 50, keepDays: 90 },
      page: 1,
      names: { [older.id]: older },
      run: {
        dryRun: true,
        removed: [{ id: older.id, commitSha: olderSha, version: 1, createdAt: at, totalSize: 5000 }],
        removedCount: 214,
        bytes: 3_100_000_000,
        kept: { alias: 2, previous: 1, preview: 0, shared: 0, young: 0, keepLast: 48, keepDays: 9 },
      },
    },
  }),
  sample('release-checks', releaseChecksPage, {
    ...owner,
    checks: {
      aliases: ['production'],
      startPage: true,
      checks: [
        { name: 'imprint', path: '/imprint', status: 200, contains: 'Register', maxBytes: 200_000 },
        { name: null, path: '/old', status: 308, contains: null, maxBytes: null },
      ],
    },
  }),
  sample('release-checks-viewer', releaseChecksPage, {
    ...viewer,
    checks: { aliases: null, startPage: false, checks: [] },
  }),
  sample('retention-viewer', retentionPage, {
    ...viewer,
    retention: { keepLast: null, keepDays: null, lastRun: null },
    quota: {
      quota: { bytes: null, deployments: null, files: null },
      used: { bytes: 0, deployments: 0, files: 0 },
    },
  }),
  sample('aliases', aliasesPage, {
    ...owner,
    found: { data: aliases, pagination: one },
    latest: [newest, older],
  }),
  sample('aliases-failed', aliasesPage, {
    ...owner,
    found: none,
    latest: [newest, older],
    failed: { intent: 'create', error: wrong('commitSha'), values: { name: 'x', commitSha: 'zz' } },
  }),
  sample('alias', aliasPage, {
    ...owner,
    alias: production,
    visitUrl: production.url,
    certificate: {
      status: 'active' as const,
      expiresAt: Date.parse('2027-02-18T12:00:00.000Z'),
      error: null,
    },
    history: [
      {
        deploymentId: 'd1',
        commitSha: sha,
        version: 2,
        number: 12,
        title: 'Shorter landing page',
        movedBy: maker,
        movedAt: at,
        reason: 'publish',
        exists: true,
      },
      {
        deploymentId: 'd2',
        commitSha: olderSha,
        version: 1,
        number: 11,
        title: 'New prices',
        movedBy: maker,
        movedAt: at,
        reason: 'publish',
        exists: true,
      },
      {
        deploymentId: 'd0',
        commitSha: olderSha,
        version: 1,
        number: 9,
        title: null,
        movedBy: maker,
        movedAt: at,
        reason: 'create',
        exists: false,
      },
    ],
    ruleSets: [{ id: 'set1', name: 'guestbook' }],
    hosts: { mapped: [], split: [] },
  }),
  sample('move', movePage, {
    isBack: true,
    ...owner,
    alias: production,
    from: newest,
    to: older,
    comparison,
  }),
]
