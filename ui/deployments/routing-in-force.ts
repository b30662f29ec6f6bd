import type { RoutingView } from '../../src/modules/deployments/routing/view.ts'
import { formatCount } from '../components/chart.ts'
import { type Html, html } from '../components/html.ts'
import { table } from '../components/table.ts'

/** The first lines and blocks of the routing files that a deployment is served by. */
export const routingInForce = (deploymentId: string, { redirects, headers }: RoutingView): Html => html`
  ${redirects.length > 0 && redirectTable(redirects.slice(0, MAX_SHOWN))}
  ${headers.length > 0 && headerTable(headers.slice(0, MAX_SHOWN))}
  ${moreOf(deploymentId, Math.max(0, redirects.length - MAX_SHOWN) + Math.max(0, headers.length - MAX_SHOWN))}
`

/** The API has all of them. */
const MAX_SHOWN = 100

const moreOf = (deploymentId: string, left: number): Html | false =>
  left > 0 &&
  html`<p class="muted">And ${formatCount(left)} more: <a href=${`/api/deployments/${deploymentId}/routing`}>all of them as JSON</a>.</p>`

const redirectTable = (rows: RoutingView['redirects']): Html =>
  table({
    caption: 'Redirects in force',
    columns: [
      { label: 'Line', cell: ({ line }) => String(line) },
      { label: 'Path', cell: ({ source, query }) => html`<code>${source}${writtenQuery(query)}</code>` },
      {
        label: 'Leads to',
        cell: ({ target }) => (target === null ? 'the page of the service' : html`<code>${target}</code>`),
      },
      { label: 'Status', cell: ({ status, force }) => (force ? `${status}, forced` : String(status)) },
      { label: 'Only for', cell: ({ conditions }) => writtenConditions(conditions) },
    ],
    rows,
    isDense: true,
  })

const writtenQuery = (query: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(query).map(([key, value]) => `${key}=${value}`)
  return pairs.length === 0 ? '' : ` ${pairs.join(' ')}`
}

const writtenConditions = (conditions: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(conditions)
    .map(([key, values]) => `${key}=${values.join(',')}`)
    .join(' ')

const headerTable = (rows: RoutingView['headers']): Html =>
  table({
    caption: 'Headers in force',
    columns: [
      { label: 'Line', cell: ({ line }) => String(line) },
      { label: 'Path', cell: ({ path }) => html`<code>${path}</code>` },
      {
        label: 'Headers',
        cell: ({ set, unset }) => html`<ul>
          ${set.map(({ name, value }) => html`<li><code>${name}: ${value}</code></li>`)}
          ${unset.map((name) => html`<li>without <code>${name}</code></li>`)}
        </ul>`,
      },
    ],
    rows,
    isDense: true,
  })
