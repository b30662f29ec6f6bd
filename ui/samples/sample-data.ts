import type { PublishPanelProps } from '../deployments/publish-panel.ts'
// Test support: users, projects, deployments and other props that the samples of several areas share.

import type { PreviewView } from '../../src/modules/aliases/previews.ts'
import type { AliasView } from '../../src/modules/aliases/service.ts'
import type { AttentionItem } from '../../src/modules/attention/service.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import type { ProjectView } from '../../src/modules/projects/service.ts'
import type { Settings } from '../../src/modules/settings/service.ts'
import type { PageUser } from '../components/user-menu.ts'
import type { Can } from '../frame/project-request.ts'
import type { ProjectRow } from '../projects/home.ts'

export const admin: PageUser = { email: 'ada@example.com', role: 'admin' }
export const member: PageUser = { email: 'grace@example.com', role: 'member' }
export const apiUrl = 'https://admin.sites.example.com'
export const at = '2026-11-20T08:12:00.000Z'
export const sha = '3f786850e387550fdab836ed7e6dc881de23001b'
export const olderSha = '89e6c98d92887913cadf06b2adb97f26cde4849b'

const attentionItem = (
  code: AttentionItem['code'],
  severity: AttentionItem['severity'],
  page: string,
): AttentionItem => ({
  ...{ code, severity, at, projectId: 'p1', href: `/projects/p1/${page}` },
  message: `About ${page}.`,
})

export const projects: ProjectRow[] = [
  {
    id: 'p1',
    owner: 'acme',
    name: 'website',
    displayName: 'Acme Website',
    isPublic: true,
    url: 'https://production--website--acme.sites.example.com/',
    lastDeploymentAt: at,
    attention: [
      attentionItem('errors', 'error', 'errors'),
      attentionItem('release-held', 'error', 'deployments/d1'),
      attentionItem('domain-unverified', 'warn', 'domains/h1'),
      attentionItem('domain-unverified', 'warn', 'domains/h2'),
    ],
    address: 'https://production--website--acme.sites.example.com/',
    pictureUrl: '/_svc/picture/ticket/',
    iconUrl: '/_svc/picture/ticket/favicon.ico',
    production: null,
  },
  {
    id: 'p2',
    owner: 'acme',
    name: 'handbook',
    displayName: 'Employee handbook',
    isPublic: false,
    url: 'https://handbook.example.com/',
    lastDeploymentAt: null,
    attention: [],
    address: 'https://handbook.example.com/',
    pictureUrl: null,
    iconUrl: null,
    production: null,
  },
]

const project: ProjectView = {
  id: 'p1',
  owner: 'acme',
  name: 'website',
  displayName: 'Acme Website',
  isPublic: false,
  allowPublicSignup: false,
  requiredRole: 'guest',
  isSpa: null,
  htmlHandling: null,
  indexing: 'production',
  privateSiteResponse: null,
  previewDays: 7,
  url: 'https://production--website--acme.sites.example.com/',
  icon: null,
  role: 'owner',
  createdAt: '2026-01-15T10:00:00.000Z',
  updatedAt: at,
}

const all = (may: boolean): Can => ({
  publish: may,
  moveAliases: may,
  endPreviews: may,
  manageAliases: may,
  deleteDeployments: may,
  configureTraffic: may,
  manageDomains: may,
  managePeople: may,
  seeSecrets: may,
  manageSecrets: may,
  manageSettings: may,
  transfer: may,
  readAnalytics: may,
  readAudit: may,
  manageWebhooks: may,
  manageRetention: may,
  deleteProject: may,
})
export const owner = { user: admin, project, can: all(true) }
export const viewer = { user: member, project: { ...project, role: 'viewer' as const }, can: all(false) }

const NEWEST_TITLE = 'Shorter landing page, new prices and a form that says what is missing'

const alias = (id: string, name: string, commitSha: string, isLocked: boolean): AliasView => ({
  id,
  projectId: 'p1',
  owner: 'acme',
  repo: 'website',
  name,
  deploymentId: commitSha === sha ? 'd1' : 'd2',
  commitSha,
  version: 1,
  number: commitSha === sha ? 12 : 11,
  title: commitSha === sha ? NEWEST_TITLE : 'New prices',
  isPublic: isLocked ? null : false,
  isSpa: null,
  requiredRole: null,
  htmlHandling: null,
  isLocked,
  isPreview: false,
  expiresAt: null,
  pullRequest: null,
  url: `https://${name}--website--acme.sites.example.com`,
  createdAt: at,
  updatedAt: at,
})
export const production = alias('a1', 'production', sha, true)
export const aliases = [production, alias('a2', 'staging', olderSha, false)]

