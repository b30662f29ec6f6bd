import { button, linkButton } from '../components/button.ts'
import { accountHint, type FormError, formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { roleLabel } from '../components/role.ts'
import { authLayout } from '../frame/layout.ts'
import { newPasswordField } from './password-field.ts'

type AcceptInvitationPageProps = {
  project: { owner: string; name: string; displayName: string }
  role: string
  /** The invited person. */
  email: string
  signedInAs?: string | undefined
  /** Leads back to this page after signing in. */
  signInUrl: string
  error?: FormError | undefined
}

/**
 * Sends `intent`: `accept` for the invited account, or `signup` with `password` for a person without an account. If
 * somebody else is signed in, it sends `switch`: sign out and come back here.
 */
export const acceptInvitationPage = (props: AcceptInvitationPageProps): Html =>
  authLayout(
    'Invitation',
    html`
      <h1>Join ${props.project.displayName}</h1>
      <p class="muted">
        <strong>${props.email}</strong> is invited to <strong>${props.project.owner}/${props.project.name}</strong> as
        ${' '}<strong>${roleLabel(props.role)}</strong>.
      </p>
      ${formError(props.error)}
      ${choice(props)}
    `,
  )

function choice(props: AcceptInvitationPageProps): Html {
  if (props.signedInAs === undefined) return newAccount(props)
  if (props.signedInAs.toLowerCase() === props.email.toLowerCase()) return accept()
  return otherAccount(props.signedInAs, props.email)
}

const accept = (): Html => html`
  <form method="post" class="stack">
    ${hidden('intent', 'accept')} ${button({ label: 'Accept the invitation' })}
  </form>
`

const newAccount = ({ email, error, signInUrl }: AcceptInvitationPageProps): Html => html`
  <form method="post" class="stack">
    ${hidden('intent', 'signup')} ${accountHint(email)}
    ${newPasswordField(error, 'password', 'Choose a password')}
    ${button({ label: 'Create account and join' })}
  </form>
  <div class="providers">
    <p class="or"><span>or</span></p>
    ${linkButton({ label: 'I have an account: sign in', href: signInUrl, kind: 'secondary' })}
  </div>
`

const otherAccount = (signedInAs: string, email: string): Html => html`
  ${notice({
    tone: 'warn',
    message: html`You are signed in as <strong>${signedInAs}</strong>, but this invitation is for ${email}.`,
  })}
  <form method="post" class="stack">
    ${hidden('intent', 'switch')} ${button({ label: 'Sign out and continue' })}
  </form>
`
