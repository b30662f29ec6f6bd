import { type Content, type Html, html } from './html.ts'

/** A list of names and values. Leaves out empty values. */
export const details = (facts: readonly (readonly [label: string, value: Content])[]): Html => html`
  <dl class="details">
    ${facts
      .filter(([, value]) => value !== null && value !== undefined && value !== false)
      .map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}
  </dl>
`
