import type { ProjectView } from '../../src/modules/projects/service.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { mainNav } from '../components/main-nav.ts'
import type { Notice } from '../components/notice.ts'
import { tabs } from '../components/tabs.ts'
import type { PageUser } from '../components/user-menu.ts'
import type { HelpTopic } from './help.ts'
import { appLayout, type Crumb } from './layout.ts'
import type { Can } from './project-request.ts'

type ProjectTab =
  | 'overview'
  | 'publish'
  | 'deployments'
  | 'aliases'
  | 'rules'
  | 'schedules'
  | 'domains'
  | 'data'
  | 'files'
  | 'people'
  | 'analytics'
  | 'errors'
  | 'requests'
  | 'audit'
  | 'secrets'
  | 'webhooks'
  | 'retention'
  | 'checks'
  | 'settings'

/** The props that every page of a project gets. */
export type ProjectPageBase = {
  user: PageUser
  project: ProjectView
  can: Can
  notices?: readonly Notice[]
}

type Frame = {
  /** Undefined on a page that belongs to none of them. */
  tab: ProjectTab | undefined
  title: string
  /** Shown beside the title. */
  aside?: Content
  about?: Content
  /** If the tab's is not the one. */
  help?: HelpTopic
  /** The breadcrumbs between the project and this page. */
  crumbs?: readonly Crumb[]
}

export const projectHref = (projectId: string, rest = ''): string => `/projects/${projectId}${rest}`

/** The frame of a project's pages: the tabs and the page heading. */
export const projectFrame = (base: ProjectPageBase, frame: Frame, body: Content): Html =>
  appLayout(
    {
      title: frame.title,
      of: frame.tab === 'overview' ? undefined : base.project.displayName,
      user: base.user,
      nav: mainNav(base.user, 'projects'),
      help: frame.help ?? helpOf(frame.tab),
      crumbs: [
        { label: 'Projects', href: '/' },
        ...(frame.tab === 'overview'
          ? []
          : [{ label: base.project.displayName, href: projectHref(base.project.id) }]),
        ...(frame.crumbs ?? []),
      ],
      notices: base.notices ?? [],
    },
    html`
      ${tabsOf(base, frame.tab)}
      <header class="page-head">
        <div>
          <h1>${frame.title}</h1>
          ${frame.about}
        </div>
        ${frame.aside}
      </header>
      <div class="cards">${body}</div>
    `,
  )

const helpOf = (tab: ProjectTab | undefined): HelpTopic => {
  if (tab === undefined || tab === 'overview') return 'a-project'
  if (tab === 'checks') return 'checked-releases'
  if (tab === 'audit') return 'audit-log'
  return tab === 'settings' ? 'settings-of-a-project' : tab
}

type Inner = { tab: ProjectTab; label: string; path: string; needs?: keyof Can }
type Group = { label: string; pages: readonly Inner[] }

/** At most eight tabs; one with several pages shows them below. contract 17.12. */
const GROUPS: readonly Group[] = [
  { label: 'Overview', pages: [{ tab: 'overview', label: 'Overview', path: '' }] },
  { label: 'Deployments', pages: [{ tab: 'deployments', label: 'Deployments', path: '/deployments' }] },
  {
    label: 'Addresses',
    pages: [
      { tab: 'aliases', label: 'Aliases', path: '/aliases' },
      { tab: 'domains', label: 'Domains', path: '/domains' },
    ],
  },
  {
    label: 'Rules',
    pages: [
      { tab: 'rules', label: 'Rules', path: '/rules' },
      { tab: 'schedules', label: 'Schedules', path: '/schedules' },
    ],
  },
  {
    label: 'Data',
    pages: [
      { tab: 'data', label: 'Data', path: '/data' },
      { tab: 'files', label: 'Files', path: '/files' },
    ],
  },
  { label: 'People', pages: [{ tab: 'people', label: 'People', path: '/people' }] },
  {
    label: 'Insights',
    pages: [
      { tab: 'analytics', label: 'Analytics', path: '/analytics', needs: 'readAnalytics' },
      { tab: 'errors', label: 'Errors', path: '/errors', needs: 'readAnalytics' },
      { tab: 'requests', label: 'Requests', path: '/requests', needs: 'readAnalytics' },
    ],
  },
  {
    label: 'Settings',
    pages: [
      { tab: 'settings', label: 'General', path: '/settings', needs: 'manageSettings' },
      { tab: 'checks', label: 'Release checks', path: '/release-checks' },
      { tab: 'retention', label: 'Retention', path: '/retention' },
      { tab: 'secrets', label: 'Secrets', path: '/secrets', needs: 'seeSecrets' },
      { tab: 'webhooks', label: 'Webhooks', path: '/webhooks', needs: 'manageWebhooks' },
      { tab: 'audit', label: 'Audit log', path: '/audit', needs: 'readAudit' },
    ],
  },
]

/** Every page that has a tab. */
export const PROJECT_PAGES: readonly Inner[] = GROUPS.flatMap(({ pages }) => pages)

function tabsOf({ project, can }: ProjectPageBase, current: ProjectTab | undefined): Html {
  // Publishing makes a deployment and has no tab of its own.
  const shown = current === 'publish' ? 'deployments' : current
  const groups = GROUPS.map(({ label, pages }) => ({
    label,
    pages: pages.filter((page) => mayOpen(can, page)),
  }))
  const tabOf = ({ tab, label, path }: Inner) => ({
    label,
    href: projectHref(project.id, path),
    isCurrent: tab === shown,
  })
  const here = groups.find(({ pages }) => pages.some(({ tab }) => tab === shown))
  const outer = groups.flatMap((group) => {
    const [first] = group.pages
    return first === undefined ? [] : [{ ...tabOf(first), label: group.label, isCurrent: group === here }]
  })
  const inner = here !== undefined && here.pages.length > 1 ? here : undefined
  return html`
    ${tabs(project.displayName, outer)}
    ${inner !== undefined && tabs(inner.label, inner.pages.map(tabOf), 'tabs tabs-inner')}
  `
}

const mayOpen = (can: Can, { needs }: Inner): boolean => needs === undefined || can[needs]
