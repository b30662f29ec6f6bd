import { isOwnerName } from '../../src/domain/names.ts'
import { type Html, html } from '../components/html.ts'
import { mainNav } from '../components/main-nav.ts'
import type { PageUser } from '../components/user-menu.ts'
import { type PublishPanelProps, publishPanel } from '../deployments/publish-panel.ts'
import { appLayout } from '../frame/layout.ts'

export type NewProjectPageProps = { user: PageUser; panel: PublishPanelProps }

/** Publishes to a project that it makes, or makes it alone. */
export const newProjectPage = ({ user, panel }: NewProjectPageProps): Html =>
  appLayout(
    {
      title: 'New project',
      user,
      nav: mainNav(user, 'projects'),
      crumbs: [{ label: 'Projects', href: '/' }],
      help: 'publish',
    },
    html`
      <header class="page-head"><h1>New project</h1></header>
      <div class="cards">${publishPanel(panel)}</div>
    `,
  )

/** The name in the email, with what an owner's name cannot have left out; empty where nothing is left. */
export function ownerFor(email: string): string {
  const name = email
    .slice(0, email.lastIndexOf('@'))
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return isOwnerName(name) ? name : ''
}
