import { button } from '../../components/button.ts'
import { type FormError, formError } from '../../components/field.ts'
import { notice } from '../../components/notice.ts'
import { type Html, html } from '../../html.ts'
import { authLayout } from '../../layout.ts'
import { emailField } from './email-field.ts'

type ForgotPageProps = {
  email?: string | undefined
  /** The page is the same for every email, known or not. */
  isSent?: boolean
  /** Without mail, an admin creates the link. */
  canMail: boolean
  error?: FormError | undefined
}

/** Sends `email`. */
export const forgotPage = (props: ForgotPageProps): Html =>
  authLayout(
    'Forgot your password',
    html`
      <h1>Forgot your password?</h1>
      ${props.isSent ? sent(props) : form(props)}
      <ul class="auth-links"><li><a href="/signin">Back to sign in</a></li></ul>
    `,
  )

const form = (props: ForgotPageProps): Html => html`
  <p class="muted">
    ${props.canMail ? 'Enter the email of your account to get a link to choose a new password.' : NO_MAIL}
  </p>
  <form method="post" class="stack">
    ${formError(props.error)}
    ${emailField(props, true)}
    ${button({ label: props.canMail ? 'Send the link' : 'Ask for a link' })}
  </form>
`

const sent = ({ email, canMail }: ForgotPageProps): Html => html`
  ${notice({
    tone: 'good',
    live: true,
    message: canMail
      ? html`If <strong>${email ?? 'that email'}</strong> has an account, a link is on its way. It works once, within an hour.`
      : 'This server cannot send mail, so an admin has to create the link for you.',
  })}
  <p class="muted">${canMail ? 'No mail after a few minutes? Check your spam folder.' : NO_MAIL}</p>
`

const NO_MAIL =
  'This server cannot send mail. Ask an admin to create a reset link under Users. If no admin can sign in, the operator of the server must set up mail first.'
