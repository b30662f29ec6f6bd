import type { AttentionItem } from '../../src/modules/attention/service.ts'
import { attentionBadge, attentionCard } from '../components/attention.ts'
import { badge, visibilityBadge } from '../components/badge.ts'
import { linkButton } from '../components/button.ts'
import { emptyState } from '../components/empty-state.ts'
import { field } from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { mainNav } from '../components/main-nav.ts'
import type { Notice, Tone } from '../components/notice.ts'
import { pagination } from '../components/pagination.ts'
import { searchForm } from '../components/search-form.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import type { PageUser } from '../components/user-menu.ts'
import { type PublishPanelProps, publishPanel } from '../deployments/publish-panel.ts'
import { appLayout } from '../frame/layout.ts'
import { queryText } from '../frame/project-request.ts'

/** A problem to look at, and the project page with the details. */
export type HealthPoint = { tone: Tone; label: string; page: 'errors' | 'deployments' | 'domains' }

export type ProjectRow = {
  id: string
  owner: string
  name: string
  displayName: string
  isPublic: boolean
  /** The site's address; null while nothing is published. */
  url: string | null
  lastDeploymentAt: string | null
  /** Empty if there are no problems; null while nothing is published and for people who may only view the site. */
  health: readonly HealthPoint[] | null
  /** Its page in the admin; null for people who may only view the site. */
  pageUrl: string | null
}

type HomePageProps = {
  user: PageUser
  /** One page of the projects that were found. */
  projects: readonly ProjectRow[]
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

/** The list of projects, searched by `q`. */
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

const found = ({ projects, search, page, pages, total }: HomePageProps): Html => html`
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
      : table<ProjectRow>({ caption: 'Projects', rows: projects, columns: columnsFor(projects) })
  }
  ${pagination({ page, pages, total, hrefOf: (to) => `/${queryText({ q: search, page: to })}` })}
`

const noProjects = ({ panel }: HomePageProps): Html =>
  panel === null
    ? emptyState({
        icon: 'projects',
        title: 'No projects yet',
        text: 'You see a project here once its owner gives you a role on it. The sites you belong to are listed in your account.',
      })
    : publishPanel(panel)

/** Guests of all of them see neither when something was published nor how it fares: columns without any value. */
const columnsFor = (projects: readonly ProjectRow[]): Column<ProjectRow>[] =>
  projects.some(({ pageUrl }) => pageUrl !== null)
    ? COLUMNS
    : COLUMNS.filter(({ label }) => label !== 'Last deployment' && label !== 'Health')

const COLUMNS: Column<ProjectRow>[] = [
  {
    label: 'Project',
    cell: (project) => html`
      ${
        project.pageUrl === null
          ? html`<strong>${titleOf(project)}</strong>`
          : html`<a href=${project.pageUrl}><strong>${titleOf(project)}</strong></a>`
      }
      ${hasOwnTitle(project) && html`<div class="muted small">${fullName(project)}</div>`}
    `,
  },
  { label: 'Visibility', cell: (project) => visibilityBadge(project.isPublic) },
  {
    label: 'Last deployment',
    cell: (project) => time(project.lastDeploymentAt, project.pageUrl === null ? '–' : 'Not yet'),
  },
  { label: 'Health', cell: healthCell },
  {
    label: 'Site',
    align: 'end',
    cell: (project) =>
      project.url === null
        ? html`<span class="muted">Not published</span>`
        : html`<a href=${project.url} aria-label=${`Visit ${titleOf(project)}`}>Visit</a>`,
  },
]

/** Two owners may each have a project of one name. */
const titleOf = (project: ProjectRow): string =>
  hasOwnTitle(project) ? project.displayName : fullName(project)

const hasOwnTitle = ({ displayName, name }: ProjectRow): boolean => displayName !== name

const fullName = ({ owner, name }: ProjectRow): string => `${owner}/${name}`

function healthCell({ health, pageUrl }: ProjectRow): Content {
  if (health === null) return html`<span class="muted">–</span>`
  if (health.length === 0) return badge('Good', 'good')
  return html`<div>${health.map(
    ({ tone, label, page }) => html`<a href=${`${pageUrl}/${page}`}>${badge(label, tone)}</a> `,
  )}</div>`
}
