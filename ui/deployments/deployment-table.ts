import { deploymentName, type Named } from '../../src/domain/deployment-name.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import { compareHref } from '../compare/compare-href.ts'
import { badge } from '../components/badge.ts'
import { formatCount } from '../components/chart.ts'
import { type Html, html } from '../components/html.ts'
import { commit } from '../components/sha.ts'
import { formatSize } from '../components/size.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { projectHref } from '../frame/project-frame.ts'

export const deploymentHref = (projectId: string, number: number, rest = ''): string =>
  projectHref(projectId, `/deployments/${number}${rest}`)

/** `#12 Title`, with the way to its page. */
export const deploymentLink = (projectId: string, named: Named): Html =>
  html`<a href=${deploymentHref(projectId, named.number)}><bdi>${deploymentName(named)}</bdi></a>`

export const deploymentTable = (rows: readonly DeploymentView[], caption = 'Deployments'): Html =>
  table<DeploymentView>({ caption, isDense: true, rows, columns: COLUMNS })

const COLUMNS: Column<DeploymentView>[] = [
  {
    label: 'Deployment',
    cell: (deployment) => html`
      <div class="clip">${deploymentLink(deployment.projectId, deployment)}</div>
      <div class="muted small">${commit(deployment.commitSha)}</div>
      ${!deployment.isLatest && html`<div class="muted small">The commit has a newer version</div>`}
    `,
  },
  {
    label: 'Branch',
    cell: ({ branch }) =>
      branch === null
        ? html`<span class="muted">None</span>`
        : html`<div class="clip" title=${branch}>${branch}</div>`,
  },
  {
    label: 'Live as',
    cell: ({ aliases }) =>
      aliases.length === 0
        ? html`<span class="muted">Not live</span>`
        : html`<span class="facts">${aliases.map((name) => badge(name, 'good', name))}</span>`,
  },
  { label: 'Files', align: 'end', cell: (deployment) => formatCount(deployment.fileCount) },
  { label: 'Size', align: 'end', cell: (deployment) => formatSize(deployment.totalSize) },
  {
    label: 'Published',
    align: 'end',
    cell: ({ createdAt, createdBy }) => html`
      <div>${time(createdAt)}<div class="muted small clip">${makerName(createdBy)}</div></div>
    `,
  },
  {
    label: 'Actions',
    hideLabel: true,
    align: 'end',
    cell: ({ projectId, number }) => html`
      <a
        class="btn btn-secondary btn-small"
        href=${compareHref(projectId, { to: String(number) })}
        aria-label=${`Compare #${number}`}
      >Compare</a>
    `,
  },
]

/** The name of whoever did something, if it is still known. */
export function makerName({ kind, name }: { kind: string; name: string | null }): string {
  if (kind === 'operator') return 'The server'
  if (name === null) return kind === 'key' ? 'A deleted key' : 'A deleted account'
  return kind === 'key' ? `Key ${name}` : name
}
