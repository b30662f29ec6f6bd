import { type Content, type Html, html } from '../html.ts'

/** Facts about one thing: a name and a value each. Empty values are left out. */
export const details = (facts: readonly (readonly [label: string, value: Content])[]): Html => html`
  <dl class="details">
    ${facts
      .filter(([, value]) => value !== null && value !== undefined && value !== false)
      .map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}
  </dl>
`
