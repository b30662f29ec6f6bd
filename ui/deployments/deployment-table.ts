import { deploymentName, type Named } from '../../src/domain/deployment-name.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import { badge } from '../components/badge.ts'
import { formatCount } from '../components/chart.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { picture } from '../components/picture.ts'
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

/** `pictures`: their addresses by id, null for a letter; without it the rows show none. */
export const deploymentTable = (
  rows: readonly DeploymentView[],
  { caption = 'Deployments', pictures, actions }: TableOptions = {},
): Html =>
  table<DeploymentView>({
    caption,
    isDense: true,
    rows,
    columns: [
      nameColumn(pictures),
      ...COLUMNS,
      ...(actions === undefined
        ? []
        : [
            {
              label: 'Actions',
              hideLabel: true,
              align: 'end' as const,
              cell: (row: DeploymentView) => html`<div class="actions">${actions(row)}</div>`,
            },
          ]),
    ],
  })

type TableOptions = {
  caption?: string
  pictures?: PictureAddresses | undefined
  /** What can be done with a row. */
  actions?: (deployment: DeploymentView) => Content
}

export type PictureAddresses = Readonly<Record<string, string | null>>

const nameColumn = (pictures: PictureAddresses | undefined): Column<DeploymentView> => ({
  label: 'Deployment',
  cell: (deployment) =>
    pictures === undefined
      ? named(deployment)
      : html`
          <div class="pictured">
            ${picture({ name: deployment.repo, src: pictures[deployment.id] ?? null })}
            <div>${named(deployment)}</div>
          </div>
        `,
})

const named = (deployment: DeploymentView): Html => html`
      <div class="clip">${deploymentLink(deployment.projectId, deployment)}</div>
      <div class="muted small">${commit(deployment.commitSha)}</div>
      ${!deployment.isLatest && html`<div class="muted small">The commit has a newer version</div>`}
`

const COLUMNS: Column<DeploymentView>[] = [
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
]

/** The name of whoever did something, if it is still known. */
export function makerName({ kind, name }: { kind: string; name: string | null }): string {
  if (kind === 'operator') return 'The server'
  if (name === null) return kind === 'key' ? 'A deleted key' : 'A deleted account'
  return kind === 'key' ? `Key ${name}` : name
}
