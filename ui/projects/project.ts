import type { PreviewView } from '../../src/modules/aliases/previews.ts'
import type { AliasView, HistoryView } from '../../src/modules/aliases/service.ts'
import type { ProjectAnalytics } from '../../src/modules/analytics/service.ts'
import type { AttentionItem } from '../../src/modules/attention/service.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import type { QuotaView } from '../../src/modules/quotas/service.ts'
import { ALIAS_COLUMNS, aliasHref } from '../aliases/aliases.ts'
import { previewsCard } from '../aliases/previews.ts'
import { rollBackDialog } from '../aliases/roll-back-dialog.ts'
import { attentionCard } from '../components/attention.ts'
import { visibilityBadge } from '../components/badge.ts'
import { linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { barChart, countOf } from '../components/chart.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { picture } from '../components/picture.ts'
import { roleLabel } from '../components/role.ts'
import { sides } from '../components/sides.ts'
import { type Column, table } from '../components/table.ts'
import { day, time } from '../components/time.ts'
import { deploymentLink, deploymentTable, type PictureAddresses } from '../deployments/deployment-table.ts'
import { type PublishPageProps, publishCards } from '../deployments/publish.ts'
import { waitingForFirst } from '../deployments/publish-panel.ts'
import { projectFrame, projectHref } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { usage } from '../retention/quota.ts'
import { purgeCard } from './cdn.ts'

type ProjectPageProps = PublishPageProps & {
  /** Those that changed last, first. */
  aliases: readonly AliasView[]
  aliasCount: number
  /** Of `production`, newest first; empty for those who may not move it. */
  history?: readonly HistoryView[]
  /** The soonest end first. */
  previews: readonly PreviewView[]
  refused?: Failed | undefined
  /** Newest first. */
  deployments: readonly DeploymentView[]
  /** Those of the deployments, by id, and that of what is live. */
  pictures?: PictureAddresses | undefined
  pictureUrl?: string | null
  deploymentCount: number
  /** The visits of the last days, for people who may see them. */
  visits?: Visits | undefined
  /** Only where there is a limit. */
  quota?: QuotaView | undefined
  /** The address to give to others. */
  address?: string | null
  needsAttention?: readonly AttentionItem[]
  /** There is a CDN, and who looks may purge it. */
  canPurge?: boolean
}

export type Visits = Pick<ProjectAnalytics, 'series' | 'totals'>

/** What is live and where, the latest deployments, and what needs attention. */
export const projectPage = (props: ProjectPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'overview',
      title: props.project.displayName,
      about: facts(props),
      aside: html`
        <div class="actions">
          ${
            props.can.publish &&
            props.deployments.length > 0 &&
            linkButton({ label: 'Publish', href: projectHref(props.project.id, '/publish') })
          }
          ${
            props.project.url !== null &&
            html`
              ${linkButton({ label: 'Open the site', href: props.project.url, kind: 'secondary' })}
              ${props.address && html`<button type="button" class="btn btn-secondary" data-copy=${props.address} hidden>Copy address</button>`}
            `
          }
          ${rollBack(props)}
        </div>
      `,
    },
    props.deployments.length === 0 ? firstUpload(props) : published(props),
  )

function rollBack({ project, aliases, history = [] }: ProjectPageProps): Html | false {
  const production = aliases.find(isProduction)
  if (production === undefined) return false
  const href = aliasHref(project.id, production.id)
  return rollBackDialog({ id: production.id, href, name: `Roll back ${production.name}`, history })
}

export const isProduction = ({ name }: Pick<AliasView, 'name'>): boolean => name === 'production'

const facts = ({ project }: ProjectPageProps): Html => html`
  <p class="facts muted">
    <span>${project.owner}/${project.name}</span>
    ${visibilityBadge(project.isPublic)}
    ${!project.isPublic && html`<span>Visible to: ${roleLabel(project.requiredRole)} or higher</span>`}
    <span>Your role: ${roleLabel(project.role ?? 'guest')}</span>
    <span>Created ${day(project.createdAt)}</span>
  </p>
`

