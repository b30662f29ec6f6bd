import type { Overview, ProjectAnalytics, WorkspaceAnalytics } from '../../src/modules/analytics/service.ts'
import { card } from '../components/card.ts'
import { barChart, formatCount } from '../components/chart.ts'
import { emptyState } from '../components/empty-state.ts'
import { selectField } from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { searchForm } from '../components/search-form.ts'
import { formatSize } from '../components/size.ts'
import { type Column, table } from '../components/table.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import { type WorkspacePageBase, workspaceFrame } from '../workspace/frame.ts'
import { type MissingProps, missingCard } from './missing.ts'

/** The periods to choose from, in days, as the form sends them. */
export const PERIODS = ['1', '7', '30', '90'] as const
export type Period = (typeof PERIODS)[number]

type ProjectAnalyticsPageProps = ProjectPageBase &
  MissingProps & { period: Period; analytics: ProjectAnalytics }

/** What visitors did on the sites of one project. Sends `intent=redirect` with `path` and `target`. */
export const projectAnalyticsPage = (props: ProjectAnalyticsPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'analytics',
      title: 'Analytics',
      about: html`<p class="muted">Counted by the server, without cookies or scripts. Bots are counted separately.</p>`,
    },
    html`
      ${periodForm(props.period)}
      ${
        props.analytics.totals.requests === 0
          ? nothing
          : html`
              ${overview(props.analytics)}
              <div class="pairs">
                ${names(
                  'pages',
                  ['Pages', 'Page', 'Views'],
                  props.analytics.pages.map(({ path, views }) => [path, views]),
                )}
                ${names(
                  'referrers',
                  ['Referrers', 'Site', 'Views'],
                  props.analytics.referrers.map(({ host, views }) => [host, views]),
                )}
                ${statuses(props.analytics)}
              </div>
              ${missingCard(props)}
            `
      }
    `,
  )

type WorkspaceAnalyticsPageProps = WorkspacePageBase & {
  period: Period
  analytics: WorkspaceAnalytics
}

/** The same for the whole workspace. */
export const workspaceAnalyticsPage = (props: WorkspaceAnalyticsPageProps): Html =>
  workspaceFrame(
    props,
    {
      place: 'analytics',
      title: 'Analytics',
      about: 'All sites and the admin together. Bots are counted separately.',
    },
    html`
      ${periodForm(props.period)}
      ${
        props.analytics.totals.requests === 0
          ? nothing
          : html`
              ${overview(props.analytics)} ${byProject(props.analytics)}
              <div class="pairs">${statuses(props.analytics)}</div>
            `
      }
    `,
  )

const nothing = emptyState({
  icon: 'health',
  title: 'No visits yet',
  text: 'Visits appear here within seconds.',
})

const WORDS = { '1': 'A day', '7': 'A week', '30': '30 days', '90': '90 days' } as const

const periodForm = (period: Period): Html =>
  searchForm(
    'Period',
    selectField({
      name: 'days',
      label: 'Period',
      value: period,
      options: PERIODS.map((value) => ({ value, label: WORDS[value] })),
    }),
    undefined,
    'Show',
  )

function overview({ totals, series, interval }: Overview): Html {
  const isHourly = interval === 'hour'
  const points = (name: 'views' | 'visitors') => series.map((point) => ({ at: point.at, value: point[name] }))
  const figures: [label: string, value: Content][] = [
    [totals.views === 1 ? 'View' : 'Views', formatCount(totals.views)],
    [totals.visitors === 1 ? 'Visitor' : 'Visitors', formatCount(totals.visitors)],
    [totals.requests === 1 ? 'Request' : 'Requests', formatCount(totals.requests)],
    ['By bots', formatCount(totals.bots)],
    ['Sent', formatSize(totals.bytes)],
    ['Not found', formatCount(totals.notFound)],
    [totals.errors === 1 ? 'Error' : 'Errors', formatCount(totals.errors)],
  ]
  return card(
    { id: 'overview', title: 'Visits' },
    html`
      <dl class="figures">${figures.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
      ${totals.views > 0 && barChart({ label: 'Views', points: points('views'), isHourly })}
      ${totals.visitors > 0 && barChart({ label: 'Visitors', points: points('visitors'), isHourly, tone: 2 })}
    `,
  )
}

type Named = readonly [name: string, count: number]
type Words = readonly [title: string, what: string, counted: string]

function names(id: string, [title, what, counted]: Words, rows: readonly Named[]): Html | null {
  if (rows.length === 0) return null
  const columns: Column<Named>[] = [
    { label: what, cell: ([name]) => name },
    { label: counted, align: 'end', cell: ([, count]) => formatCount(count) },
  ]
  return card({ id, title }, table<Named>({ caption: title, rows, columns }))
}

const statuses = ({ statuses: found, botNames }: Overview): Html => html`
  ${names(
    'statuses',
    ['Statuses', 'Status', 'Requests'],
    found.map(({ status, requests }) => [String(status), requests]),
  )}
  ${names(
    'bots',
    ['Bots', 'Bot', 'Requests'],
    botNames.map(({ name, requests }) => [name, requests]),
  )}
`

type ProjectRow = WorkspaceAnalytics['projects'][number]

const byProject = ({ projects }: WorkspaceAnalytics): Html =>
  card(
    { id: 'projects', title: 'Projects' },
    table<ProjectRow>({
      caption: 'Projects',
      rows: projects,
      columns: [
        {
          label: 'Project',
          cell: ({ projectId, owner, name }) =>
            projectId === null
              ? 'The admin'
              : html`<a href=${projectHref(projectId, '/analytics')}>${owner}/${name}</a>`,
        },
        { label: 'Views', align: 'end', cell: ({ views }) => formatCount(views) },
        { label: 'Visitors', align: 'end', cell: ({ visitors }) => formatCount(visitors) },
        { label: 'Requests', align: 'end', cell: ({ requests }) => formatCount(requests) },
        { label: 'Sent', align: 'end', cell: ({ bytes }) => formatSize(bytes) },
      ],
    }),
  )
