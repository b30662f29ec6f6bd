import type { Team } from './team.ts'

export type Shot = [name: string, path: string]

export const pagesOfProject = (team: Team): Shot[] =>
  [...ofSite(team), ...ofBackend(team), ...ofRest(team)].map(([name, path]) => [
    name,
    `/projects/${team.project}${path}`,
  ])

const ofSite = (team: Team): Shot[] => [
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
]

/** Rules, data and files. */
const ofBackend = (team: Team): Shot[] => [
  ['rules', '/rules'],
  ['rule', `/rules/${team.rule}`],
  ['rule-edit', `/rules/${team.rule}/edit`],
  ['rule-yaml', '/rules/new?kind=pipeline'],
  ['contact-form', '/rules/new?form=contact'],
  ['rule-test', '/rules/test'],
  ['rule-set', `/rules/sets/${team.ruleSet}`],
  ['runs', '/rules/runs'],
  ['run', `/rules/runs/${team.run}`],
  ['data', '/data'],
  ['schema-new', '/data/new'],
  ['schema', `/data/${team.visits}/schema`],
  ['record-new', `/data/${team.visits}/new`],
  ['record', `/data/${team.visits}/${team.record}`],
  ['stored-files', '/files?path=pictures'],
  ['stored-file', `/files/${team.file}`],
]

const ofRest = (team: Team): Shot[] => [
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
    'schedules',
    'audit',
  ].map((page): Shot => [page, `/${page}`]),
  ['webhook', `/webhooks/${team.hook}`],
  ['delivery', `/webhooks/${team.hook}/deliveries/${team.delivery}`],
  ['schedule-new', '/schedules/new?cron=0+6+*+*+*&timezone=Europe/Berlin'],
  ['schedule', `/schedules/${team.schedule}`],
]

export const pagesOfWorkspace = (team: Team): Shot[] => [
  ['home', '/?view=cards'],
  ['home-list', '/?view=list'],
  ['welcome', '/welcome'],
  ['new-project', '/projects/new'],
  ...ADMIN_PAGES.map((page): Shot => [`admin-${page.replace('/', '-')}`, `/admin/${page}`]),
  ['admin-person', `/admin/users/${team.person}`],
  ['admin-group', `/admin/groups/${team.group}`],
  ['admin-webhook', `/admin/webhooks/${team.ownHook}`],
  ['admin-delivery', `/admin/webhooks/${team.ownHook}/deliveries/${team.ownDelivery}`],
  ['keys', '/keys'],
  ['account', '/account'],
  ['device', '/device'],
  ['commands', '/commands'],
  ['docs', '/docs'],
  ['docs-start', '/docs/start'],
  ['docs-search', '/docs?q=restore+backup'],
]

const ADMIN_PAGES = [
  ...['users', 'groups', 'settings/auth', 'audit', 'analytics', 'logs', 'storage', 'health'],
  ...['backups', 'machines', 'webhooks', 'certificates'],
]

/** With a thousand rows. */
export const pagesOfMany = (team: Team): Shot[] => [
  ['records', `/projects/${team.project}/data/${team.visits}`],
  [
    'records-filtered',
    `/projects/${team.project}/data/${team.visits}?filter[nights][gte]=2&sort=arrival&order=asc`,
  ],
]

/** For those who have not signed in. */
export const PAGES_OF_VISITORS: Shot[] = [
  ['sign-in', '/signin'],
  ['sign-up', '/signup'],
  ['forgot-password', '/forgot-password'],
  ['reset-password', '/reset-password?token=spent'],
  ['invite', '/invite?token=spent'],
  ['signed-out', '/signed-out'],
]
