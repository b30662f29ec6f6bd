import { type Html, html } from '../html.ts'
import { authLayout } from '../layout.ts'

type ErrorPageProps = {
  status: number
  title: string
  /** What happened, in a sentence. */
  message: string
  /** What to do about it. */
  hint?: string | undefined
  /** A further way on, in a paragraph of its own. */
  way?: Html | undefined
  /** The host has no start page that the visitor could go to. */
  isNowhere?: boolean
}

/** Any failure that a person sees; the JSON twin is the error body of the API. */
export const errorPage = ({ status, title, message, hint, way, isNowhere }: ErrorPageProps): Html =>
  authLayout(
    title,
    html`
      <p class="status">Error ${status}</p>
      <h1>${title}</h1>
      <p>${message}</p>
      ${hint !== undefined && html`<p class="muted">${hint}</p>`}
      ${way !== undefined && html`<p>${way}</p>`}
      ${!isNowhere && html`<p><a href="/">Go to the start page</a></p>`}
    `,
  )
