import { deploymentName } from '../../src/domain/deployment-name.ts'
import type { AliasView } from '../../src/modules/aliases/service.ts'
import type { ChangeView, ComparisonView } from '../../src/modules/compare/service.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import { card } from '../components/card.ts'
import { emptyState } from '../components/empty-state.ts'
import { selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { pagination } from '../components/pagination.ts'
import { searchForm } from '../components/search-form.ts'
import { formatSize } from '../components/size.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { comparisonSummary, kindOfChange } from '../deployments/comparison.ts'
import { deploymentHref } from '../deployments/deployment-table.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import { compareFileHref, compareHref } from './compare-href.ts'

export type Chosen = { from: string; to: string }

export type ComparisonPageProps = ProjectPageBase & {
  from: DeploymentView
  to: DeploymentView
  /** As they were asked for, or their numbers. */
  chosen: Chosen
  comparison: ComparisonView
  /** To choose from: those that changed last. */
  aliases: readonly AliasView[]
  deployments: readonly DeploymentView[]
}

export const compareTitle = (from: { number: number }, to: { number: number }): string =>
  `Compare #${from.number} with #${to.number}`

/** What differs between two deployments, file by file. */
export const comparisonPage = (props: ComparisonPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'deployments',
      title: compareTitle(props.from, props.to),
      crumbs: [{ label: 'Deployments', href: projectHref(props.project.id, '/deployments') }],
      about: html`<p class="muted">${sideLink(props.from)}, then ${sideLink(props.to)}</p>`,
    },
    html`${choice(props)} ${differences(props)}`,
  )

/** Where there is nothing to choose from. */
export const nothingToComparePage = (props: ProjectPageBase): Html =>
  projectFrame(
    props,
    {
      tab: 'deployments',
      title: 'Compare',
      crumbs: [{ label: 'Deployments', href: projectHref(props.project.id, '/deployments') }],
    },
    emptyState({
      icon: 'upload',
      title: 'Nothing is published yet',
      text: 'Two deployments can be compared as soon as there are any.',
    }),
  )

const sideLink = (side: DeploymentView): Html => html`
  <a href=${deploymentHref(side.projectId, side.number)}>${deploymentName(side)}</a> of ${time(side.createdAt)}
`

const choice = (props: ComparisonPageProps): Html =>
  searchForm(
    'Deployments to compare',
    (['from', 'to'] as const).map((name) =>
      selectField({
        name,
        label: name === 'from' ? 'From' : 'To',
        value: props.chosen[name],
        options: optionsOf(props, props[name], props.chosen[name]),
      }),
    ),
    undefined,
    'Compare',
  )

/** With the one that is chosen, also where it is none of the last. */
function optionsOf(
  { aliases, deployments }: ComparisonPageProps,
  side: DeploymentView,
  chosen: string,
): { value: string; label: string }[] {
  const options = [
    ...aliases.map(({ name, number }) => ({ value: name, label: `${name} (#${number})` })),
    ...deployments.map((one) => ({ value: String(one.number), label: deploymentName(one) })),
  ]
  if (options.some(({ value }) => value === chosen)) return options
  return [...options, { value: chosen, label: deploymentName(side) }]
}

function differences(props: ComparisonPageProps): Html {
  const { from, to, comparison, project, chosen } = props
  if (from.id === to.id)
    return html`<p>Both are ${deploymentName(to)}, so there is nothing that differs. Choose another one.</p>`
  const { page, pages, total } = comparison.pagination
  return card(
    { id: 'files', title: comparisonSummary(comparison.counts) },
    html`
      ${
        total > 0 &&
        table<ChangeView>({ caption: 'Files that differ', rows: comparison.data, columns: columns(props) })
      }
      ${pagination({ page, pages, total, hrefOf: (to) => compareHref(project.id, chosen, { page: to }) })}
    `,
  )
}

const columns = ({ project, chosen }: ComparisonPageProps): Column<ChangeView>[] => [
  {
    label: 'File',
    cell: ({ path, fromPath }) => html`
      <a class="anywhere" href=${compareFileHref(project.id, chosen, path)}>${path}</a>
      ${fromPath !== null && html`<div class="muted small anywhere">from ${fromPath}</div>`}
    `,
  },
  { label: 'What', cell: ({ kind }) => kindOfChange(kind) },
  { label: 'Type', cell: ({ mimeType }) => mimeType },
  { label: 'Size', align: 'end', cell: sizesOf },
]

const sizesOf = ({ kind, size, fromSize }: ChangeView): string =>
  kind === 'changed' && fromSize !== null && fromSize !== size
    ? `${formatSize(fromSize)} → ${formatSize(size)}`
    : formatSize(size)
