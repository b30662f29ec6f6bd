import { type Content, type Html, html } from '../components/html.ts'
import { authLayout } from './layout.ts'

export type ErrorPageProps = {
  status: number
  title: string
  /** What happened, in one sentence. */
  message: string
  /** The likely way on, above the hint. */
  way?: Html | undefined
  /** What to do about it. */
  hint?: Content
  /** True if the host has no start page for the visitor. */
  isNowhere?: boolean
}

/** Any failure that a person sees. The API's error body is its JSON counterpart. */
export const errorPage = ({ status, title, message, hint, way, isNowhere }: ErrorPageProps): Html =>
  authLayout(
    title,
    html`
      <p class="status">Error ${status}</p>
      <h1>${title}</h1>
      <p>${message}</p>
      ${way !== undefined && html`<p>${way}</p>`}
      ${hint !== undefined && html`<p class="muted">${hint}</p>`}
      ${!isNowhere && html`<p><a href="/">Go to the start page</a></p>`}
    `,
  )
