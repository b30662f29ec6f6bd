import { type Html, html } from './html.ts'
import { type IconName, icon } from './icon.ts'
import type { PageUser } from './user-menu.ts'

type NavItem = { label: string; href: string; icon: IconName; isCurrent?: boolean }
export type NavSection = { label?: string; items: readonly NavItem[] }

export type MainPlace = 'projects' | 'account' | WorkspacePlace
type WorkspacePlace =
  | 'users'
  | 'groups'
  | 'keys'
  | 'settings'
  | 'analytics'
  | 'logs'
  | 'audit'
  | 'storage'
  | 'machines'
  | 'certificates'
  | 'backups'
  | 'health'
  | 'webhooks'

const WORKSPACE: readonly [place: WorkspacePlace, label: string, href: string, icon: IconName][] = [
  ['users', 'Users', '/admin/users', 'people'],
  ['groups', 'Groups', '/admin/groups', 'group'],
  ['keys', 'API keys', '/keys', 'key'],
  ['settings', 'Settings', '/admin/settings/auth', 'cog'],
  ['webhooks', 'Webhooks', '/admin/webhooks', 'rules'],
  ['analytics', 'Analytics', '/admin/analytics', 'chart'],
  ['logs', 'Requests', '/admin/logs', 'list'],
  ['audit', 'Audit log', '/admin/audit', 'clock'],
  ['storage', 'Storage', '/admin/storage', 'storage'],
  ['machines', 'Machines', '/admin/machines', 'machines'],
  ['certificates', 'Certificates', '/admin/certificates', 'lock'],
  ['backups', 'Backups', '/admin/backups', 'upload'],
  ['health', 'Health', '/admin/health', 'health'],
]

/** The navigation of the admin host. Only global admins see the workspace (spec: Global roles; contract §7), and guests nothing of it. */
export function mainNav(user: PageUser, place: MainPlace | undefined): NavSection[] {
  const item = (at: MainPlace, label: string, href: string, icon: IconName): NavItem => ({
    label,
    href,
    icon,
    isCurrent: place === at,
  })
  const workspace: NavSection = { label: 'Workspace', items: WORKSPACE.map((entry) => item(...entry)) }
  return [
    ...(user.isGuest ? [] : [{ items: [item('projects', 'Projects', '/', 'projects')] }]),
    ...(user.role === 'admin' ? [workspace] : []),
    { items: [item('account', 'Your account', '/account', 'account')] },
  ]
}

export const navSection = ({ label, items }: NavSection): Html => html`
  <div class="nav-section">
    ${label && html`<p class="nav-label">${label}</p>`}
    <ul>${items.map(navItem)}</ul>
  </div>
`

const navItem = (item: NavItem): Html => html`
  <li>
    <a href=${item.href} aria-current=${item.isCurrent ? 'page' : undefined}>${icon(item.icon)}${item.label}</a>
  </li>
`
