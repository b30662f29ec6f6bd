import type { MissingPage } from '../../src/modules/analytics/missing.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { formatCount } from '../components/chart.ts'
import { field, fieldError, formError, hidden } from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { type Column, table } from '../components/table.ts'
import type { Can, Failed } from '../frame/project-request.ts'

export type MissingProps = { missing: readonly MissingPage[]; failed?: Failed | undefined; can: Can }

/** What people asked for in vain, and a redirect for each by one click. contract 13 §9. */
export function missingCard(props: MissingProps): Html | null {
  const { missing, failed, can } = props
  if (missing.length === 0 && failed === undefined) return null
  return card(
    {
      id: 'missing',
      title: 'Not found',
      about: 'What people asked for in vain. What production answers by now is left out.',
    },
    html`
      ${formError(failed?.error)}
      ${table<MissingPage>({
        caption: 'Not found',
        rows: missing,
        columns: can.configureTraffic ? [...COLUMNS, redirectColumn(props)] : COLUMNS,
      })}
    `,
  )
}

const COLUMNS: readonly Column<MissingPage>[] = [
  { label: 'Path', cell: ({ path }) => html`<code>${path}</code>` },
  { label: 'Requests', align: 'end', cell: ({ requests }) => formatCount(requests) },
  { label: 'Linked from', cell: ({ referrers }) => linkedFrom(referrers) },
]

const linkedFrom = (referrers: MissingPage['referrers']): Content =>
  referrers.length === 0
    ? html`<span class="muted">unknown</span>`
    : referrers.map(
        ({ from, requests }) => html`<div>${from} <span class="muted">${formatCount(requests)}</span></div>`,
      )

const redirectColumn = (props: MissingProps): Column<MissingPage> => ({
  label: 'Redirect to',
  cell: (page) => redirectForm(props, page),
})

function redirectForm({ missing, failed }: MissingProps, page: MissingPage): Html {
  const mine = failed?.values['path'] === page.path ? failed : undefined
  return html`
    <form method="post" class="inline-form">
      ${hidden('intent', 'redirect')} ${hidden('path', page.path)}
      ${field({
        name: 'target',
        id: `target-${missing.indexOf(page)}`,
        label: `Target for ${page.path}`,
        value: mine?.values['target'] ?? page.nearest ?? '',
        error: fieldError(mine?.error, 'target'),
        verbatim: true,
      })}
      ${button({ label: 'Redirect', kind: 'secondary', small: true, accessibleName: `Redirect ${page.path}` })}
    </form>
  `
}
