import { type Html, html } from './html.ts'

/** The first 12 digits, as in the deployment's host name. Hovering shows the complete SHA. */
export const shortSha = (sha: string): Html =>
  html`<code class="nowrap" title=${sha}>${sha.slice(0, 12)}</code>`

type Version = { commitSha: string; version: number }

/** One version of a commit, as the command line names it too. */
export const versionText = ({ commitSha, version }: Version): string => `${commitSha.slice(0, 12)}@${version}`

/** The same for a page. Hovering shows the complete SHA. */
export const versionName = (of: Version): Html =>
  html`<code class="nowrap" title=${`Version ${of.version} of ${of.commitSha}`}>${versionText(of)}</code>`
