import { type Html, html } from './html.ts'

/** The first 12 digits, as in the deployment's host name. Hovering shows the complete SHA. */
export const shortSha = (sha: string): Html =>
  html`<code class="nowrap" title=${sha}>${sha.slice(0, 12)}</code>`
