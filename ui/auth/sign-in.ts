import { button, linkButton } from '../components/button.ts'
import { type FormError, field, fieldError, formError, hidden, startField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { type Notice, notice } from '../components/notice.ts'
import { authLayout } from '../frame/layout.ts'
import { withRedirect } from '../frame/with-redirect.ts'
import { emailField } from './email-field.ts'

export type LoginProvider = { id: string; displayName: string }

type SignInPageProps = PasswordStep | MfaStep

type Common = {
  /** Where to go afterwards, already checked to be on a host of this workspace. */
  redirect?: string | undefined
  error?: FormError | undefined
}

type PasswordStep = Common & {
  step: 'password'
  email?: string | undefined
  providers: readonly LoginProvider[]
  allowSignup: boolean
  /** Why the visitor is here: after a password reset, or because the account already exists. */
  notice?: Notice | undefined
}

type MfaStep = Common & {
  step: 'mfa'
  /** Stands for the correct password, so that the page does not contain it. */
  mfaTicket: string
  email?: string | undefined
}

/** Tells people on the sign-in page that they need not sign up. */
export const ACCOUNT_EXISTS: Notice = {
  tone: 'info',
  message: 'An account with this email already exists. Sign in instead.',
  live: true,
}

/** Step `password` sends `email` and `password`; step `mfa` sends `mfaTicket` and `code`. Both send `redirect`. */
export const signInPage = (props: SignInPageProps): Html =>
  props.step === 'mfa' ? mfaPage(props) : passwordPage(props)

function passwordPage(props: PasswordStep): Html {
  const start = startField(props.error, props.email ? 'password' : 'email')
  return authLayout(
    'Sign in',
    html`
      <h1>Sign in</h1>
      ${destination(props.redirect)}
      ${props.notice && notice(props.notice)}
      <form method="post" class="stack">
        ${formError(props.error)} ${hidden('redirect', props.redirect)}
        ${emailField(props, start === 'email')}
        ${field({
          name: 'password',
          label: 'Password',
          type: 'password',
          autocomplete: 'current-password',
          autofocus: start === 'password',
          error: fieldError(props.error, 'password'),
        })}
        ${button({ label: 'Sign in' })}
      </form>
      ${providerLinks(props)}
      <ul class="auth-links">
        <li><a href="/forgot-password">Forgot your password?</a></li>
        ${
          props.allowSignup &&
          html`<li>New here? <a href=${withRedirect('/signup', props.redirect)}>Create an account</a></li>`
        }
      </ul>
    `,
  )
}

/** A site that sends its visitors here. An address of this host is a path. */
function destination(redirect: string | undefined): Html | null {
  const host = redirect === undefined ? undefined : URL.parse(redirect)?.host
  return host === undefined ? null : html`<p class="muted">To see <strong>${host}</strong></p>`
}

const mfaPage = (props: MfaStep): Html =>
  authLayout(
    'Sign in: second step',
    html`
      <h1>Enter your code</h1>
      <p class="muted">
        ${props.email ? html`<strong>${props.email}</strong> is` : 'Your account is'} protected by a second step. Open
        your authenticator app and enter the six digits it shows.
      </p>
      <form method="post" class="stack">
        ${formError(props.error)} ${ticketInputs(props)}
        ${field({
          name: 'code',
          label: 'Code from the app',
          autocomplete: 'one-time-code',
          inputmode: 'numeric',
          autofocus: true,
          error: fieldError(props.error, 'code'),
        })}
        ${button({ label: 'Continue' })}
      </form>
      <details class="more">
        <summary>Use a recovery code instead</summary>
        <form method="post" class="stack">
          ${ticketInputs(props)}
          ${field({
            name: 'code',
            id: 'recovery-code',
            label: 'Recovery code',
            hint: 'One of the ten codes you saved when you turned on two-step sign-in. Each works once.',
            verbatim: true,
          })}
          ${button({ label: 'Continue with the recovery code', kind: 'secondary' })}
        </form>
      </details>
      <ul class="auth-links">
        <li><a href=${withRedirect('/signin', props.redirect)}>Start again</a></li>
      </ul>
    `,
  )

const ticketInputs = (props: MfaStep) => [
  hidden('mfaTicket', props.mfaTicket),
  hidden('redirect', props.redirect),
]

function providerLinks({ providers, redirect }: PasswordStep): Html | null {
  if (providers.length === 0) return null
  return html`
    <div class="providers">
      <p class="or"><span>or</span></p>
      ${providers.map((provider) =>
        linkButton({
          label: `Continue with ${provider.displayName}`,
          href: withRedirect(`/api/auth/oidc/${encodeURIComponent(provider.id)}/start`, redirect),
          kind: 'secondary',
        }),
      )}
    </div>
  `
}
