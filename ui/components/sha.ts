import { type Html, html } from './html.ts'

/** The first 12 digits, as in the deployment's host name. Hovering shows the complete SHA. */
export const shortSha = (sha: string): Html =>
  html`<code class="nowrap" title=${sha}>${sha.slice(0, 12)}</code>`

/** The commit of a deployment, behind its name. The button, which scripts show, copies all of it. */
export const commit = (sha: string): Html => html`
  <span class="commit">
    ${shortSha(sha)}
    <button type="button" class="btn btn-quiet btn-small" data-copy=${sha} hidden>Copy commit</button>
  </span>
`