export const previews: PreviewView[] = [
  {
    ...alias('a3', 'pr-12', sha, false),
    isPreview: true,
    expiresAt: '2026-12-01T09:00:00.000Z',
    pullRequest: { number: 12, url: 'https://git.example.com/acme/website/pull/12' },
    deployments: 3,
    lastPublishedAt: at,
  },
]

export const maker = { kind: 'key' as const, id: 'k1', name: 'Website CI' }

const deployment = (id: string, commitSha: string, createdAt: string): DeploymentView => ({
  id,
  projectId: 'p1',
  owner: 'acme',
  repo: 'website',
  number: commitSha === sha ? 12 : 11,
  title: commitSha === sha ? NEWEST_TITLE : 'New prices',
  commitSha,
  version: commitSha === sha ? 2 : 1,
  isLatest: true,
  baseSha: null,
  branch: 'main',
  description: NEWEST_TITLE,
  workflowName: 'Publish',
  workflowRunId: '4711',
  fileCount: 1204,
  totalSize: 18_400_000,
  aliases: commitSha === sha ? ['production'] : [],
  preview: null,
  icon: null,
  urls: {
    sha: `${apiUrl}/repo/acme/website/${commitSha}/`,
    preview: `https://${commitSha.slice(0, 12)}--website--acme.sites.example.com`,
    version: `https://${commitSha.slice(0, 12)}-v1--website--acme.sites.example.com`,
    alias: null,
  },
  createdBy: maker,
  createdAt,
  updatedAt: createdAt,
})
export const newest = deployment('d1', sha, at)
/** The version before it, of the same commit, which was published from a changed working tree. */
export const former: DeploymentView = {
  ...newest,
  id: 'd3',
  number: 10,
  version: 1,
  isLatest: false,
  baseSha: olderSha,
  aliases: [],
}
export const older = deployment('d2', olderSha, '2026-11-12T09:00:00.000Z')
export const deployments = [newest, older]
const only = { fromPath: null, fromSize: null }
export const comparison = {
  counts: { added: 1, changed: 1, removed: 1, moved: 1, unchanged: 4 },
  paths: [
    { ...only, kind: 'changed' as const, path: 'index.html', size: 9000, fromSize: 8000 },
    { ...only, kind: 'removed' as const, path: 'old.html', size: 200 },
    { ...only, kind: 'added' as const, path: 'prices/index.html', size: 4096 },
    { kind: 'moved' as const, path: 'team/us.jpg', fromPath: 'us.jpg', size: 70_000, fromSize: 70_000 },
  ],
}
export const one = { page: 1, limit: 20, total: 2, pages: 1 }
export const none = { data: [], pagination: { page: 1, limit: 20, total: 0, pages: 0 } }
export const wrong = (path: string) => ({
  message: 'Check the marked fields.',
  details: [{ path, message: 'This value is not valid.' }],
})

export const keys = [
  {
    id: 'k1',
    name: 'Website CI',
    prefix: 'svc_9fK2mT0c',
    projectId: 'p1',
    isGlobal: false,
    createdAt: at,
    expiresAt: null,
    lastUsedAt: at,
    suspendedReason: 'maker_demoted' as const,
  },
]

export const group = { id: 'g1', name: 'Editors', description: 'Who writes', memberCount: 1, createdAt: at }
export const settings: Settings = {
  requireProjectMembership: { value: true, source: 'environment' },
  allowPublicSignups: { value: false, source: 'default' },
  privateSiteResponse: { value: 'not_found', source: 'database' },
  pictures: { value: true, source: 'default' },
}
export const user = {
  id: 'u2',
  email: 'grace@example.com',
  role: 'member' as const,
  createdAt: at,
  lastSeenAt: at,
  suspendedAt: null,
  hasSecondStep: true,
}

export const panel: PublishPanelProps = {
  target: { kind: 'new', owner: 'ada' },
  commitSha: sha,
  maxFiles: 50_000,
}
