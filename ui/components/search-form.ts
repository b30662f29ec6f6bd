import { type Content, type Html, html } from '../html.ts'
import { button } from './button.ts'

/** A form that asks and changes nothing, so it is sent by GET and its address can be kept. */
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
