import { type Html, html } from '../html.ts'
import { formatCount } from './chart.ts'

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

function step(label: string, rel: string, href: string | null): Html {
  if (href === null)
    return html`<span class="btn btn-secondary btn-small" aria-disabled="true">${label}</span>`
  return html`<a class="btn btn-secondary btn-small" rel=${rel} href=${href}>${label}</a>`
}
