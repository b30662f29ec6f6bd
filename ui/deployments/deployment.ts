import { deploymentName } from '../../src/domain/deployment-name.ts'
import type { AliasView } from '../../src/modules/aliases/service.ts'
import type { Differing } from '../../src/modules/compare/service.ts'
import type { Held } from '../../src/modules/deployments/publish/held.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import type { ReportView } from '../../src/modules/reports/model.ts'
import { endOf } from '../aliases/previews.ts'
import { compareHref } from '../compare/compare-href.ts'
import { badge } from '../components/badge.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { formatCount } from '../components/chart.ts'
import { confirmDialog } from '../components/confirm.ts'
import { details } from '../components/details.ts'
import { field, fieldError, hidden, lineError } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { picture } from '../components/picture.ts'
import { commit } from '../components/sha.ts'
import { sides } from '../components/sides.ts'
import { formatSize } from '../components/size.ts'
import { formatTime, time } from '../components/time.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { heldRelease } from '../releases/held-release.ts'
import { comparisonList, comparisonSummary } from './comparison.ts'
import { deploymentHref, deploymentLink, deploymentTable, makerName } from './deployment-table.ts'
import { noStartPageNotice, type WayBack } from './no-start-page.ts'
import { promoteDialog } from './promote.ts'
import { reportCard } from './report.ts'

type DeploymentPageProps = ProjectPageBase & {
  deployment: DeploymentView
  /** The link to its host for this person. */
  visitUrl: string
  /** Production showed it before what it shows now. */
  wasLive?: boolean
  /** Of its picture; null for a letter. */
  pictureUrl?: string | null
  /** To what its aliases showed before; null if it has a start page itself. */
  waysBack: readonly WayBack[] | null
  aliases: readonly AliasView[]
  /** All of its commit, the newest first. */
  versions: readonly DeploymentView[]
  /**
   * The differences from the deployment that its alias showed before, or, while it is not live, from the one that is
   * live as `liveAs` and may be newer. Null if there is none.
   */
  before: { deployment: DeploymentView; liveAs: string | null; comparison: Differing } | null
  /** A release to it that its checks held back. */
  held?: Held | null
  /** Null for one that was published before there were reports. */
  report?: ReportView | null
  failed?: Failed | undefined
}

