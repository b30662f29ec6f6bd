import { button } from '../components/button.ts'
import { type FormError, formError } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { authLayout } from '../frame/layout.ts'
import { emailField } from './email-field.ts'

type ForgotPageProps = {
  email?: string | undefined
  /** The page is the same for every email, known or not. */
  isSent?: boolean
  /** Without mail, an admin creates the link, so there is no form. */
  canMail: boolean
  error?: FormError | undefined
}

/** Sends `email`, if the server can mail a link to it. */
export const forgotPage = (props: ForgotPageProps): Html =>
  authLayout(
    'Forgot your password',
    html`
      <h1>Forgot your password?</h1>
      ${props.canMail ? (props.isSent ? sent(props) : form(props)) : NO_MAIL}
      <ul class="auth-links"><li><a href="/signin">Back to sign in</a></li></ul>
    `,
  )

const form = (props: ForgotPageProps): Html => html`
  <p class="muted">Enter the email of your account to get a link to choose a new password.</p>
  <form method="post" class="stack">
    ${formError(props.error)}
    ${emailField(props, true)}
    ${button({ label: 'Send the link' })}
  </form>
`

const sent = ({ email }: ForgotPageProps): Html => html`
  ${notice({
    tone: 'good',
    live: true,
    message: html`If <strong>${email ?? 'that email'}</strong> has an account, a link is on its way. It works once, within an hour.`,
  })}
  <p class="muted">No mail after a few minutes? Check your spam folder.</p>
`

const NO_MAIL: Html = html`
  <p>This server cannot send mail. Ask an admin to create a link for you under Users.</p>
  <p class="muted">
    If no admin can sign in, the operator of the server can: <code>svc admin reset-password EMAIL</code>.
  </p>
`
