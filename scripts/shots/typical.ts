import type { Team } from './team.ts'

export type Shot = [name: string, path: string]

export const pagesOfProject = (team: Team): Shot[] => {
  const pages: Shot[] = [
    ['project', ''],
    ['publish', '/publish'],
    ['deployments', '/deployments'],
    ['deployment', '/deployments/4'],
    ['report', `/deployments/${team.deployment}/report`],
    ['compare', '/compare?from=3&to=4'],
    ['compare-file', '/compare/file?from=3&to=4&path=about.html&view=unified'],
    ['compare-split', '/compare/file?from=3&to=4&path=about.html&view=split'],
    ['files', `/deployments/${team.deployment}/files`],
    ['file', `/deployments/${team.deployment}/files?path=index.html`],
    ['aliases', '/aliases'],
    ['alias', `/aliases/${team.alias}`],
    ['roll-back', `/aliases/${team.alias}/move?to=${team.older}`],
    ['rules', '/rules'],
    ['rule', `/rules/${team.rule}`],
    ['rule-edit', `/rules/${team.rule}/edit`],
    ['rule-yaml', '/rules/new?kind=pipeline'],
    ['contact-form', '/rules/new?form=contact'],
    ['runs', '/rules/runs'],
    ['data', '/data'],
    ['schema', `/data/${team.visits}/schema`],
    ['people', '/people'],
    ['person', `/people/${team.person}`],
    ['domains', '/domains'],
    ['domain', `/domains/${team.domain}`],
    ['traffic', `/domains/${team.domain}/traffic`],
    ...[
      'analytics',
      'errors',
      'requests',
      'settings',
      'secrets',
      'retention',
      'release-checks',
      'webhooks',
    ].map((page): Shot => [page, `/${page}`]),
  ]
  return pages.map(([name, path]) => [name, `/projects/${team.project}${path}`])
}

export const pagesOfWorkspace = (team: Team): Shot[] => [
  ['home', '/?view=cards'],
  ['home-list', '/?view=list'],
  ['welcome', '/welcome'],
  ['new-project', '/projects/new'],
  ...ADMIN_PAGES.map((page): Shot => [`admin-${page.replace('/', '-')}`, `/admin/${page}`]),
  ['admin-person', `/admin/users/${team.person}`],
  ['keys', '/keys'],
  ['account', '/account'],
  ['commands', '/commands'],
  ['docs', '/docs'],
  ['docs-start', '/docs/start'],
  ['docs-search', '/docs?q=restore+backup'],
]

const ADMIN_PAGES = [
  ...['users', 'groups', 'settings/auth', 'audit', 'analytics', 'logs', 'storage', 'health'],
  ...['backups', 'machines', 'webhooks'],
]
