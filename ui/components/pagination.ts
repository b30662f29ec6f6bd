import { formatCount } from './chart.ts'
import { type Html, html } from './html.ts'

type PaginationProps = {
  page: number
  pages: number
  total: number
  /** The address of another page with the same filters. */
  hrefOf: (page: number) => string
}

/** Renders nothing if everything fits on one page. */
export function pagination({ page, pages, total, hrefOf }: PaginationProps): Html | null {
  if (pages <= 1) return null
  return html`
    <nav class="pagination" aria-label="Pages">
      ${step('Previous', 'prev', page > 1 ? hrefOf(page - 1) : null)}
      <span class="muted">Page ${formatCount(page)} of ${formatCount(pages)}, ${formatCount(total)} in all</span>
      ${step('Next', 'next', page < pages ? hrefOf(page + 1) : null)}
    </nav>
  `
}

type PlacePaginationProps = {
  /** How many rows come before the first one shown. */
  from: number
  shown: number
  limit: number
  total: number
  /** The address of the list from that place, with the same filters. */
  hrefOf: (from: number) => string
}

/** For lists whose pages hold as many rows as fit. */
export function placePagination({ from, shown, limit, total, hrefOf }: PlacePaginationProps): Html {
  const to = from + shown
  return html`
    <nav class="pagination" aria-label="Pages">
      ${step('Previous', 'prev', from > 0 ? hrefOf(Math.max(0, from - limit)) : null)}
      <span class="muted">${formatCount(from + 1)} to ${formatCount(to)} of ${formatCount(total)}</span>
      ${step('Next', 'next', to < total ? hrefOf(to) : null)}
    </nav>
  `
}

function step(label: string, rel: string, href: string | null): Html {
  if (href === null)
    return html`<span class="btn btn-secondary btn-small" aria-disabled="true">${label}</span>`
  return html`<a class="btn btn-secondary btn-small" rel=${rel} href=${href}>${label}</a>`
}
