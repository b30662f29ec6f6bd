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
  | 'domains'
  | 'data'
  | 'people'
  | 'analytics'
  | 'secrets'
  | 'webhooks'
  | 'retention'
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
      ${tabs(base.project.displayName, tabsOf(base, frame.tab))}
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
  return tab === 'settings' ? 'settings-of-a-project' : tab
}

const TABS: readonly [tab: ProjectTab, label: string, path: string, needs?: keyof Can][] = [
  ['overview', 'Overview', ''],
  ['publish', 'Publish', '/publish', 'publish'],
  ['deployments', 'Deployments', '/deployments'],
  ['aliases', 'Aliases', '/aliases'],
  ['domains', 'Domains', '/domains'],
  ['rules', 'Rules', '/rules'],
  ['data', 'Data', '/data'],
  ['people', 'People', '/people'],
  ['analytics', 'Analytics', '/analytics', 'readAnalytics'],
  ['secrets', 'Secrets', '/secrets', 'seeSecrets'],
  ['webhooks', 'Webhooks', '/webhooks', 'manageWebhooks'],
  ['retention', 'Retention', '/retention'],
  ['settings', 'Settings', '/settings', 'manageSettings'],
]

const tabsOf = ({ project, can }: ProjectPageBase, current: ProjectTab | undefined) =>
  TABS.filter(([, , , needs]) => needs === undefined || can[needs]).map(([tab, label, path]) => ({
    label,
    href: projectHref(project.id, path),
    isCurrent: tab === current,
  }))
