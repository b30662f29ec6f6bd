import { type Content, type Html, html } from '../components/html.ts'
import { mainNav } from '../components/main-nav.ts'
import type { PageUser } from '../components/user-menu.ts'
import type { ErrorPageProps } from './error.ts'
import { appLayout } from './layout.ts'
import { type ProjectPageBase, projectFrame, projectHref } from './project-frame.ts'

/** A failure on a page of the project, for somebody who may open the project. */
export const projectFailurePage = (
  base: ProjectPageBase,
  { status, title, message, hint }: ErrorPageProps,
): Html =>
  projectFrame(
    base,
    { tab: undefined, title, about: errorStatus(status) },
    html`
      <section class="card">
        ${words(message, status === 403 ? whoToAsk(base.project.id) : hint)}
        <p><a href=${projectHref(base.project.id)}>Go to ${base.project.displayName}</a></p>
      </section>
    `,
  )

/** A failure anywhere else in the admin, for somebody who is signed in. */
export const adminFailurePage = (user: PageUser, { status, title, message, hint }: ErrorPageProps): Html =>
  appLayout(
    { title, user, nav: mainNav(user, undefined), help: 'projects' },
    html`
      <header class="page-head"><div><h1>${title}</h1>${errorStatus(status)}</div></header>
      <section class="card">
        ${words(message, hint)}
        <p><a href="/">Go to the start page</a></p>
      </section>
    `,
  )

const errorStatus = (status: number): Html => html`<p class="muted">Error ${status}</p>`

const words = (message: string, hint: Content): Html => html`
  <p>${message}</p>
  ${hint && html`<p class="muted">${hint}</p>`}
`

const whoToAsk = (projectId: string): Html => html`
  An owner or admin of the project can give you that role. They are listed
  under <a href=${projectHref(projectId, '/people')}>People</a>.
`
