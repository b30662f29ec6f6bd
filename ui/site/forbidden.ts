import { button, linkButton } from '../components/button.ts'
import { type Html, html } from '../components/html.ts'
import { authLayout } from '../frame/layout.ts'

type ForbiddenPageProps = {
  /** The account that may not see the site. */
  email: string
  siteHost: string
  /** The account hub on the admin host. */
  accountUrl: string
  /** The form that signs out posts here. It must be on the site's own host, or the browser blocks it. */
  signOutUrl: string
}

/** 403 on a private site: signed in, but without a role or a membership there. */
export const forbiddenPage = (props: ForbiddenPageProps): Html =>
  authLayout(
    'No access',
    html`
      <h1>You cannot see this site</h1>
      <p>
        You are signed in as <strong>${props.email}</strong>, and that account has no access to
        ${' '}<strong>${props.siteHost}</strong>.
      </p>
      <p class="muted">Ask the site's owner to invite you, or sign in with another account.</p>
      <div class="actions">
        ${linkButton({ label: 'Your account and sites', href: props.accountUrl })}
        <form method="post" action=${props.signOutUrl}>${button({ label: 'Sign out', kind: 'secondary' })}</form>
      </div>
    `,
  )
