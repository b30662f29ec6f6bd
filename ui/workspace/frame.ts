import { type Content, type Html, html } from '../components/html.ts'
import { type MainPlace, mainNav } from '../components/main-nav.ts'
import type { Notice } from '../components/notice.ts'
import type { PageUser } from '../components/user-menu.ts'
import type { HelpTopic } from '../frame/help.ts'
import { appLayout, type Crumb } from '../frame/layout.ts'

/** The props that every page of the workspace gets. */
export type WorkspacePageBase = { user: PageUser; notices?: readonly Notice[] }

type Frame = {
  place: MainPlace
  title: string
  about?: Content
  aside?: Content
  crumbs?: readonly Crumb[]
}

const HELP: Readonly<Record<MainPlace, HelpTopic>> = {
  projects: 'projects',
  account: 'your-account',
  users: 'users',
  groups: 'groups',
  keys: 'api-keys',
  settings: 'settings-of-the-workspace',
  analytics: 'analytics',
  logs: 'requests',
  audit: 'audit-log',
  storage: 'storage',
  machines: 'machines',
  certificates: 'certificates',
  backups: 'backups',
  health: 'health',
  webhooks: 'webhooks',
}

/** The frame of the pages for global admins. */
export const workspaceFrame = (base: WorkspacePageBase, frame: Frame, body: Content): Html =>
  appLayout(
    {
      title: frame.title,
      user: base.user,
      nav: mainNav(base.user, frame.place),
      help: HELP[frame.place],
      crumbs: frame.crumbs ?? [],
      notices: base.notices ?? [],
    },
    html`
      <header class="page-head">
        <div>
          <h1>${frame.title}</h1>
          ${frame.about && html`<p class="muted">${frame.about}</p>`}
        </div>
        ${frame.aside}
      </header>
      <div class="cards">${body}</div>
    `,
  )
