import { button } from './button.ts'
import { type Content, type Html, html } from './html.ts'

/**
 * A form that only reads, so it uses GET and its address can be bookmarked. `submit` is `Filter` where fields narrow a
 * list, and `Show` where one chooses what the page shows.
 */
export const searchForm = (
  label: string,
  inputs: Content,
  clearHref?: string,
  submit = 'Search',
): Html => html`
  <form method="get" role="search" class="search" aria-label=${label}>
    ${inputs}
    <div class="actions">
      ${button({ label: submit, kind: 'secondary' })}
      ${clearHref !== undefined && html`<a href=${clearHref}>Clear</a>`}
    </div>
  </form>
`
