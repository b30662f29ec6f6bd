import { type Html, html } from './html.ts'

type Tab = { label: string; href: string; isCurrent?: boolean }

/** Links between the pages of one thing. Each tab is a separate page, so this is navigation, not a tab widget. */
export const tabs = (label: string, items: readonly Tab[], className = 'tabs'): Html => html`
  <nav class=${className} aria-label=${label}>
    <ul>${items.map(tab)}</ul>
  </nav>
`

const tab = ({ label, href, isCurrent }: Tab): Html => html`
  <li>
    <a href=${href} aria-current=${isCurrent ? 'page' : undefined}>${label}</a>
  </li>
`
