import { linkButton } from '../components/button.ts'
import { type Html, html, safeHref } from '../components/html.ts'
import { authLayout } from './layout.ts'

export type ContinuePageProps = {
  /** A URL of this workspace, already checked. */
  url: string
  /** What has just happened. */
  after?: 'sign-in' | 'sign-out' | 'invitation'
}

/**
 * The response to a form that leads to another host. Browsers apply `form-action 'self'` to redirects after a form too
 * and would block a 303 to a site host, so this page forwards the visitor instead.
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

const TITLES = {
  'sign-in': 'Signed in',
  'sign-out': 'Signed out',
  invitation: 'Invitation accepted',
} as const
const HEADINGS = {
  'sign-in': 'You are signed in',
  'sign-out': 'You are signed out',
  invitation: 'You have joined the site',
} as const