const firstUpload = (props: ProjectPageProps): Html => html`
  ${card(
    {
      id: 'publish',
      title: 'Nothing is published yet',
      about: 'Publish in one of these ways. The first deployment appears on this page.',
    },
    waitingForFirst(props.project.id),
  )}
  ${publishCards(props)}
`

const published = (props: ProjectPageProps): Html => html`
  ${attentionCard(props.needsAttention ?? [])}
  ${attention(props)}
  ${sides(live(props), latest(props))} ${previewsCard(props)}
  ${sides(
    props.visits !== undefined && visits(props.project.id, props.visits),
    props.quota !== undefined && quotaOf(props.project.id, props.quota),
    props.canPurge === true && purgeCard(),
  )}
`

const live = (props: ProjectPageProps): Html =>
  card(
    {
      id: 'live',
      title: 'Live',
      about: 'Names that point at a deployment. Moving one is a release.',
      aside:
        props.aliasCount > MAX_ALIASES &&
        html`<a href=${projectHref(props.project.id, '/aliases')}>All ${props.aliasCount}</a>`,
    },
    props.aliases.length === 0
      ? html`<p class="muted">Nothing is live: no alias points at a deployment.</p>`
      : html`
          ${picture({ name: props.project.displayName, src: props.pictureUrl ?? null, size: 'large' })}
          ${table<AliasView>({ caption: 'Live aliases', rows: liveRows(props.aliases), columns: COLUMNS })}
        `,
  )

const latest = (props: ProjectPageProps): Html =>
  card(
    {
      id: 'latest',
      title: 'Latest deployments',
      aside: html`
        <a href=${projectHref(props.project.id, '/deployments')}>All ${props.deploymentCount}</a>
      `,
    },
    deploymentTable(props.deployments, { pictures: props.pictures }),
  )

const MAX_ALIASES = 5

/** `production` first, wherever it last moved. Previews have a card of their own. */
const liveRows = (aliases: readonly AliasView[]): AliasView[] => {
  const isMain = ({ name }: AliasView) => name === 'production'
  const isOther = (one: AliasView) => !isMain(one) && !one.isPreview
  return [...aliases.filter(isMain), ...aliases.filter(isOther)].slice(0, MAX_ALIASES)
}

const visits = (projectId: string, { series, totals }: Visits): Html =>
  card(
    {
      id: 'visits',
      title: 'Visits',
      about: `${countOf(totals.views, 'view')} and ${countOf(totals.visitors, 'visitor')} in two weeks, excluding bots.`,
      aside: html`<a href=${projectHref(projectId, '/analytics')}>Analytics</a>`,
    },
    totals.views === 0
      ? html`<p class="muted">No visits yet.</p>`
      : barChart({
          label: 'Views',
          points: series.map(({ at, views }) => ({ at, value: views })),
          isHourly: false,
        }),
  )

const quotaOf = (projectId: string, view: QuotaView): Html =>
  card(
    {
      id: 'quota',
      title: 'Quota',
      aside: html`<a href=${projectHref(projectId, '/retention')}>Retention</a>`,
    },
    html`<div class="stack narrow">${usage(view)}</div>`,
  )

const COLUMNS: Column<AliasView>[] = [
  ...ALIAS_COLUMNS,
  { label: 'Changed', align: 'end', cell: (alias) => time(alias.updatedAt) },
]

/** Warnings about the project; null if there are none. */
function attention({ project, can, aliases, deployments }: ProjectPageProps): Html | null {
  const [newest] = deployments
  const points: Content[] = []
  const release = can.moveAliases ? 'Point an alias at it to release it.' : 'A contributor can release it.'
  if (newest !== undefined && newest.aliases.length === 0)
    points.push(html`
      The newest deployment, ${deploymentLink(project.id, newest)}, is
      not live. ${release}
    `)
  for (const alias of aliases.filter(({ isLocked }) => isLocked))
    points.push(html`
      <a href=${projectHref(project.id, `/aliases/${alias.id}`)}>${alias.name}</a> is locked, so uploads do not move it.
    `)
  if (points.length === 0) return null
  return html`<div class="stack">${points.map((message) => notice({ tone: 'warn', message }))}</div>`
}
