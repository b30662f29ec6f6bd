import { type Html, html } from '../html.ts'

/** The first 12 digits, which name a deployment host too; all of them on hover. */
export const shortSha = (sha: string): Html => html`<code title=${sha}>${sha.slice(0, 12)}</code>`