/** One deployment. Sends `intent=create-alias` with `name`, `intent=release` or `intent=delete`. */
export const deploymentPage = (props: DeploymentPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'deployments',
      title: deploymentName(props.deployment),
      crumbs: [{ label: 'Deployments', href: projectHref(props.project.id, '/deployments') }],
      about: html`<p class="muted">${commit(props.deployment.commitSha)}</p>`,
      aside: html`
        <div class="actions">
          ${linkButton({ label: 'Files', href: filesHref(props), kind: 'secondary' })}
          ${linkButton({
            label: 'Compare',
            href: compareHref(props.project.id, { to: String(props.deployment.number) }),
            kind: 'secondary',
          })}
          ${linkButton({ label: `Open #${props.deployment.number}`, href: props.visitUrl, kind: isLive(props) ? 'primary' : 'secondary' })}
          ${props.can.moveAliases && !isLive(props) && promoteDialog(props.deployment, { isBack: props.wasLive ?? false }, 'primary')}
        </div>
      `,
    },
    html`
      ${['delete', 'promote'].includes(props.failed?.intent ?? '') && props.failed && notice({ tone: 'bad', message: props.failed.error.message, live: true })}
      ${props.waysBack !== null && noStartPageNotice(props.waysBack, props.can)}
      ${props.held && heldRelease(props.held, props.can.moveAliases, failedRelease(props))}
      ${props.report && reportCard(props.project.id, props.deployment.number, props.report)}
      ${sides(facts(props), releases(props))} ${versions(props)} ${differences(props)}
      ${props.can.deleteDeployments && removal(props)}
    `,
  )

const isLive = ({ deployment }: DeploymentPageProps): boolean => deployment.aliases.length > 0

const failedRelease = ({ failed }: DeploymentPageProps): string | undefined =>
  failed?.intent === 'release' ? failed.error.message : undefined

const filesHref = ({ project, deployment }: DeploymentPageProps): string =>
  deploymentHref(project.id, deployment.number, '/files')

const facts = ({ deployment, pictureUrl, project }: DeploymentPageProps): Html =>
  card(
    { id: 'facts', title: 'About this deployment' },
    html`${picture({ name: project.displayName, src: pictureUrl ?? null, size: 'large' })}
    ${details([
      ['Commit', html`<code>${deployment.commitSha}</code>`],
      ['Description', deployment.description !== deployment.title && described(deployment.description)],
      ['Version', `${deployment.version}${deployment.isLatest ? '' : ', and the commit has a newer one'}`],
      [
        'Changes on',
        deployment.baseSha !== null &&
          html`<code>${deployment.baseSha}</code>, which has other content: it was published from a changed working tree`,
      ],
      ['Branch', deployment.branch],
      ['Preview', deployment.preview],
      ['Published', time(deployment.createdAt)],
      [
        'Added to',
        formatTime(deployment.updatedAt) !== formatTime(deployment.createdAt) && time(deployment.updatedAt),
      ],
      ['By', makerName(deployment.createdBy)],
      ['Run', runOf(deployment)],
      ['Files', `${formatCount(deployment.fileCount)}, together ${formatSize(deployment.totalSize)}`],
      ['Address', html`<a href=${deployment.urls.version}>${deployment.urls.version}</a>`],
      [
        'Of the commit',
        html`<a href=${deployment.urls.preview}>${deployment.urls.preview}</a>, which shows its newest version`,
      ],
    ])}`,
  )

const described = (description: string | null): Html | null =>
  description === null ? null : html`<span class="as-written">${description}</span>`

const runOf = ({ workflowName, workflowRunId }: DeploymentView): string | null =>
  [workflowName, workflowRunId].filter((part) => part !== null).join(', run ') || null

/** Nothing while there is only this one. */
const versions = ({ deployment, versions }: DeploymentPageProps): Html | false =>
  versions.length > 1 &&
  card(
    {
      id: 'versions',
      title: `${formatCount(versions.length)} versions of this commit`,
      about: 'Each publish that changed something made one. An alias stays at its version until it is moved.',
    },
    deploymentTable(versions, { caption: `Versions of ${deployment.commitSha.slice(0, 12)}` }),
  )

/** With more aliases than this, move them from their own pages. */
const MAX_ALIASES = 8

function releases({ project, can, deployment, aliases, failed }: DeploymentPageProps): Html {
  const here = aliases.filter(({ deploymentId }) => deploymentId === deployment.id)
  const others = aliases.filter(({ deploymentId }) => deploymentId !== deployment.id)
  const error = failed?.intent === 'create-alias' ? failed.error : undefined
  return card(
    { id: 'releases', title: 'Live as', about: 'Moving an alias here releases this deployment instantly.' },
    html`
      ${
        here.length === 0
          ? html`<p class="muted">No alias points here.</p>`
          : html`<p class="facts">${here.map(
              (alias) =>
                html`${badge(alias.name, 'good')} <a href=${alias.url}>${alias.url}</a>${
                  alias.isPreview && html` <span class="muted">Ends: ${endOf(alias)}</span>`
                }`,
            )}</p>`
      }
      ${
        can.moveAliases &&
        others.length > 0 &&
        html`
          <div class="actions">
            ${others.slice(0, MAX_ALIASES).map((alias) =>
              linkButton({
                label: `Move ${alias.name} here`,
                href: `${projectHref(project.id, `/aliases/${alias.id}/move`)}?to=${deployment.id}`,
                kind: 'secondary',
              }),
            )}
          </div>
        `
      }
      ${
        can.moveAliases &&
        html`
          ${lineError(error)}
          <form method="post" class="inline-form">
            ${hidden('intent', 'create-alias')}
            ${field({
              name: 'name',
              label: 'New alias',
              value: failed?.values['name'],
              error: fieldError(error, 'name'),
              placeholder: 'staging',
              verbatim: true,
            })}
            ${button({ label: 'Create alias', kind: 'secondary' })}
          </form>
        `
      }
    `,
  )
}

const differences = ({ project, deployment, before }: DeploymentPageProps): Html | null =>
  before === null
    ? null
    : card(
        {
          id: 'differences',
          title: comparisonSummary(before.comparison.counts),
          about: html`
            ${before.liveAs === null ? 'Since' : 'Compared with'}${' '}
            ${deploymentLink(project.id, before.deployment)}${
              before.liveAs !== null && `, which is live as ${before.liveAs}`
            }
          `,
        },
        comparisonList(before.comparison, {
          projectId: project.id,
          from: String(before.deployment.number),
          to: String(deployment.number),
        }),
      )

function removal({ deployment }: DeploymentPageProps): Html {
  const isLive = deployment.aliases.length > 0
  return card(
    {
      id: 'removal',
      title: 'Delete',
      about: isLive
        ? `It is live as ${deployment.aliases.join(', ')}. Move or delete the alias first.`
        : 'Its address stops working, and you can no longer roll back to it. Other versions of the commit stay.',
    },
    isLive
      ? null
      : confirmDialog(
          {
            id: 'delete-deployment',
            opener: 'Delete this deployment',
            openerKind: 'danger',
            title: `Delete ${deploymentName(deployment)}?`,
            text: 'This cannot be undone.',
            confirm: 'Delete the deployment',
          },
          hidden('intent', 'delete'),
        ),
  )
}
