import { linkButton } from '../../components/button.ts'
import { type Html, html, safeHref } from '../../html.ts'
import { authLayout } from '../../layout.ts'

export type ContinuePageProps = {
  /** Of this workspace, already checked. */
  url: string
  /** What was done. */
  after?: 'sign-in' | 'sign-out'
}

/**
 * The answer to a form whose next stop may be another host. Browsers apply `form-action 'self'` to the redirects of a
 * form too, so a 303 to a site host would be blocked; this page goes there by itself.
 */
export const continuePage = ({ url, after = 'sign-in' }: ContinuePageProps): Html =>
  authLayout(
    TITLES[after],
    html`
      <h1>${HEADINGS[after]}</h1>
      <p class="muted">Taking you to ${URL.parse(url)?.host ?? 'the site'}.</p>
      ${linkButton({ label: 'Continue', href: url })}
    `,
    { refreshTo: safeHref(url) },
  )

const TITLES = { 'sign-in': 'Signed in', 'sign-out': 'Signed out' } as const
const HEADINGS = { 'sign-in': 'You are signed in', 'sign-out': 'You are signed out' } as const
