import { button } from '../../components/button.ts'
import { type FormError, formError } from '../../components/field.ts'
import { notice } from '../../components/notice.ts'
import { type Html, html } from '../../html.ts'
import { authLayout } from '../../layout.ts'
import { emailField } from './email-field.ts'

type ForgotPageProps = {
  email?: string | undefined
  /** The same for every email, known or not. */
  isSent?: boolean
  /** Without mail, an admin makes the link. */
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
    ${
      props.canMail
        ? 'Enter the email of your account, and we send you a link to choose a new password.'
        : NO_MAIL
    }
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
      ? html`If <strong>${email ?? 'that email'}</strong> has an account, a link is on its way. It works once, for an hour.`
      : 'No mail is set up here, so an admin has to make the link for you.',
  })}
  <p class="muted">${canMail ? 'Nothing there after a few minutes? Look among the spam.' : NO_MAIL}</p>
`

const NO_MAIL =
  'This server sends no mail. Ask an admin for a reset link: they can make one under Users. Where no admin can sign in, whoever runs the server sets up mail first.'
