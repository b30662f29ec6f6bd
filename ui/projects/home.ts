import type { NamedMove } from '../../src/modules/aliases/service.ts'
import type { AttentionItem } from '../../src/modules/attention/service.ts'
import { aliasHref } from '../aliases/aliases.ts'
import { rollBackDialog } from '../aliases/roll-back-dialog.ts'
import { attentionBadge, attentionBadges, attentionCard } from '../components/attention.ts'
import { badge, visibilityBadge } from '../components/badge.ts'
import { linkButton } from '../components/button.ts'
import { emptyState } from '../components/empty-state.ts'
import { field } from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { mainNav } from '../components/main-nav.ts'
import type { Notice } from '../components/notice.ts'
import { pagination } from '../components/pagination.ts'
import { picture, siteIcon } from '../components/picture.ts'
import { searchForm } from '../components/search-form.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import type { PageUser } from '../components/user-menu.ts'
import { type PublishPanelProps, publishPanel } from '../deployments/publish-panel.ts'
import { appLayout } from '../frame/layout.ts'
import { projectHref } from '../frame/project-frame.ts'
import { queryText } from '../frame/project-request.ts'

export type ProjectRow = {
  id: string
  owner: string
  name: string
  displayName: string
  isPublic: boolean
  /** The site's address; null while nothing is published. */
  url: string | null
  lastDeploymentAt: string | null
  /** What the person may look at in it. */
  attention: readonly AttentionItem[]
  /** The address to give to others; null while nothing is published. */
  address: string | null
  pictureUrl: string | null
  iconUrl: string | null
  /** The alias `production` and its history, for those who may move it. */
  production: { id: string; history: readonly NamedMove[] } | null
}

export type View = 'cards' | 'list'

type HomePageProps = {
  user: PageUser
  /** One page of the projects that were found. */
  projects: readonly ProjectRow[]
  view: View
  /** The search text; empty for all projects. */
  search: string
  page: number
  pages: number
  total: number
  /** Publishes to a project that it makes; null for those who may not make one. */
  panel: PublishPanelProps | null
  /** Of all projects, whatever the page and the search. */
  attention?: readonly AttentionItem[]
  /** Names of the projects in it, by id. */
  namesById?: ReadonlyMap<string, string>
  notices?: readonly Notice[]
}

/** The projects, as cards or as a list, searched by `q`. */
export const homePage = (props: HomePageProps): Html =>
  appLayout(
    {
      title: 'Projects',
      user: props.user,
      nav: mainNav(props.user, 'projects'),
      help: 'projects',
      notices: props.notices ?? [],
    },
    html`
      <header class="page-head">
        <div>
          <h1>Projects</h1>
          ${attentionBadge(props.attention?.length ?? 0)}
        </div>
        ${props.panel !== null && !isEmpty(props) && newProject}
      </header>
      <div class="cards">
        ${attentionCard(props.attention ?? [], ({ projectId }) =>
          projectId === null ? 'Workspace' : (props.namesById?.get(projectId) ?? ''),
        )}
        ${isEmpty(props) ? noProjects(props) : found(props)}
      </div>
    `,
  )

const isEmpty = ({ total, search }: HomePageProps): boolean => total === 0 && search === ''

const newProject = linkButton({ label: 'New project', href: '/projects/new' })

const found = ({ projects, view, search, page, pages, total }: HomePageProps): Html => html`
  ${viewLinks(view, search)}
  ${searchForm(
    'Projects',
    field({
      name: 'q',
      id: 'q',
      label: 'Find a project',
      type: 'search',
      value: search,
      required: false,
      isPlain: true,
    }),
    search === '' ? undefined : '/',
  )}
  ${
    projects.length === 0
      ? html`<p class="muted">No project has “${search}” in its name.</p>`
      : view === 'cards'
        ? html`<ul class="card-grid" aria-label="Projects" role="list">${projects.map(projectCard)}</ul>`
        : table<ProjectRow>({ caption: 'Projects', rows: projects, columns: COLUMNS })
  }
  ${pagination({ page, pages, total, hrefOf: (to) => `/${queryText({ q: search, page: to })}` })}
`

const viewLinks = (view: View, search: string): Html => html`
  <div class="actions" role="group" aria-label="View">
    ${(['cards', 'list'] as const).map(
      (one) => html`
        <a href=${`/${queryText({ q: search, view: one })}`} aria-current=${one === view ? 'true' : undefined}
          class="btn btn-quiet btn-small">${one === 'cards' ? 'Cards' : 'List'}</a>
      `,
    )}
  </div>
`

const projectCard = (project: ProjectRow): Html => html`
  <li>
    ${picture({ name: project.displayName, src: project.pictureUrl, size: 'large' })}
    <div>${nameOf(project)}</div>
    <div class="facts muted small">
      ${visibilityBadge(project.isPublic)}
      ${time(project.lastDeploymentAt, 'Not published')} ${healthCell(project)}
    </div>
    <div class="actions">${siteActions(project)}</div>
  </li>
`

/** The way to the site, and its address for others. */
const siteActions = ({ id, displayName, url, address, production }: ProjectRow): Html =>
  url === null || address === null
    ? html`<span class="muted">Not published</span>`
    : html`
        <a class="btn btn-secondary btn-small" href=${url} aria-label=${`Open ${displayName}`}>Open</a>
        <button type="button" class="btn btn-quiet btn-small" data-copy=${address} hidden
          aria-label=${`Copy address of ${displayName}`}>Copy address</button>
        ${
          production !== null &&
          rollBackDialog({
            id: production.id,
            href: aliasHref(id, production.id),
            name: `Roll back ${displayName}`,
            history: production.history,
          })
        }
      `

const noProjects = ({ panel }: HomePageProps): Html =>
  panel === null
    ? emptyState({
        icon: 'projects',
        title: 'No projects yet',
        text: 'You see a project here once its owner gives you a role on it. The sites you belong to are listed in your account.',
      })
    : publishPanel(panel)

const COLUMNS: Column<ProjectRow>[] = [
  {
    label: 'Project',
    cell: (project) => html`
      <div class="pictured">${siteIcon(project.displayName, project.iconUrl)}<div>${nameOf(project)}</div></div>
    `,
  },
  { label: 'Visibility', cell: (project) => visibilityBadge(project.isPublic) },
  {
    label: 'Last deployment',
    cell: (project) => time(project.lastDeploymentAt, 'Not yet'),
  },
  { label: 'Health', cell: healthCell },
  {
    label: 'Site',
    align: 'end',
    cell: (project) => html`<div class="actions">${siteActions(project)}</div>`,
  },
]

const nameOf = (project: ProjectRow): Html => html`
  <a href=${projectHref(project.id)}><strong>${titleOf(project)}</strong></a>
  ${hasOwnTitle(project) && html`<div class="muted small">${fullName(project)}</div>`}
`

/** Two owners may each have a project of one name. */
const titleOf = (project: ProjectRow): string =>
  hasOwnTitle(project) ? project.displayName : fullName(project)

const hasOwnTitle = ({ displayName, name }: ProjectRow): boolean => displayName !== name

const fullName = ({ owner, name }: ProjectRow): string => `${owner}/${name}`

function healthCell({ attention, lastDeploymentAt }: ProjectRow): Content {
  if (attention.length > 0) return html`<div>${attentionBadges(attention)}</div>`
  return lastDeploymentAt === null ? html`<span class="muted">–</span>` : badge('Good', 'good')
}
